//! What the clocks of the nodes have to do with each other.

use crate::ranks::nodes::Nodes;
use crate::ranks::world::{World, receive_numbers, send_numbers};

/// Round trips by which two clocks are compared; the shortest one counts.
const ROUND_TRIPS: usize = 12;

/// What must be added to this rank's clock to get rank 0's, and the largest error of that.
///
/// Ranks of a node share a clock. Each leader compares its own with that of the leader above it in
/// the tree, and passes the sum on to the ranks of its node. Collective.
pub fn compare(world: &dyn World, nodes: &Nodes, clock: &dyn Fn() -> i64) -> Option<(i64, i64)> {
    if world.minimum(if nodes.is_leader() { i64::from(nodes.count) } else { i64::MAX })? == 1 {
        return Some((0, 0));
    }
    let [offset, error] = if let Some(previous) = nodes.previous {
        receive_numbers(world, previous)?
    } else {
        let mut mine = [0, 0];
        if let Some(parent) = nodes.parent {
            let [offset, error] = ask(world, parent, clock)?;
            let [above, its_error] = receive_numbers(world, parent)?;
            mine = [offset + above, error + its_error];
        }
        for &child in &nodes.children {
            answer(world, child, clock)?;
            send_numbers(world, child, mine)?;
        }
        mine
    };
    if let Some(next) = nodes.next {
        send_numbers(world, next, [offset, error])?;
    }
    Some((offset, error))
}

fn ask(world: &dyn World, parent: u32, clock: &dyn Fn() -> i64) -> Option<[i64; 2]> {
    let mut best = (i64::MAX, 0);
    for _ in 0..ROUND_TRIPS {
        let before = clock();
        send_numbers(world, parent, [0])?;
        let [there] = receive_numbers(world, parent)?;
        let after = clock();
        if after - before < best.0 {
            best = (after - before, there - (before + (after - before) / 2));
        }
    }
    Some([best.1, best.0 / 2 + 1])
}

fn answer(world: &dyn World, child: u32, clock: &dyn Fn() -> i64) -> Option<()> {
    for _ in 0..ROUND_TRIPS {
        let [_] = receive_numbers(world, child)?;
        send_numbers(world, child, [clock()])?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::clock;
    use crate::ranks::threads::on_ranks;

    #[test]
    fn clocks_that_are_apart_are_brought_together() {
        // Node n is n × 1000 s ahead.
        let ahead = |rank: u32| i64::from(rank % 5) * 1_000_000_000_000;
        let found = on_ranks(13, |world| {
            let nodes = Nodes::find(world, 7 + ahead(world.rank()));
            compare(world, &nodes.unwrap(), &|| clock::monotonic() + ahead(world.rank())).unwrap()
        });
        for (rank, (offset, error)) in (0..).zip(found) {
            assert!((offset + ahead(rank)).abs() <= error, "rank {rank}: {offset} ± {error}");
            assert_eq!(error == 0, rank % 5 == 0);
        }
    }
}
