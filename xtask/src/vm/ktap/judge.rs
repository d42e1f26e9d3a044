//! What became of each test: its own line, its children, and the plan.

use std::collections::HashMap;

use super::{Block, Document, Problem, Status, Test, Word};

/// Planned tests without a result that get an entry of their own; a plan may
/// name any number.
const MAX_NAMED_NOT_RUN: u64 = 1000;

/// Judges a tree that has come to its end.
pub(super) fn document(mut root: Block) -> Document {
    block(&mut root);
    name_paths(&mut root, "");
    Document { root }
}

/// Adds an entry for each planned result that did not come.
pub(super) fn add_not_run(block: &mut Block, have: u64, plan: u64) {
    let missing = plan.saturating_sub(have);
    for n in 0..missing.min(MAX_NAMED_NOT_RUN) {
        let mut test = Test::missing(format!("test {}", have + n + 1));
        test.number = Some(have + n + 1);
        block.tests.push(test);
    }
    if missing > MAX_NAMED_NOT_RUN {
        block.problem(true, &format!("{missing} tests were not run; the first are listed"));
    }
}

impl Document {
    /// Puts what the host knows into a document that the guest could not finish:
    /// the names of the tests it was given, in order, and the one that was
    /// running, which gets `how`.
    pub fn complete(&mut self, names: &[String], running: Option<&str>, how: Status) {
        for (i, name) in names.iter().enumerate() {
            match self.root.tests.get_mut(i) {
                Some(test) if test.reported.is_none() => test.name.clone_from(name),
                Some(_) => continue,
                None => self.root.tests.push(Test::missing(name.clone())),
            }
            let Some(test) = self.root.tests.get_mut(i) else { continue };
            if running == Some(name.as_str()) {
                test.status = how;
            } else if test.children.is_none() {
                test.status = Status::NotRun;
            }
        }
        name_paths(&mut self.root, "");
    }
}

impl Test {
    /// Marks a test that failed and passed when it was run again.
    pub fn set_flaky(&mut self) {
        let text = format!("{} at first, passed when run again", self.status.word());
        self.problems.push(Problem { fatal: true, text });
        self.status = Status::Flaky;
    }

    /// A test that has no result line.
    pub(super) fn missing(name: String) -> Test {
        Test {
            number: None,
            name,
            path: String::new(),
            reported: None,
            directive: None,
            status: Status::NotRun,
            output: Vec::new(),
            problems: Vec::new(),
            children: None,
            damaged: false,
        }
    }
}

/// Judges a block; true when something in it fails it.
fn block(block: &mut Block) -> bool {
    let mut bad = block.bail.is_some() || block.problems.iter().any(|p| p.fatal);
    for t in &mut block.tests {
        test(t);
        bad |= !t.status.is_good();
    }
    bad
}

fn test(test: &mut Test) {
    let children_bad = test.children.as_mut().is_some_and(block);
    let mut remark = |fatal, text: &str| {
        test.problems.push(Problem { fatal, text: text.to_owned() });
    };
    let word = test.directive.as_ref().map(|d| d.word);
    let own = match (test.reported, word) {
        (None, _) => Status::NotRun,
        _ if test.damaged => Status::Damaged,
        (_, Some(Word::Timeout)) => Status::TimedOut,
        (_, Some(Word::Error)) => Status::Fail,
        (_, Some(Word::Skip)) => Status::Skip,
        (Some(true), Some(Word::Todo | Word::Xfail | Word::Xpass)) => {
            remark(false, "passed, though marked as known to fail");
            Status::Pass
        }
        (Some(true), None) => Status::Pass,
        (Some(false), Some(Word::Todo | Word::Xfail)) => Status::ExpectedFail,
        (Some(false), Some(Word::Xpass) | None) => Status::Fail,
    };
    test.status = own;
    let own_good = matches!(own, Status::Pass | Status::Skip);
    if children_bad && own_good {
        let said = if own == Status::Skip { "skip" } else { "ok" };
        remark(true, &format!("inconsistent: it says {said}, but something below it failed"));
        test.status = Status::Fail;
    }
    // A parent that began (children came) and never ended did not just "not run".
    if own == Status::NotRun && test.children.is_some() {
        remark(true, "it began and never reported a result");
        test.status = Status::Crashed;
    }
}

/// Gives every test its path; equal names in one block are told apart.
pub(super) fn name_paths(block: &mut Block, above: &str) {
    let mut seen: HashMap<String, u64> = HashMap::new();
    for test in &mut block.tests {
        let count = seen.entry(test.name.clone()).or_insert(0);
        *count += 1;
        let name = match *count {
            1 => test.name.clone(),
            n => format!("{}#{n}", test.name),
        };
        test.path = if above.is_empty() { name } else { format!("{above}/{name}") };
        if let Some(children) = &mut test.children {
            name_paths(children, &test.path);
        }
    }
}
