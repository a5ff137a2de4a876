//! Calls of several layers, of which one is taken: what MPI-IO writes, POSIX writes again.

use super::bandwidth_piece::BandwidthPiece;
use super::error::SourceError;
use super::intake::Intake;
use super::job::Job;
use crate::layer::Layer;

/// The layers, the highest first.
const LAYERS: [Layer; 3] = [Layer::MpiIo, Layer::Posix, Layer::Stdio];

/// Calls that were read, by layer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    layers: [OfLayer; LAYERS.len()],
    /// Calls of which no layer is known.
    other: OfLayer,
}

#[derive(Debug, Default)]
struct OfLayer {
    /// With the line or event that each comes from, counted from 1.
    phases: Vec<(u64, BandwidthPiece)>,
    unusable: u64,
    first_unusable: Option<String>,
}

impl Calls {
    fn of(&mut self, layer: Option<Layer>) -> &mut OfLayer {
        let at = LAYERS.iter().position(|other| Some(*other) == layer);
        at.map_or(&mut self.other, |at| &mut self.layers[at])
    }

    /// A call.
    pub fn push(&mut self, layer: Option<Layer>, number: u64, phase: BandwidthPiece) {
        self.of(layer).phases.push((number, phase));
    }

    /// A call that moved data but does not tell how much.
    pub fn unusable(&mut self, layer: Option<Layer>, what: impl FnOnce() -> String) {
        let of = self.of(layer);
        of.unusable += 1;
        of.first_unusable.get_or_insert_with(what);
    }

    /// When the first of all began.
    pub fn first_start(&self) -> Option<f64> {
        let all = self.layers.iter().chain([&self.other]).flat_map(|of| &of.phases);
        all.map(|(_, phase)| phase.start).filter(|start| start.is_finite()).min_by(f64::total_cmp)
    }

    /// Move all times.
    pub fn shift(&mut self, seconds: f64) {
        let all = self.layers.iter_mut().chain([&mut self.other]).flat_map(|of| &mut of.phases);
        all.for_each(|(_, phase)| {
            phase.start -= seconds;
            phase.end -= seconds;
        });
    }

    /// Hand on those of the layer asked for; else of the highest of which all is known, or anything. `unit` is what is counted:
    /// "line", "event".
    pub fn feed(
        self,
        name: &str,
        asked: Option<Layer>,
        unit: &str,
        job: &mut Job,
        intake: &mut Intake<'_>,
    ) -> Result<(), SourceError> {
        let usable = |of: &OfLayer| !of.phases.is_empty();
        let known = |of: &OfLayer| usable(of) && of.unusable == 0;
        let at = |test: &dyn Fn(&OfLayer) -> bool| self.layers.iter().position(test);
        let layer = match asked {
            Some(layer) => LAYERS.iter().position(|other| *other == layer),
            None if usable(&self.other) => at(&known),
            None => at(&known).or_else(|| at(&usable)).or_else(|| at(&|of: &OfLayer| of.unusable > 0)),
        };
        let found: Vec<String> = LAYERS
            .iter()
            .zip(&self.layers)
            .filter(|(_, of)| usable(of) || of.unusable > 0)
            .map(|(layer, of)| format!("{} calls of {layer}", of.phases.len() as u64 + of.unusable))
            .collect();
        let chosen = match layer {
            Some(at) => &self.layers[at],
            None => &self.other,
        };
        if chosen.phases.is_empty() && chosen.unusable == 0 {
            let of = asked.map_or(String::new(), |layer| format!(" of {layer}"));
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            let expected = format!("calls{of} that read or write data");
            return Err(SourceError::Absent { name: name.into(), expected, found });
        }
        if let Some(at) = layer {
            let others = if found.len() > 1 { format!(" (of {})", found.join(", ")) } else { String::new() };
            job.notes.push(format!("calls of the layer {}{others}", LAYERS[at]));
        }
        for (number, phase) in &chosen.phases {
            intake.push(*phase, || format!("{unit} {number}"));
        }
        if let Some(first) = &chosen.first_unusable {
            (0..chosen.unusable).for_each(|_| intake.leave_out(|| first.clone()));
        }
        Ok(())
    }
}
