//! Programs that share a storage: what one transfers is slowed down by what the others do.
//!
//! A program is a script of steps, one after the other. All that transfer at an instant share the storage
//! equally, none faster than its own link. Between two events all bandwidths are constant, so that the
//! simulation is exact.

use crate::generated::Write;

/// A step of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Do something else for so many seconds.
    Compute(f64),
    /// Transfer so many bytes.
    Transfer(f64),
    /// Wait for an instant; nothing if that is over.
    Until(f64),
    /// A phase begins: note the time.
    Mark,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    /// Bytes per second that it can transfer at most.
    pub(super) link: f64,
}

/// What a program did.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    pub(super) writes: Vec<Write>,
    pub(super) marks: Vec<f64>,
}

impl Done {
    /// When its last transfer ends.
    pub(super) fn end(&self) -> f64 {
        self.writes.iter().map(|write| write.end).fold(0.0, f64::max)
    }
}

enum State {
    Waiting(f64),
    Transferring(f64),
    Over,
}

/// Run all scripts from time 0 on a storage of that bandwidth.
pub(super) fn run(scripts: &[Script], storage: f64) -> Vec<Done> {
    let mut done = vec![Done::default(); scripts.len()];
    let mut next = vec![0; scripts.len()];
    let mut states: Vec<State> = scripts.iter().map(|_| State::Waiting(0.0)).collect();
    let mut now = 0.0;
    loop {
        for (i, script) in scripts.iter().enumerate() {
            while matches!(&states[i], State::Waiting(until) if *until <= now + 1e-9)
                || matches!(&states[i], State::Transferring(left) if *left < 1.0)
            {
                states[i] = match script.steps.get(next[i]) {
                    None => State::Over,
                    Some(Step::Compute(seconds)) => State::Waiting(now + seconds.max(1e-6)),
                    Some(Step::Until(time)) => State::Waiting(*time),
                    Some(Step::Transfer(bytes)) => State::Transferring(bytes.max(1.0)),
                    Some(Step::Mark) => {
                        done[i].marks.push(now);
                        State::Waiting(now)
                    }
                };
                next[i] += 1;
            }
        }
        let active = states.iter().filter(|state| matches!(state, State::Transferring(_))).count();
        let share = storage / active.max(1) as f64;
        let rate = |i: usize| scripts[i].link.min(share);
        let ends = states.iter().enumerate().filter_map(|(i, state)| match state {
            State::Waiting(until) => Some(*until),
            State::Transferring(left) => Some(now + left / rate(i)),
            State::Over => None,
        });
        let then = ends.fold(f64::INFINITY, f64::min);
        if !then.is_finite() {
            return done;
        }
        for (i, state) in states.iter_mut().enumerate() {
            if let State::Transferring(left) = state {
                let bytes = rate(i) * (then - now);
                *left -= bytes;
                if then > now {
                    let write = Write { rank: i as u32, start: now, end: then, bytes: bytes.round() as u64 };
                    done[i].writes.push(write);
                }
            }
        }
        now = then;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_transfers_share_the_storage() {
        let alone = Script { steps: vec![Step::Compute(1.0), Step::Mark, Step::Transfer(100.0)], link: 50.0 };
        let done = run(std::slice::from_ref(&alone), 1000.0);
        assert_eq!(done[0].marks, [1.0]);
        assert!((done[0].end() - 3.0).abs() < 1e-6);
        let other = Script { steps: vec![Step::Until(2.0), Step::Transfer(100.0)], link: 50.0 };
        let done = run(&[alone, other], 50.0);
        // One second alone, then half the storage each: 50 bytes left of the first at 25 a second.
        assert!((done[0].end() - 4.0).abs() < 1e-6, "{}", done[0].end());
        let bytes: u64 = done.iter().flat_map(|done| &done.writes).map(|write| write.bytes).sum();
        assert_eq!(bytes, 200);
    }
}
