//! The plan that the agent in the guest reads: one line a thing, words parted
//! by spaces, what would break a word written as `%XX`.

use std::fmt::Write as _;
use std::time::Duration;

/// What the agent is told.
#[derive(Debug, Default)]
pub(super) struct Plan(String);

impl Plan {
    fn line(&mut self, words: &[&str]) {
        let words: Vec<String> = words.iter().map(|w| encode(w)).collect();
        self.0.push_str(&words.join(" "));
        self.0.push('\n');
    }

    /// A module that must be loaded before the ports are there.
    pub fn module(&mut self, path: &str) {
        self.line(&["module", path]);
    }

    /// Where the tests' modules are.
    pub fn modules_dir(&mut self, path: &str) {
        self.line(&["modules", path]);
    }

    /// A folder of programs that come before others of the same name.
    pub fn path(&mut self, dir: &str) {
        self.line(&["path", dir]);
    }

    /// A variable.
    pub fn env(&mut self, key: &str, value: &str) {
        self.line(&["env", key, value]);
    }

    /// How the guest ends itself.
    pub fn end(&mut self, how: &str) {
        self.line(&["end", how]);
    }

    /// A program to run in a folder.
    pub fn run(&mut self, name: &str, timeout: Duration, dir: &str, argv: &[&str]) {
        let seconds = timeout.as_secs().max(1).to_string();
        self.line(&[&["run", name, &seconds, dir], argv].concat());
    }

    /// A KUnit suite whose results are read.
    pub fn kunit(&mut self, name: &str, timeout: Duration, suite: &str) {
        self.line(&["kunit", name, &timeout.as_secs().max(1).to_string(), "/", suite]);
    }

    /// The plan as the agent reads it.
    pub fn text(&self) -> &str {
        &self.0
    }
}

fn encode(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for b in word.bytes() {
        if b <= b' ' || b == b'%' || b == 0x7f {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{b:02x}");
        } else if b.is_ascii() {
            out.push(char::from(b));
        } else {
            let _ = write!(out, "%{b:02x}");
        }
    }
    // An empty word would vanish between two spaces.
    if out.is_empty() { "%00".into() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive() {
        let mut plan = Plan::default();
        plan.run("a b", Duration::from_millis(1), "/tmp", &["/bin/x", "", "50%\n", "ü"]);
        assert_eq!(plan.text(), "run a%20b 1 /tmp /bin/x %00 50%25%0a %c3%bc\n");
    }
}
