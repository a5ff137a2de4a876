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

impl Ink {
    pub const ALL: [Ink; 15] = [
        Ink::Text,
        Ink::Soft,
        Ink::Axis,
        Ink::Grid,
        Ink::Exact,
        Ink::Sampled,
        Ink::Wave,
        Ink::Phase,
        Ink::Next,
        Ink::Dominant,
        Ink::Candidate,
        Ink::Harmonic,
        Ink::Required,
        Ink::Actual,
        Ink::Mark,
    ];

    /// On light and on dark ground. The curves' colours can be told apart with any colour vision (Okabe and
    /// Ito).
    pub fn colours(self) -> [&'static str; 2] {
        match self {
            Ink::Text => ["#222222", "#e6e6e6"],
            Ink::Soft => ["#5b6068", "#a8adb5"],
            Ink::Axis => ["#5b6068", "#8b919b"],
            Ink::Grid => ["#e2e4e8", "#2b2f38"],
            Ink::Exact => ["#56b4e9", "#56b4e9"],
            Ink::Sampled => ["#0072b2", "#4ea8e0"],
            Ink::Wave | Ink::Dominant => ["#d55e00", "#ff7f2a"],
            Ink::Phase => ["#e69f00", "#e69f00"],
            Ink::Next | Ink::Harmonic => ["#009e73", "#1fbf92"],
            Ink::Candidate => ["#e69f00", "#f0b429"],
            Ink::Required => ["#cc79a7", "#dd8fba"],
            Ink::Actual => ["#0072b2", "#4ea8e0"],
            Ink::Mark => ["#8a6d00", "#d9b84a"],
        }
    }

    /// A name for style sheets.
    pub fn name(self) -> &'static str {
        match self {
            Ink::Text => "text",
            Ink::Soft => "soft",
            Ink::Axis => "axis",
            Ink::Grid => "grid",
            Ink::Exact => "exact",
            Ink::Sampled => "sampled",
            Ink::Wave => "wave",
            Ink::Phase => "phase",
            Ink::Next => "next",
            Ink::Dominant => "dominant",
            Ink::Candidate => "candidate",
            Ink::Harmonic => "harmonic",
            Ink::Required => "required",
            Ink::Actual => "actual",
            Ink::Mark => "mark",
        }
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
    pub fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points, ink, width, dashed: false });
    }

    pub fn text(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor, ink: Ink) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size,
            bold: false,
            anchor,
            upwards: false,
            ink,
        });
    }

    pub fn band(&mut self, from: f64, to: f64, top: f64, bottom: f64, ink: Ink, opacity: f64) {
        let points = vec![(from, top), (to, top), (to, bottom), (from, bottom)];
        self.shapes.push(Shape::Area { points, ink, opacity });
    }
}
