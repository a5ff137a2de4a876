//! What is known of each user: how much of the time his jobs have had a lease lately, and what they say they
//! get. Only users whom the kernel names are here: of others nothing is known that could be held against
//! them.

use crate::arbiter::window::Window;
use fair_share::Standing;
use rustix::process::geteuid;
use std::collections::HashMap;

/// What was is forgotten: in so many seconds, all but a third of it.
const FORGETS: f64 = 10.0;
/// One whose jobs had a lease for more than half of that time has had much.
const MUCH: f64 = FORGETS / 2.0;
/// What a user says that he gets counts up to so many times what another one got: nobody can prove what he
/// says, and who exaggerates would make all believe that there is room for everybody.
const BELIEVED: f64 = 4.0;
/// Over so many seconds what is said and believed is a mean.
const SECOND: f64 = 1.0;
/// What others got long ago counts less: per second.
const PEAK_KEPT: f64 = 0.998;
/// No node moves more, bytes per second, beside what it has moved at once.
const OF_NODE: (f64, f64) = (2e11, 1.7e10);

/// Who runs the arbiter is trusted, and so is root; those who come over the network, who know a secret, are
/// nobody in particular.
pub(crate) fn standing(user: Option<u32>) -> Standing {
    match user {
        Some(user) if user != 0 && user != geteuid().as_raw() => Standing::User,
        _ => Standing::Trusted,
    }
}

#[derive(Debug)]
struct User {
    /// Seconds with a lease, lately.
    held: f64,
    /// What he says that he gets now, what is believed of it, and the most that was, bytes per second.
    window: Window,
    believed: Window,
    most: f64,
}

/// All users.
#[derive(Debug, Default)]
pub(crate) struct Users {
    by: HashMap<u32, User>,
    looked: f64,
}

impl Users {
    fn of(&mut self, user: u32) -> &mut User {
        let window = || Window::new(SECOND, 0.0);
        let new = || User { held: 0.0, window: window(), believed: window(), most: 0.0 };
        self.by.entry(user).or_insert_with(new)
    }

    /// Jobs of this user had a lease for so many seconds.
    pub(crate) fn held(&mut self, user: u32, seconds: f64) {
        self.of(user).held += seconds;
    }

    /// Whether his jobs had a lease for more than half of the time.
    pub(crate) fn had_much(&self, user: Option<u32>) -> bool {
        user.and_then(|user| self.by.get(&user)).is_some_and(|user| user.held > MUCH)
    }

    /// Time goes on. Users without jobs are forgotten.
    pub(crate) fn look(&mut self, now: f64, is_there: impl Fn(u32) -> bool) {
        let passed = (now - self.looked).max(0.0);
        self.looked = now;
        self.by.retain(|user, _| is_there(*user));
        for user in self.by.values_mut() {
            user.held *= (-passed / FORGETS).exp();
            user.most = (user.most * PEAK_KEPT.powf(passed)).max(user.believed.rate(now));
        }
    }

    /// Of the bytes that a node of this user says it has moved between two times, what is believed when it is
    /// asked how much the file system takes.
    pub(crate) fn believed(&mut self, user: Option<u32>, from: f64, to: f64, bytes: u64) -> u64 {
        let Some(user) = user else { return bytes };
        let others = self.by.iter().filter(|(other, _)| **other != user).map(|(_, other)| other.most);
        let others = others.fold(0.0, f64::max);
        let own = self.of(user);
        own.window.add(from, to, bytes);
        let believed = match others > 0.0 && own.window.rate(to) > BELIEVED * others {
            true => {
                let left = (BELIEVED * others - own.believed.rate(to)).max(0.0) * SECOND;
                (bytes as f64).min(left) as u64
            }
            false => bytes,
        };
        own.believed.add(from, to, believed);
        believed
    }
}

/// Of the bytes that a node says it has moved between two times, what it can have moved.
pub(crate) fn possible(from: f64, to: f64, bytes: u64) -> u64 {
    let most = (to - from).max(0.0) * OF_NODE.0 + OF_NODE.1;
    (bytes as f64).min(most) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_is_much_for_a_while() {
        let mut users = Users::default();
        for tick in 0..40 {
            users.held(7, 0.25);
            users.held(8, 0.1);
            users.look(0.25 * f64::from(tick), |_| true);
        }
        assert!(users.had_much(Some(7)) && !users.had_much(Some(8)) && !users.had_much(None));
        users.look(20.0, |_| true);
        assert!(!users.had_much(Some(7)), "that is over");
        users.held(7, 30.0);
        users.look(20.1, |_| false);
        assert!(users.by.is_empty());
    }

    #[test]
    fn who_exaggerates_is_believed_a_little() {
        let mut users = Users::default();
        assert_eq!(users.believed(Some(1), 0.0, 1.0, 1000), 1000, "nobody knows better");
        users.look(1.0, |_| true);
        let believed = users.believed(Some(2), 1.0, 2.0, 1 << 50);
        assert!((3000..=4200).contains(&believed), "{believed}");
        assert_eq!(users.believed(Some(1), 1.0, 2.0, 1000), 1000);
        assert_eq!(users.believed(None, 1.0, 2.0, 1 << 50), 1 << 50);
        assert_eq!(possible(0.0, 1.0, 5 << 30), 5 << 30);
        assert!(possible(0.0, 1.0, u64::MAX) < 1 << 38);
    }
}
