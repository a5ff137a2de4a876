//! A picture as SVG.

use super::axis::{labels, ticks};
use super::escaped;
use super::picture::{Curve, Picture};
use std::fmt::Write;

/// Points per curve: about two per pixel.
pub const POINTS: usize = 4000;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 640.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 20.0;

/// Colours that can be told apart with any colour vision (Okabe and Ito), readable on light and dark ground.
const STYLE: &str = "
  svg { background: #fff; font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
  text { fill: #222; font-size: 12px; } .title { font-size: 17px; font-weight: 600; } .subtitle { fill: #555; }
  .axis { stroke: #444; } .grid { stroke: #ddd; } .exact { fill: #56b4e9; fill-opacity: .3; stroke: #56b4e9; stroke-width: .6; }
  .sampled { stroke: #0072b2; stroke-width: 1.1; } .wave { stroke: #d55e00; stroke-width: 2; } .bar { stroke: #0072b2; }
  .dominant { fill: #d55e00; } .candidate { fill: #e69f00; } .harmonic { fill: #009e73; } .mean { stroke: #777; stroke-dasharray: 4 3; }
  path, line { fill: none; } .label { font-size: 11px; }
  @media (prefers-color-scheme: dark) { svg { background: #16181d; } text { fill: #e6e6e6; } .subtitle { fill: #a8adb5; }
    .axis { stroke: #9aa0a8; } .grid { stroke: #333842; } .sampled, .bar { stroke: #4ea8e0; } .wave { stroke: #ff7f2a; } .dominant { fill: #ff7f2a; } }
";

/// Draw it.
pub fn draw(picture: &Picture) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"28\">{0}</text>\n<text class=\"subtitle\" x=\"{LEFT}\" y=\"47\">{1}</text>\n",
        escaped(&picture.title),
        escaped(&picture.subtitle)
    );
    signal(picture, &mut out);
    spectrum(picture, &mut out);
    out.push_str("</svg>\n");
    out
}

/// A rectangle on the page, and the values its edges stand for.
struct Frame {
    top: f64,
    bottom: f64,
    x: [f64; 2],
    y: [f64; 2],
}

impl Frame {
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let across = (x - self.x[0]) / (self.x[1] - self.x[0]);
        let up = ((y - self.y[0]) / (self.y[1] - self.y[0])).clamp(-0.01, 1.2);
        (LEFT + across * (WIDTH - LEFT - RIGHT), self.bottom - up * (self.bottom - self.top))
    }

    /// Axes with ticks, grid lines and the names of what they show.
    fn axes(&self, names: [&str; 2], units: [&str; 2], out: &mut String) {
        let (right, _) = self.place(self.x[1], 0.0);
        let y_ticks = ticks(self.y[0], self.y[1], 5);
        let (y_labels, y_prefix) = if units[1] == "%" {
            (y_ticks.iter().map(|tick| format!("{}", (tick * 1000.0).round() / 10.0)).collect(), "")
        } else {
            labels(&y_ticks)
        };
        for (tick, label) in y_ticks.iter().zip(y_labels) {
            let (_, y) = self.place(0.0, *tick);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        let x_ticks = ticks(self.x[0], self.x[1], 8);
        let (x_labels, x_prefix) = if units[0] == "s" { (seconds(&x_ticks), "") } else { labels(&x_ticks) };
        for (tick, label) in x_ticks.iter().zip(x_labels) {
            let (x, _) = self.place(*tick, 0.0);
            let _ = writeln!(
                out,
                "<line class=\"axis\" x1=\"{x:.1}\" y1=\"{0:.1}\" x2=\"{x:.1}\" y2=\"{1:.1}\"/>\
                 <text x=\"{x:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">{label}</text>",
                self.bottom,
                self.bottom + 5.0,
                self.bottom + 19.0
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{0:.1}\" x2=\"{right:.1}\" y2=\"{0:.1}\"/>\
             <text x=\"{1:.1}\" y=\"{2:.1}\" text-anchor=\"end\">{3} ({x_prefix}{4})</text>\
             <text x=\"18\" y=\"{5:.1}\" transform=\"rotate(-90 18 {5:.1})\" text-anchor=\"middle\">{6} ({y_prefix}{7})</text>",
            self.bottom,
            right,
            self.bottom + 36.0,
            names[0],
            units[0],
            (self.top + self.bottom) / 2.0,
            names[1],
            units[1]
        );
    }

    /// A path with a step at each point; closed down to zero if `filled`.
    fn steps(&self, curve: &Curve, class: &str, filled: bool, out: &mut String) {
        let mut path = String::new();
        let mut last = None;
        for (&x, &y) in curve.x.iter().zip(&curve.y) {
            let (px, py) = self.place(x, y);
            let _ = match last {
                None if filled => write!(path, "M{px:.1} {:.1}V{py:.1}", self.bottom),
                None => write!(path, "M{px:.1} {py:.1}"),
                Some(_) => write!(path, "H{px:.1}V{py:.1}"),
            };
            last = Some(px);
        }
        if filled && last.is_some() {
            let _ = write!(path, "V{:.1}Z", self.bottom);
        }
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}

fn signal(picture: &Picture, out: &mut String) {
    let highest = |curve: &Curve| curve.y.iter().copied().fold(0.0, f64::max);
    let crest = picture.wave.as_ref().map_or(0.0, |wave| wave.mean + wave.amplitude);
    // Single requests may be far above what a bin holds; they must not squeeze the rest.
    let sampled = highest(&picture.sampled).max(crest);
    let top = picture.exact.as_ref().map_or(sampled, |exact| highest(exact).min(2.5 * sampled).max(sampled));
    let frame = Frame { top: 84.0, bottom: 330.0, x: picture.window, y: [0.0, 1.05 * top.max(1e-9)] };
    frame.axes(["time", "bandwidth"], ["s", "B/s"], out);
    let _ = writeln!(
        out,
        "<clipPath id=\"signal\"><rect x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\
         <g clip-path=\"url(#signal)\">",
        frame.top,
        WIDTH - LEFT - RIGHT,
        frame.bottom - frame.top
    );
    if let Some(exact) = &picture.exact {
        frame.steps(exact, "exact", true, out);
    }
    frame.steps(&picture.sampled, "sampled", false, out);
    let mut legend = vec![("sampled", "sampled bandwidth")];
    if picture.exact.is_some() {
        legend.insert(0, ("exact", "exact bandwidth"));
    }
    if let Some(wave) = &picture.wave {
        let steps = 1200;
        let mut path = String::new();
        for i in 0..=steps {
            let t =
                picture.window[0] + (picture.window[1] - picture.window[0]) * f64::from(i) / f64::from(steps);
            let angle = std::f64::consts::TAU * (wave.frequency * t).fract() + wave.phase;
            let (x, y) = frame.place(t, wave.mean + wave.amplitude * angle.cos());
            let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        let _ = writeln!(out, "<path class=\"wave\" d=\"{path}\"/>");
        legend.push(("wave", "mean and dominant wave"));
    }
    out.push_str("</g>\n");
    entries(&legend, 72.0, out);
}

fn spectrum(picture: &Picture, out: &mut String) {
    let shown: Vec<usize> =
        (0..picture.spectrum.x.len()).filter(|&i| picture.spectrum.x[i] <= picture.frequency_range).collect();
    let highest = shown.iter().map(|&i| picture.spectrum.y[i]).fold(1e-6, f64::max);
    let frame =
        Frame { top: 400.0, bottom: 590.0, x: [0.0, picture.frequency_range], y: [0.0, 1.12 * highest] };
    frame.axes(["frequency", "share of power"], ["Hz", "%"], out);
    let mut path = String::new();
    for i in &shown {
        let (x, y) = frame.place(picture.spectrum.x[*i], picture.spectrum.y[*i]);
        let _ = write!(path, "M{x:.1} {:.1}V{y:.1}", frame.bottom);
    }
    let width = ((WIDTH - LEFT - RIGHT) / shown.len().max(1) as f64 * 0.7).clamp(0.8, 7.0);
    let _ = writeln!(out, "<path class=\"bar\" stroke-width=\"{width:.1}\" d=\"{path}\"/>");
    let mut legend: Vec<(&str, &str)> = Vec::new();
    for mark in picture.candidates.iter().filter(|mark| mark.frequency <= picture.frequency_range) {
        let (x, y) = frame.place(mark.frequency, mark.power);
        let _ = writeln!(out, "<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>", mark.kind);
        if mark.kind != "harmonic" {
            let left = x > WIDTH - 240.0;
            let (shift, anchor) = if left { (-9.0, "end") } else { (9.0, "start") };
            let _ = writeln!(
                out,
                "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                x + shift,
                y + 1.0,
                escaped(&mark.label)
            );
        }
        if !legend.iter().any(|(kind, _)| *kind == mark.kind) {
            legend.push((mark.kind, mark.kind));
        }
    }
    legend.reverse();
    entries(&legend, 388.0, out);
}

/// A legend, flush right.
fn entries(list: &[(&str, &str)], y: f64, out: &mut String) {
    let mut x = WIDTH - RIGHT;
    for (class, name) in list.iter().rev() {
        x -= 6.6 * name.len() as f64;
        let _ = writeln!(out, "<text class=\"label\" x=\"{x:.1}\" y=\"{y}\">{name}</text>");
        let _ = match *class {
            "exact" => writeln!(
                out,
                "<rect class=\"exact\" x=\"{:.1}\" y=\"{}\" width=\"18\" height=\"9\"/>",
                x - 24.0,
                y - 9.0
            ),
            "dominant" | "candidate" | "harmonic" => {
                writeln!(
                    out,
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{}\" r=\"4.5\"/>",
                    x - 10.0,
                    y - 4.0
                )
            }
            _ => writeln!(
                out,
                "<line class=\"{class}\" style=\"stroke-width:2\" x1=\"{:.1}\" y1=\"{1}\" x2=\"{2:.1}\" y2=\"{1}\"/>",
                x - 24.0,
                y - 4.0,
                x - 6.0
            ),
        };
        x -= 40.0;
    }
}

/// Times are best read as plain seconds.
fn seconds(ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
    let decimals = (-(step * 1.0001).log10().floor()).clamp(0.0, 9.0) as usize;
    ticks.iter().map(|tick| format!("{tick:.decimals$}")).collect()
}
