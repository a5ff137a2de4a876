//! Calls of several layers, of which one is taken: what MPI-IO writes, POSIX writes again.

use super::bandwidth_piece::BandwidthPiece;
use super::error::SourceError;
use super::intake::Intake;
use super::job::Job;
use super::layers::LayerBytes;
use crate::request::layer::Layer;
use std::collections::BTreeMap;

/// Calls that were read, by layer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    layers: BTreeMap<Layer, OfLayer>,
    /// Calls whose layer is not known.
    other: OfLayer,
    /// Calls that failed, and so moved nothing.
    failed: u64,
}

#[derive(Debug, Default)]
struct OfLayer {
    /// With the line or event that each comes from, counted from 1.
    phases: Vec<(u64, BandwidthPiece)>,
    unusable: u64,
    first_unusable: Option<String>,
}

impl OfLayer {
    fn bytes(&self) -> u64 {
        self.phases.iter().map(|(_, phase)| phase.bytes.unwrap_or(0)).fold(0, u64::saturating_add)
    }

    fn count(&self) -> u64 {
        self.phases.len() as u64 + self.unusable
    }
}

impl Calls {
    fn of(&mut self, layer: Option<Layer>) -> &mut OfLayer {
        match layer {
            Some(layer) => self.layers.entry(layer).or_default(),
            None => &mut self.other,
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut OfLayer> {
        self.layers.values_mut().chain([&mut self.other])
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

    /// A call that failed.
    pub fn failed(&mut self) {
        self.failed += 1;
    }

    /// When the first of all began.
    pub fn first_start(&self) -> Option<f64> {
        let all = self.layers.values().chain([&self.other]).flat_map(|of| &of.phases);
        all.map(|(_, phase)| phase.start).filter(|start| start.is_finite()).min_by(f64::total_cmp)
    }

    /// Move all times.
    pub fn shift(&mut self, seconds: f64) {
        self.all().flat_map(|of| &mut of.phases).for_each(|(_, phase)| {
            phase.start -= seconds;
            phase.end -= seconds;
        });
    }

    /// Hand on those of the layer asked for; else of the one that the bytes speak for. `unit` is what is
    /// counted: "line", "event".
    pub fn feed(
        mut self,
        name: &str,
        asked: Option<Layer>,
        unit: &str,
        job: &mut Job,
        intake: &mut Intake<'_>,
    ) -> Result<(), SourceError> {
        let mut bytes = LayerBytes::default();
        self.layers.iter().for_each(|(layer, of)| bytes.add(*layer, of.bytes()));
        let found: Vec<String> = self
            .layers
            .iter()
            .filter(|(_, of)| of.count() > 0)
            .map(|(layer, of)| format!("{} calls of {layer}", of.count()))
            .collect();
        // Of a layer that tells no bytes, at least say so.
        let tells = |layer: Layer| self.layers.get(&layer).is_some_and(|of| !of.phases.is_empty());
        let chosen = match asked {
            Some(layer) => Some(layer),
            None => bytes.choose(tells).or_else(|| bytes.choose(|_| true)),
        };
        let chosen = chosen.filter(|layer| asked.is_some() || self.other.bytes() <= bytes.of(*layer));
        let of = match chosen {
            Some(layer) => self.layers.remove(&layer).unwrap_or_default(),
            None => self.other,
        };
        if of.count() == 0 {
            let of = asked.map_or(String::new(), |layer| format!(" of {layer}"));
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            let expected = format!("calls{of} that read or write data");
            return Err(SourceError::Absent { name: name.into(), expected, found });
        }
        if let Some(layer) = chosen {
            let others = if found.len() > 1 { format!(" (of {})", found.join(", ")) } else { String::new() };
            job.notes.push(format!("calls of the layer {layer}{others}"));
            if let Some(left_out) = bytes.left_out(layer).filter(|_| asked.is_none()) {
                job.warnings.push(format!("{name}: {left_out}"));
            }
        }
        if self.failed > 0 {
            job.notes.push(format!("{} calls failed and moved nothing", self.failed));
        }
        for (number, phase) in &of.phases {
            intake.push(*phase, || format!("{unit} {number}"));
        }
        if let Some(first) = &of.first_unusable {
            (0..of.unusable).for_each(|_| intake.leave_out(|| first.clone()));
        }
        Ok(())
    }
}
