//! The diffs of many commits, made by several threads and taken in order. They
//! can be begun while later commits are still being made.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::diff::{self, AtHand, Attributes, FileDiff};

/// Diffs that wait to be taken, at most, for each thread: a bound on memory.
const AHEAD: usize = 8;
/// More threads than this wait for the one that takes.
const MOST: usize = 8;

/// Two trees to compare; the old one of a first commit is nothing.
pub type Pair = (Option<Oid>, Oid);

type Told = Result<Vec<FileDiff>>;

/// What a thread is asked to do.
enum Job {
    /// The diffs of two trees, told in the order in which they were asked for.
    Trees(Pair, AtHand),
    /// Those of some paths alone, told apart.
    Paths(Pair, Vec<String>, AtHand, SyncSender<Told>),
}

struct Worker {
    ask: Sender<Job>,
    told: Receiver<Told>,
}

/// Diffs under way. Dropped, it ends its threads.
pub struct Ahead<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    path: PathBuf,
    base: Option<Oid>,
    most: usize,
    workers: Vec<Worker>,
    /// What was begun and not yet taken, and by which worker.
    under_way: VecDeque<(usize, Pair)>,
    begun: usize,
    paths: Vec<Receiver<Told>>,
}

impl<'scope, 'env> Ahead<'scope, 'env> {
    /// Nothing begun yet, and no thread. The repository is that at `path`; `base`
    /// is the tree whose attributes rule. There will be as many threads as there
    /// are processors besides `busy` ones, but one at least.
    pub fn new(
        scope: &'scope Scope<'scope, 'env>,
        path: PathBuf,
        base: Option<Oid>,
        busy: usize,
    ) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let most = processors.saturating_sub(busy).clamp(1, MOST);
        let (workers, under_way) = (Vec::new(), VecDeque::new());
        Ahead { scope, path, base, most, workers, under_way, begun: 0, paths: Vec::new() }
    }

    /// Begins to compare two trees.
    pub fn begin(&mut self, pair: Pair, at_hand: AtHand) {
        let at_hand = self.bounded(at_hand);
        let worker = self.ask(Job::Trees(pair, at_hand));
        self.under_way.push_back((worker, pair));
    }

    /// Begins to compare the files at `paths` in two trees.
    pub fn begin_paths(&mut self, pair: Pair, paths: Vec<String>, at_hand: AtHand) {
        let (tell, told) = sync_channel(1);
        let at_hand = self.bounded(at_hand);
        self.ask(Job::Paths(pair, paths, at_hand, tell));
        self.paths.push(told);
    }

    /// What waits long is read again when its turn comes: a bound on memory, too.
    fn bounded(&self, at_hand: AtHand) -> AtHand {
        if self.under_way.len() < AHEAD * self.most { at_hand } else { AtHand::default() }
    }

    /// Whether exactly these pairs are under way.
    #[must_use]
    pub fn has(&self, pairs: &[Pair]) -> bool {
        self.under_way.iter().map(|(_, pair)| pair).eq(pairs)
    }

    /// The diffs of the pair that was begun first and not yet taken.
    ///
    /// # Errors
    /// When an object is missing or broken.
    pub fn take(&mut self) -> Result<Vec<FileDiff>> {
        let worker = self.under_way.pop_front().and_then(|(worker, _)| self.workers.get(worker));
        worker.and_then(|w| w.told.recv().ok()).ok_or_else(ended)?
    }

    /// The diffs of all paths that were begun.
    ///
    /// # Errors
    /// As [`Ahead::take`].
    pub fn take_paths(&mut self) -> Result<Vec<FileDiff>> {
        let mut files = Vec::new();
        for told in self.paths.drain(..) {
            files.append(&mut told.recv().map_err(|_| ended())??);
        }
        Ok(files)
    }

    /// Hands a job to the next thread in turn, and says which that is.
    fn ask(&mut self, job: Job) -> usize {
        let next = self.begun % self.most;
        self.begun += 1;
        if self.workers.len() <= next {
            self.workers.push(self.spawn());
        }
        if let Some(worker) = self.workers.get(next) {
            // A thread that ended says so when its diffs are taken.
            drop(worker.ask.send(job));
        }
        next
    }

    fn spawn(&self) -> Worker {
        let (ask, asked) = channel();
        let (tell, told) = sync_channel(AHEAD);
        let (path, base) = (self.path.clone(), self.base);
        self.scope.spawn(move || {
            // libgit2's repositories belong to one thread at a time.
            let done = || -> Result<()> {
                let repo = Repository::open(path)?;
                let attributes = Attributes::of_tree(&repo, base)?;
                for job in asked {
                    let taken = match job {
                        Job::Trees(pair, at_hand) => {
                            let files = diff::trees_with(&repo, pair, &attributes, &at_hand)?;
                            drop(at_hand);
                            tell.send(Ok(files)).is_ok()
                        }
                        Job::Paths(pair, paths, at_hand, tell) => {
                            let files = diff::of_paths(&repo, pair, &paths, &attributes, &at_hand);
                            tell.send(files).is_ok()
                        }
                    };
                    if !taken {
                        break;
                    }
                }
                Ok(())
            };
            if let Err(e) = done() {
                drop(tell.send(Err(e)));
            }
        });
        Worker { ask, told }
    }
}

fn ended() -> Error {
    Error::host("a thread that compares trees ended")
}
