//! A sheet of paper: shapes in the order in which they are drawn, for whatever draws them.

/// What a shape stands for; it decides the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    Soft,
    Axis,
    Grid,
    Exact,
    Sampled,
    Wave,
    Phase,
    Next,
    Dominant,
    Candidate,
    Harmonic,
    Required,
    Actual,
    Mark,
}

/// In the order of [`Ink`]: names for style sheets, and colours on light and on dark ground. The curves'
/// colours can be told apart with any colour vision (Okabe and Ito).
const INKS: [(Ink, &str, [&str; 2]); 15] = [
    (Ink::Text, "text", ["#222222", "#e6e6e6"]),
    (Ink::Soft, "soft", ["#5b6068", "#a8adb5"]),
    (Ink::Axis, "axis", ["#5b6068", "#8b919b"]),
    (Ink::Grid, "grid", ["#e2e4e8", "#2b2f38"]),
    (Ink::Exact, "exact", ["#56b4e9", "#56b4e9"]),
    (Ink::Sampled, "sampled", ["#0072b2", "#4ea8e0"]),
    (Ink::Wave, "wave", ["#d55e00", "#ff7f2a"]),
    (Ink::Phase, "phase", ["#e69f00", "#e69f00"]),
    (Ink::Next, "next", ["#009e73", "#1fbf92"]),
    (Ink::Dominant, "dominant", ["#d55e00", "#ff7f2a"]),
    (Ink::Candidate, "candidate", ["#e69f00", "#f0b429"]),
    (Ink::Harmonic, "harmonic", ["#009e73", "#1fbf92"]),
    (Ink::Required, "required", ["#cc79a7", "#dd8fba"]),
    (Ink::Actual, "actual", ["#0072b2", "#4ea8e0"]),
    (Ink::Mark, "mark", ["#8a6d00", "#d9b84a"]),
];

impl Ink {
    pub fn all() -> impl Iterator<Item = Ink> {
        INKS.into_iter().map(|(ink, ..)| ink)
    }

    /// On light and on dark ground.
    pub fn colours(self) -> [&'static str; 2] {
        INKS[self as usize].2
    }

    /// A name for style sheets.
    pub fn name(self) -> &'static str {
        INKS[self as usize].1
    }
}

/// A point, in pixels from the upper left corner.
pub type Point = (f64, f64);

/// Left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug)]
pub enum Shape {
    /// A line through points.
    Line {
        points: Vec<Point>,
        ink: Ink,
        width: f64,
        dashed: bool,
    },
    /// Separate straight lines.
    Strokes {
        lines: Vec<(Point, Point)>,
        ink: Ink,
        width: f64,
    },
    /// A filled polygon.
    Area {
        points: Vec<Point>,
        ink: Ink,
        opacity: f64,
    },
    Dot {
        at: Point,
        radius: f64,
        ink: Ink,
    },
    /// `at` is on the base line.
    Text {
        at: Point,
        text: String,
        size: f64,
        bold: bool,
        anchor: Anchor,
        upwards: bool,
        ink: Ink,
    },
    /// A map of values between 0 and 1, row by row from the top.
    Cells {
        place: Rectangle,
        columns: usize,
        values: Vec<f64>,
        ink: Ink,
    },
    /// Until the matching `EndClip`, only draw inside.
    Clip(Rectangle),
    EndClip,
}

#[derive(Debug)]
pub struct Sheet {
    pub title: String,
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Sheet {
    pub fn new(title: &str, width: f64, height: f64) -> Self {
        Sheet { title: title.to_owned(), width, height, shapes: Vec::new() }
    }

    pub fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points, ink, width, dashed: false });
    }

    pub fn text(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor, ink: Ink) {
        let (text, bold, upwards) = (text.into(), false, false);
        self.shapes.push(Shape::Text { at, text, size, bold, anchor, upwards, ink });
    }

    /// A bold line that begins here.
    pub fn heading(&mut self, at: Point, text: impl Into<String>, size: f64) {
        let (text, bold, upwards) = (text.into(), true, false);
        self.shapes.push(Shape::Text {
            at,
            text,
            size,
            bold,
            anchor: Anchor::Start,
            upwards,
            ink: Ink::Text,
        });
    }

    /// A text from below to above.
    pub fn upwards(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor, ink: Ink) {
        let (text, bold, upwards) = (text.into(), false, true);
        self.shapes.push(Shape::Text { at, text, size, bold, anchor, upwards, ink });
    }

    pub fn dashed(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points, ink, width, dashed: true });
    }

    pub fn area(&mut self, points: Vec<Point>, ink: Ink, opacity: f64) {
        self.shapes.push(Shape::Area { points, ink, opacity });
    }

    pub fn dot(&mut self, at: Point, radius: f64, ink: Ink) {
        self.shapes.push(Shape::Dot { at, radius, ink });
    }

    pub fn strokes(&mut self, lines: Vec<(Point, Point)>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Strokes { lines, ink, width });
    }

    pub fn band(&mut self, from: f64, to: f64, top: f64, bottom: f64, ink: Ink, opacity: f64) {
        self.area(vec![(from, top), (to, top), (to, bottom), (from, bottom)], ink, opacity);
    }
}
