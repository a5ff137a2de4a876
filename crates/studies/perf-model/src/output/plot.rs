//! What a plot of a model shows: measured points, the curve, and a band about it.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::model::Model;
pub use crate::points::spaced;
use crate::prediction::{Interval, Target};

/// Data for one plot, along one parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plot {
    /// Name of the parameter along the axis.
    pub parameter: String,
    /// Where.
    pub callpath: String,
    /// What.
    pub metric: String,
    /// Measured (parameter, value), those that lie on the line that is drawn.
    pub points: Vec<[f64; 2]>,
    /// The model along the line.
    pub curve: Vec<CurvePoint>,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Value of the parameter.
    pub x: f64,
    /// What to expect.
    pub y: f64,
    /// Where the next run should lie.
    pub interval: Option<Interval>,
}

/// The data of a plot along one parameter, from the least measured value to `to` (or the greatest), the
/// others held at their greatest measured values. The band about the curve is where the next run should lie
/// with probability `level`.
///
/// ```
/// use perf_model::output::plot::plot;
/// use perf_model::{Options, model_series};
///
/// let model = model_series(&[1.0, 2.0, 4.0, 8.0, 16.0], &[1.1, 2.0, 4.1, 7.9, 16.2], &Options::default());
/// let data = plot(&model, &["p".to_owned()], 0, Some(1024.0), 100, 0.95)?;
/// assert_eq!((data.points.len(), data.curve.len()), (5, 100));
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// There is no such parameter.
pub fn plot(
    model: &Model,
    parameters: &[String],
    along: usize,
    to: Option<f64>,
    count: usize,
    level: f64,
) -> Result<Plot> {
    let ranges = model.ranges();
    let (Some(&(low, high)), Some(name)) = (ranges.get(along), parameters.get(along)) else {
        return Err(Error::Point {
            expected: format!("one of {}", parameters.join(", ")),
            found: along.to_string(),
        });
    };
    let mut at: Vec<f64> = ranges.iter().map(|(_, high)| *high).collect();
    let on_line = |point: &[f64]| {
        point.iter().zip(&at).enumerate().all(|(parameter, (a, b))| parameter == along || a == b)
    };
    let points = model
        .measured()
        .filter(|(point, _)| on_line(point))
        .map(|(point, value)| [point[along], value])
        .collect();
    let predictor = model.predictor();
    let curve = spaced(low, to.unwrap_or(high).max(high), count)
        .into_iter()
        .map(|x| {
            at[along] = x;
            let interval = predictor.interval(&at, level, Target::Run);
            CurvePoint { x, y: predictor.expected(&at), interval }
        })
        .collect();
    Ok(Plot {
        parameter: name.clone(),
        callpath: model.callpath.clone(),
        metric: model.metric.clone(),
        points,
        curve,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, model_series};

    #[test]
    fn ends_are_exact_and_spacing_even() {
        assert_eq!(spaced(1.0, 16.0, 5), [1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!(spaced(0.0, 4.0, 3), [0.0, 2.0, 4.0]);
    }

    #[test]
    fn a_plot_reaches_beyond_the_points() {
        let model = model_series(&[1.0, 2.0, 4.0, 8.0], &[1.1, 2.0, 4.1, 7.9], &Options::default());
        let plot = plot(&model, &["p".to_owned()], 0, Some(64.0), 33, 0.9).unwrap();
        assert_eq!(plot.points.len(), 4);
        assert_eq!((plot.curve[0].x, plot.curve[32].x), (1.0, 64.0));
        let last = plot.curve[32];
        let interval = last.interval.unwrap();
        assert!(interval.low < last.y && last.y < interval.high);
    }
}
