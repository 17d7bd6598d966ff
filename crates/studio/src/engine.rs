//! Runs a session on its own thread, so that the window never waits for a step; or inline, so that tests control the
//! time.
//!
//! The thread publishes snapshots on a [`Board`]. Both sides lock it only to swap snapshots and to copy some thousand
//! samples of curves. Commands are executed between steps, so a grab acts in the next step. Between steps the thread
//! sleeps until the next one is due. When steps take longer than they simulate, motion slows down, but commands are
//! still executed.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, thread::JoinHandle};

use crate::{
    command::SessionCommand, curves::StepSample, fault::Fault, film_job::FilmJob, session::Session,
    snapshot::Snapshot,
};

/// Longest time of stepping before commands are executed again; a running step is completed.
const BURST: Duration = Duration::from_millis(10);
/// Longest time that the thread waits for commands (s).
const LONGEST_WAIT: f64 = 0.1;
/// Largest number of steps per call of an inline engine.
const MOST_STEPS: u32 = 64;

/// What a session publishes.
#[derive(Default)]
pub struct Board {
    snapshot: Snapshot,
    is_fresh: bool,
    samples: Vec<StepSample>,
    /// Revision of the curves that the samples come from.
    revision: u64,
    film: Option<FilmJob>,
    /// The last error; `None` after a later command has succeeded with a note.
    pub fault: Option<Fault>,
    /// Number of errors so far.
    pub n_faults: u64,
    /// The last note; the reader takes it.
    pub note: Option<String>,
    /// Why playing has stopped.
    pub trouble: Option<String>,
}

impl Board {
    /// Curves of the run.
    pub fn samples(&self) -> &[StepSample] {
        &self.samples
    }

    /// Progress of a film from 0 to 1; `None` if none is being made.
    pub fn film(&self) -> Option<f64> {
        self.film.as_ref().map(FilmJob::share)
    }

    /// Cancels a film that is being made; no file is written.
    pub fn stop_film(&mut self) {
        self.film.iter().for_each(FilmJob::stop);
    }

    /// Publishes the result of a finished film, and returns whether one is being made.
    fn is_filming(&mut self) -> bool {
        if let Some(outcome) = self.film.as_mut().and_then(FilmJob::outcome) {
            self.film = None;
            self.publish(outcome.map(CommandResult::Note));
        }
        self.film.is_some()
    }

    fn publish(&mut self, outcome: Result<CommandResult, Fault>) {
        match outcome {
            Ok(CommandResult::Note(note)) => (self.note, self.fault) = (Some(note), None),
            Ok(CommandResult::Film(film)) => self.film = Some(film),
            Ok(CommandResult::Nothing) => {}
            Err(fault) => (self.fault, self.n_faults) = (Some(fault), self.n_faults + 1),
        }
    }

    fn refresh(&mut self, session: &Session) {
        self.trouble = session.trouble().map(str::to_owned);
        if self.revision != session.curves().revision() {
            self.revision = session.curves().revision();
            self.samples.clear();
            self.samples.extend_from_slice(session.curves().samples());
        }
        self.is_fresh = true;
    }
}

/// A session with a command queue and a board.
pub enum Engine {
    /// The session runs in the calls of this type.
    Inline(Box<(Session, Board)>),
    /// The session runs on its own thread.
    Thread(Thread),
}

/// A session on its own thread. Dropping this ends the thread.
pub struct Thread {
    commands: Option<Sender<SessionCommand>>,
    board: Arc<Mutex<Board>>,
    handle: Option<JoinHandle<()>>,
}

impl Engine {
    /// A session that steps only while [`Engine::pass`] is called.
    pub fn inline(session: Session) -> Self {
        let mut board = Board::default();
        session.fill(&mut board.snapshot);
        board.refresh(&session);
        Self::Inline(Box::new((session, board)))
    }

    /// A session on its own thread; `wake` is called after every new snapshot.
    pub fn threaded(session: Session, wake: impl Fn() + Send + 'static) -> Self {
        let (commands, inbox) = channel();
        let board = Arc::new(Mutex::new(Board::default()));
        let shared = Arc::clone(&board);
        let handle = std::thread::spawn(move || run(session, &inbox, &shared, &wake));
        Self::Thread(Thread { commands: Some(commands), board, handle: Some(handle) })
    }

