//! Which samples show which bursts.

use crate::locate::{Integral, Located, places};
use crate::settings::Settings;
use crate::spans::Span;
use crate::statistics::quantile_of;

/// Does each sample show each burst? It is not asked where it was found, because something can be found
/// everywhere, but where the delays of the bursts before and behind it say that it should be. There the
/// sample must reach half the height of the burst, and more than it reaches in all but a few
/// ([`Settings::rare`]) of the other places of the same length.
pub(crate) fn votes(
    samples: &[Vec<f64>],
    spans: &[Span],
    located: &[Vec<Located>],
    all: &[Integral],
    length: f64,
    backgrounds: &[f64],
    settings: &Settings,
) -> Vec<Vec<bool>> {
    let highest = spans.iter().map(|span| span.height).fold(0.0, f64::max);
    let integrals: Vec<Integral> = samples
        .iter()
        .zip(backgrounds)
        .map(|(sample, background)| Integral::of(sample, *background, 1.3 * highest))
        .collect();
    let mut elsewhere = Vec::new();
    let mut vote = |k: usize, i: usize| {
        let (span, found) = (&spans[k], &located[i]);
        let before = k.checked_sub(1).map(|before| found[2 * before + 1].time - spans[before].end);
        let behind = spans.get(k + 1).map(|next| found[2 * k + 2].time - next.start);
        let delay = match (before, behind) {
            (Some(before), Some(behind)) => (before + behind) / 2.0,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => (samples[i].len() as f64 / length - 1.0) * (span.start + span.end) / 2.0,
        };
        let width = span.end - span.start;
        let here = span.start + delay;
        if integrals[i].until(here + width) - integrals[i].until(here) < 0.5 * span.height * width {
            return false;
        }
        let here = all[i].contrast(here, width);
        elsewhere.clear();
        let end = samples[i].len() as f64;
        let stride = (width / 2.0).max((end - width) / MAX_PLACES).max(1.0);
        places(found, end, width, stride, |start| elsewhere.push(all[i].contrast(start, width)));
        elsewhere.len() < MIN_PLACES || here > quantile_of(&mut elsewhere, 1.0 - settings.rare)
    };
    (0..spans.len()).map(|k| (0..samples.len()).map(|i| vote(k, i)).collect()).collect()
}

/// At most so many other places are looked at, and with fewer than these nothing can be said about them.
const MAX_PLACES: f64 = 100.0;
const MIN_PLACES: usize = 5;
