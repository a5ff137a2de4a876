//! Which ranks share a node, and who speaks for it.
//!
//! Rank 0 gets one number from everybody and gives three back: its work and its memory grow with the
//! number of ranks, everybody else's do not. The leaders of the nodes form a binomial tree, in which
//! nobody talks to more than log₂(nodes) others.

use crate::ranks::world::{World, receive_numbers, send_numbers};
use std::collections::HashMap;

/// The place of this rank among those of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Number of nodes.
    pub count: u32,
    /// The lowest rank of this node.
    pub leader: u32,
    /// The rank before this one on the node; `None` for the leader.
    pub previous: Option<u32>,
    /// The rank after this one on the node.
    pub next: Option<u32>,
    /// For a leader: the leaders above and below it in their tree.
    pub parent: Option<u32>,
    /// Leaders below this one, by falling distance.
    pub children: Vec<u32>,
}

/// A leader has at most so many others below it.
const MOST_CHILDREN: usize = 32;

impl Nodes {
    /// Finds out who shares a node: those with the same number `node`. Collective.
    pub fn find(world: &dyn World, node: i64) -> Option<Self> {
        let (rank, size) = (world.rank(), world.size());
        // Mostly there is one node, and nothing to be told.
        if world.minimum(node)? == -world.minimum(-node)? {
            return Some(Self {
                count: 1,
                leader: 0,
                previous: rank.checked_sub(1),
                next: Some(rank + 1).filter(|&next| next < size),
                parent: None,
                children: Vec::new(),
            });
        }
        let all = world.gather(node)?;
        let (places, leaders) = if rank == 0 { arrange(&all)? } else { (Vec::new(), Vec::new()) };
        let mut mine = [0i64; 3];
        if !world.scatter(&places, &mut mine) {
            return None;
        }
        let [leader, previous, next] = mine.map(|value| u32::try_from(value).ok());
        let mut nodes =
            Self { count: 0, leader: leader?, previous, next, parent: None, children: Vec::new() };
        if rank == 0 {
            for (index, &leader) in leaders.iter().enumerate().skip(1) {
                let (parent, children) = relatives(&leaders, index);
                let mut numbers = [-1i64; MOST_CHILDREN + 2];
                let values = [leaders.len() as i64, i64::from(parent?)].into_iter();
                let values = values.chain(children.iter().map(|&child| i64::from(child)));
                numbers.iter_mut().zip(values).for_each(|(place, value)| *place = value);
                send_numbers(world, leader, numbers)?;
            }
            nodes.count = leaders.len() as u32;
            nodes.children = relatives(&leaders, 0).1;
        } else if nodes.leader == rank {
            let numbers: [i64; MOST_CHILDREN + 2] = receive_numbers(world, 0)?;
            let mut numbers = numbers.into_iter().map_while(|value| u32::try_from(value).ok());
            nodes.count = numbers.next()?;
            nodes.parent = numbers.next();
            nodes.children = numbers.collect();
        }
        Some(nodes)
    }

    /// Whether this rank speaks for its node.
    pub fn is_leader(&self) -> bool {
        self.previous.is_none()
    }
}

/// Leader, previous and next rank of every rank (−1: none), and the leaders in order of rank.
fn arrange(nodes: &[i64]) -> Option<(Vec<i64>, Vec<u32>)> {
    let mut places = Vec::new();
    places.try_reserve_exact(nodes.len() * 3).ok()?;
    places.resize(nodes.len() * 3, -1i64);
    let mut leaders = Vec::new();
    let mut last: HashMap<i64, (usize, usize)> = HashMap::new();
    for (rank, &node) in nodes.iter().enumerate() {
        let mut set = |place: usize, value: usize| {
            if let Some(place) = places.get_mut(place) {
                *place = value as i64;
            }
        };
        let leader = match last.get(&node) {
            Some(&(leader, previous)) => {
                set(rank * 3 + 1, previous);
                set(previous * 3 + 2, rank);
                leader
            }
            None => {
                leaders.push(rank as u32);
                rank
            }
        };
        set(rank * 3, leader);
        last.insert(node, (leader, rank));
    }
    Some((places, leaders))
}

/// Parent and children of the leader at `index` in a binomial tree.
fn relatives(leaders: &[u32], index: usize) -> (Option<u32>, Vec<u32>) {
    let parent = if index == 0 { None } else { leaders.get(index & (index - 1)).copied() };
    let bits = if index == 0 { usize::BITS } else { index.trailing_zeros() };
    let children = (0..bits.min(MOST_CHILDREN as u32)).rev();
    (parent, children.filter_map(|bit| leaders.get(index | 1 << bit).copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::threads::on_ranks;

    #[test]
    fn every_rank_knows_its_neighbours_and_every_leader_its_tree() {
        for (ranks, nodes) in [(1, 1), (5, 1), (6, 2), (9, 3), (16, 16), (23, 7)] {
            let found =
                on_ranks(ranks, |world| Nodes::find(world, 100 - i64::from(world.rank() % nodes)).unwrap());
            let mut reached = vec![0];
            let mut at = 0;
            while let Some(&leader) = reached.get(at) {
                let children = &found[leader as usize].children;
                assert!(children.iter().all(|&child| found[child as usize].parent == Some(leader)));
                reached.extend(children);
                at += 1;
            }
            reached.sort_unstable();
            assert_eq!(reached, (0..nodes).collect::<Vec<_>>(), "{ranks} ranks on {nodes} nodes");
            for (rank, place) in (0..).zip(&found) {
                assert_eq!(place.leader, rank % nodes);
                assert_eq!(place.is_leader(), rank < nodes);
                assert_eq!(place.previous, rank.checked_sub(nodes));
                assert_eq!(place.next, Some(rank + nodes).filter(|&next| next < ranks));
                assert!(!place.is_leader() || place.count == nodes);
            }
        }
    }
}