    /// Sends a command. Does not wait if the session is on its own thread.
    pub fn send(&mut self, command: SessionCommand) {
        match self {
            Self::Inline(both) => {
                let (session, board) = &mut **both;
                let outcome = execute(session, command, board.is_filming());
                board.publish(outcome);
                session.fill(&mut board.snapshot);
                board.refresh(session);
            }
            Self::Thread(thread) => {
                // If the thread has ended, the command is dropped.
                let _ = thread.commands.as_ref().map(|commands| commands.send(command));
            }
        }
    }

    /// Adds wall-clock time (s) to an inline session; a session on its own thread has its own clock.
    pub fn pass(&mut self, elapsed: f64) {
        if let Self::Inline(both) = self {
            let (session, board) = &mut **both;
            let mut left = MOST_STEPS;
            let may_go_on = || {
                left -= 1;
                left > 0
            };
            if session.advance(elapsed, may_go_on) > 0 {
                session.fill(&mut board.snapshot);
                board.refresh(session);
            }
        }
    }

    /// Swaps in the newest snapshot; false if there is no new one.
    pub fn look(&mut self, snapshot: &mut Snapshot) -> bool {
        self.board(|board| {
            let is_fresh = mem::take(&mut board.is_fresh);
            if is_fresh {
                mem::swap(snapshot, &mut board.snapshot);
            }
            is_fresh
        })
    }

    /// Calls a function with the board.
    pub fn board<T>(&mut self, read: impl FnOnce(&mut Board) -> T) -> T {
        let look = |board: &mut Board| {
            board.is_filming();
            read(board)
        };
        match self {
            Self::Inline(both) => look(&mut both.1),
            Self::Thread(thread) => look(&mut thread.board.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        drop(self.commands.take());
        self.board.lock().unwrap_or_else(PoisonError::into_inner).stop_film();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

fn run(mut session: Session, inbox: &Receiver<SessionCommand>, board: &Mutex<Board>, wake: &dyn Fn()) {
    let mut snapshot = Snapshot::default();
    let mut last = Instant::now();
    let mut is_new = true;
    loop {
        if mem::take(&mut is_new) {
            session.fill(&mut snapshot);
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            mem::swap(&mut snapshot, &mut board.snapshot);
            board.refresh(&session);
            drop(board);
            wake();
        }
        // Wait until the next step is due; publishing the last one has taken some of that time.
        let left = (session.wait() - last.elapsed().as_secs_f64()).clamp(0.0, LONGEST_WAIT);
        match inbox.recv_timeout(Duration::from_secs_f64(left)) {
            Ok(first) => {
                let commands = inbox.try_iter().fold(vec![first], collect);
                for command in commands {
                    let lock = || board.lock().unwrap_or_else(PoisonError::into_inner);
                    let is_filming = lock().is_filming();
                    let outcome = execute(&mut session, command, is_filming);
                    lock().publish(outcome);
                }
                is_new = true;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        let elapsed = now - mem::replace(&mut last, now);
        is_new |= session.advance(elapsed.as_secs_f64(), || now.elapsed() < BURST) > 0;
    }
}

/// Result of a command.
enum CommandResult {
    Nothing,
    Note(String),
    Film(FilmJob),
}

/// Executes a command; films are made on another thread, one at a time.
fn execute(session: &mut Session, command: SessionCommand, is_filming: bool) -> Result<CommandResult, Fault> {
    match command {
        SessionCommand::Film { .. } if is_filming => {
            Ok(CommandResult::Note("a film is being made already: wait for it or stop it".to_owned()))
        }
        SessionCommand::Film { path, orbit, show } => {
            FilmJob::begin(session, path, orbit, show).map(CommandResult::Film)
        }
        command => {
            session.execute(command).map(|note| note.map_or(CommandResult::Nothing, CommandResult::Note))
        }
    }
}

/// Drops a seek or a grab that is directly followed by another one.
fn collect(mut commands: Vec<SessionCommand>, next: SessionCommand) -> Vec<SessionCommand> {
    let is_overtaken = match (commands.last(), &next) {
        (Some(SessionCommand::Seek(_)), SessionCommand::Seek(_)) => true,
        (Some(SessionCommand::HoldFlesh(before)), SessionCommand::HoldFlesh(after)) => {
            before.is_some() == after.is_some()
        }
        (Some(SessionCommand::Hold(before)), SessionCommand::Hold(after)) => before.len() == after.len(),
        _ => false,
    };
    if is_overtaken {
        commands.pop();
    }
    commands.push(next);
    commands
}
