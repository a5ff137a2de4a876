//! Every order in which the calls of the program and the job can come, each state once; in each, a failure.
//!
//! The program is run again and again from its beginning. Before every call it is decided who goes first; a
//! run follows the decisions that it was given and then lets the program go on, and whatever else could have
//! been decided on the way is tried later. What the program will do is fixed by what it was told so far. So
//! if the same state was met before with the same answers, all that can follow is known, and the run ends.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The program makes its call.
    GoOn,
    /// The job makes one first.
    Job,
    /// What follows is known.
    Known,
}

/// Decides in one run.
pub struct Chooser {
    given: Vec<Choice>,
    taken: Vec<Choice>,
    /// `None`: nothing is tried, the program goes on.
    shared: Option<Rc<RefCell<Shared>>>,
}

#[derive(Default)]
struct Shared {
    seen: HashSet<u64>,
    /// Decisions to try.
    open: Vec<Vec<Choice>>,
}

impl Chooser {
    pub fn choose(&mut self, state: impl FnOnce() -> u64, job_can: bool) -> Choice {
        let Some(shared) = self.shared.clone() else { return Choice::GoOn };
        if let Some(choice) = self.given.get(self.taken.len()) {
            self.taken.push(*choice);
            return *choice;
        }
        let shared = &mut *shared.borrow_mut();
        if !shared.seen.insert(state()) {
            return Choice::Known;
        }
        if job_can {
            let mut decisions = self.taken.clone();
            decisions.push(Choice::Job);
            shared.open.push(decisions);
        }
        self.taken.push(Choice::GoOn);
        Choice::GoOn
    }

    /// Is this a state that a run meets for the first time, so that a failure has to be tried in it?
    pub fn is_new(&self) -> bool {
        self.taken.len() > self.given.len()
    }

    /// What was decided so far.
    pub fn taken(&self) -> &[Choice] {
        &self.taken
    }

    /// A run without decisions.
    pub fn straight() -> Self {
        Chooser { given: Vec::new(), taken: Vec::new(), shared: None }
    }
}

/// Runs the program in every order, until it says that something is wrong. Returns how many states there
/// were, and how many runs, or what is wrong.
pub fn explore(mut run: impl FnMut(Chooser) -> Result<(), String>) -> Result<(usize, usize), String> {
    let shared = Rc::new(RefCell::new(Shared::default()));
    shared.borrow_mut().open.push(Vec::new());
    let mut runs = 0;
    loop {
        let Some(given) = shared.borrow_mut().open.pop() else { break };
        runs += 1;
        let shown = format!("{given:?}");
        run(Chooser { given, taken: Vec::new(), shared: Some(Rc::clone(&shared)) })
            .map_err(|wrong| format!("{wrong}\nafter {shown}"))?;
    }
    let states = shared.borrow().seen.len();
    Ok((states, runs))
}
