//! Which layer of several is taken, and what that leaves out.
//!
//! What MPI-IO moves, POSIX moves again: layers are never added up, and one is taken. Which one is a question
//! of bytes: the highest layer that holds nearly as many as the one that holds most.

use crate::request::layer::Layer;

/// A higher layer is preferred if it holds at least this share of the most that any layer holds.
const NEARLY_ALL: f64 = 0.9;

/// More than this share of the bytes is not left out without a word.
const WORTH_A_WORD: f64 = 0.1;

/// Bytes that each layer moved; a layer that is not listed has no calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LayerBytes(Vec<(Layer, u64)>);

impl LayerBytes {
    /// Add what a layer moved.
    pub fn add(&mut self, layer: Layer, bytes: u64) {
        match self.0.iter_mut().find(|(other, _)| *other == layer) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => self.0.push((layer, bytes)),
        }
        self.0.sort_unstable();
    }

    /// Bytes of a layer.
    pub fn of(&self, layer: Layer) -> u64 {
        self.0.iter().find(|(other, _)| *other == layer).map_or(0, |(_, bytes)| *bytes)
    }

    /// The layer to take, of those that `may` be taken.
    pub fn choose(&self, may: impl Fn(Layer) -> bool) -> Option<Layer> {
        let candidates = || self.0.iter().filter(|(layer, _)| may(*layer));
        let most = candidates().map(|(_, bytes)| *bytes).max()?;
        candidates().find(|(_, bytes)| *bytes as f64 >= NEARLY_ALL * most as f64).map(|(layer, _)| *layer)
    }

    /// What a choice leaves out, if that is worth a word, where each call was seen at one layer only.
    pub fn beside(&self, chosen: Layer) -> Option<String> {
        let others: Vec<&(Layer, u64)> =
            self.0.iter().filter(|(layer, bytes)| *layer != chosen && *bytes > 0).collect();
        let sum: f64 = others.iter().map(|(_, bytes)| *bytes as f64).sum();
        let all = sum + self.of(chosen) as f64;
        (sum > WORTH_A_WORD * all).then(|| {
            let listed: Vec<String> =
                others.iter().map(|(layer, bytes)| format!("{bytes} bytes of {layer}")).collect();
            format!("left out: {} ({:.0} % of the bytes)", listed.join(", "), 100.0 * sum / all)
        })
    }

    /// What a choice leaves out, if that is worth a word: for certain the bytes of layers that do not lie
    /// above or below the chosen one, and what a lower layer moved more than the chosen one.
    pub fn left_out(&self, chosen: Layer) -> Option<String> {
        let taken = self.of(chosen);
        let left = |(layer, bytes): &(Layer, u64)| {
            let bytes = match (chosen, *layer) {
                (a, b) if a == b => 0,
                (Layer::MpiIo, Layer::Posix) => bytes.saturating_sub(taken),
                (Layer::Posix, Layer::MpiIo) | (Layer::Dfs, Layer::MpiIo | Layer::Posix | Layer::Daos) => 0,
                (Layer::MpiIo | Layer::Posix, Layer::Dfs | Layer::Daos) => bytes.saturating_sub(taken),
                (Layer::Daos, Layer::MpiIo | Layer::Posix | Layer::Dfs) => 0,
                // What both moved counts once.
                (_, Layer::MpiIo) => bytes.saturating_sub(self.of(Layer::Posix)),
                _ => *bytes,
            };
            (bytes > 0).then_some((*layer, bytes))
        };
        let left: Vec<(Layer, u64)> = self.0.iter().filter_map(left).collect();
        let sum: f64 = left.iter().map(|(_, bytes)| *bytes as f64).sum();
        let all = sum + taken as f64;
        (sum > WORTH_A_WORD * all).then(|| {
            let listed: Vec<String> =
                left.iter().map(|(layer, bytes)| format!("{bytes} bytes of {layer}")).collect();
            format!("left out: {} ({:.0} % of the bytes)", listed.join(", "), 100.0 * sum / all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(of: &[(Layer, u64)]) -> LayerBytes {
        let mut bytes = LayerBytes::default();
        of.iter().for_each(|(layer, sum)| bytes.add(*layer, *sum));
        bytes
    }

    #[test]
    fn the_highest_that_holds_nearly_all() {
        let choose = |of: &[(Layer, u64)]| bytes(of).choose(|_| true);
        use Layer::{MpiIo, Posix, Stdio};
        assert_eq!(choose(&[(Posix, 100), (MpiIo, 95)]), Some(MpiIo));
        assert_eq!(choose(&[(Posix, 100), (MpiIo, 50)]), Some(Posix));
        assert_eq!(choose(&[(MpiIo, 6_000), (Stdio, 582_000_000)]), Some(Stdio));
        assert_eq!(choose(&[(Stdio, 0)]), Some(Stdio));
        assert_eq!(choose(&[]), None);
        assert_eq!(bytes(&[(MpiIo, 100), (Posix, 100)]).choose(|layer| layer == Posix), Some(Posix));
    }

    #[test]
    fn what_is_left_out_is_said_if_it_is_much() {
        use Layer::{MpiIo, Posix, Stdio};
        let of = bytes(&[(MpiIo, 95), (Posix, 100), (Stdio, 3)]);
        assert_eq!(of.left_out(MpiIo), None);
        assert_eq!(bytes(&[(MpiIo, 100), (Posix, 100)]).left_out(Posix), None);
        let of = bytes(&[(Posix, 60), (Stdio, 40)]);
        assert_eq!(of.left_out(Posix).unwrap(), "left out: 40 bytes of STDIO (40 % of the bytes)");
    }
}
