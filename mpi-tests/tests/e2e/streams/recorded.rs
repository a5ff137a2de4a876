//! What the library recorded: the same sums as those of the kernel, read from the trace.

use super::account::{Layer, Sums, Way};
use super::play::{Place, owners};
use std::collections::BTreeMap;
use std::path::Path;
use tmio_trace::reader::Operations;
use tmio_trace::{Direction, Event, Trace, TraceLayer};

/// What a trace says of a batch.
#[derive(Debug, Default)]
pub struct Recorded {
    pub sums: Sums,
    /// Names that no script has, with their bytes: for people.
    pub others: BTreeMap<String, u64>,
    /// What is wrong with the trace itself.
    pub wrong: Vec<String>,
}

impl Recorded {
    pub fn read(trace: &Path, board: &Path, place: &Place) -> Self {
        let owners = owners(board);
        // By rank: the script whose process it was. A program that a script has started has its name only.
        let mut ranks: BTreeMap<u32, usize> = BTreeMap::new();
        let mut recorded = Recorded::default();
        let mut lost = 0;
        let mut sums = Sums::new();
        let mut others: BTreeMap<String, u64> = BTreeMap::new();
        let outcome = Trace::open(trace).and_then(|trace| {
            trace.read(|event| match event {
                Event::Rank(rank) => {
                    lost = u64::max(lost, rank.lost);
                    let owner = owners.get(&rank.pid).or(rank.parent.and_then(|parent| owners.get(&parent)));
                    if let Some(&script) = owner {
                        ranks.insert(rank.rank, script);
                    }
                }
                Event::Block(block) => add(&block, &ranks, place, &mut sums, &mut others),
                Event::Header(_) => {}
            })
        });
        recorded.sums = sums;
        recorded.others = others;
        if lost > 0 {
            recorded.wrong.push(format!("{lost} operations of a process were lost"));
        }
        match outcome {
            Ok(outcome) if outcome.damaged => recorded.wrong.push(format!("damaged: {:?}", outcome.warnings)),
            Ok(_) => {}
            Err(error) => recorded.wrong.push(format!("cannot be read: {error}")),
        }
        recorded
    }
}

fn add(
    block: &Operations<'_>,
    ranks: &BTreeMap<u32, usize>,
    place: &Place,
    sums: &mut Sums,
    others: &mut BTreeMap<String, u64>,
) {
    let files: BTreeMap<u32, &str> = block.files.iter().copied().collect();
    for (index, operation) in block.operations.iter().enumerate() {
        let Some(direction) = operation.kind.direction() else { continue };
        let path = files.get(&operation.file).copied().unwrap_or("(no name)");
        let name = place.name(path);
        let of_name = name.as_ref().and_then(|name| script_of(name));
        let script = of_name.or_else(|| ranks.get(&block.rank).copied());
        let (Some(name), Some(script)) = (name, script) else {
            *others.entry(path.to_owned()).or_default() += operation.bytes;
            continue;
        };
        let layer = if operation.kind.layer() == TraceLayer::Stdio { Layer::Stdio } else { Layer::Posix };
        let way = if direction == Direction::Read { Way::Read } else { Way::Write };
        let sum = sums.entry((script, name, layer, way)).or_default();
        for _ in 1..block.merged_at(index).count {
            sum.calls += 1;
            sum.moved += u64::from(operation.bytes > 0);
        }
        sum.add(operation.bytes);
    }
}

/// `s12/f0`, `+s12-f0`
fn script_of(name: &str) -> Option<usize> {
    name.strip_prefix('+').unwrap_or(name).strip_prefix('s')?.split(['/', '-']).next()?.parse().ok()
}
