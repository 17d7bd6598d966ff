//! Where a session lives: on a thread of its own, so that the window never waits for a step; or with the caller, so that tests
//! decide when time passes.
//!
//! The thread publishes snapshots on a board; both sides lock it only to swap them, and to copy a few thousand samples of curves.
//! A command is seen between two steps, so a hold acts in the next one. Between steps the thread sleeps until the next one is due.
//! When steps take longer than they simulate, motion slows down and commands still come through.

use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::film::Film;
use crate::{Command, Fault, Frame, Sample, Session};

/// Longest time spent on steps between two looks at the commands, beyond the step that is under way.
const BURST: Duration = Duration::from_millis(10);
/// Longest time that the thread waits for commands, s.
const LONGEST_WAIT: f64 = 0.1;
/// Most steps at once where the session is with the caller.
const MOST_STEPS: u32 = 64;

/// What a session shows to the outside.
#[derive(Default)]
pub struct Board {
    frame: Frame,
    is_fresh: bool,
    samples: Vec<Sample>,
    /// That of the trace that they are from.
    revision: u64,
    film: Option<Film>,
    /// What went wrong last; `None` once something that matters has worked.
    pub fault: Option<Fault>,
    /// How often something went wrong.
    pub n_faults: u64,
    /// What was told last; whoever shows it takes it.
    pub note: Option<String>,
    /// Why time has stopped.
    pub trouble: Option<String>,
}

impl Board {
    /// Curves of the run.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The share of a film that is done, 0 to 1, while it is being made.
    pub fn film(&self) -> Option<f64> {
        self.film.as_ref().map(Film::share)
    }

    /// Ends a film that is being made, without a file.
    pub fn stop_film(&mut self) {
        self.film.iter().for_each(Film::stop);
    }

    /// Hears of a film that has ended, and tells whether one is being made.
    fn is_filming(&mut self) -> bool {
        if let Some(outcome) = self.film.as_mut().and_then(Film::outcome) {
            self.film = None;
            self.hear(outcome.map(Said::Note));
        }
        self.film.is_some()
    }

    fn hear(&mut self, outcome: Result<Said, Fault>) {
        match outcome {
            Ok(Said::Note(note)) => (self.note, self.fault) = (Some(note), None),
            Ok(Said::Film(film)) => self.film = Some(film),
            Ok(Said::Nothing) => {}
            Err(fault) => (self.fault, self.n_faults) = (Some(fault), self.n_faults + 1),
        }
    }

    fn show(&mut self, session: &Session) {
        self.trouble = session.trouble().map(str::to_owned);
        if self.revision != session.trace().revision() {
            self.revision = session.trace().revision();
            self.samples.clear();
            self.samples.extend_from_slice(session.trace().samples());
        }
        self.is_fresh = true;
    }
}

/// A session and the way to it.
pub enum Engine {
    /// With the caller.
    Inline(Box<(Session, Board)>),
    /// On its own thread.
    Thread(Thread),
}

/// A session on its own thread, which ends when this is dropped.
pub struct Thread {
    commands: Option<Sender<Command>>,
    board: Arc<Mutex<Board>>,
    handle: Option<JoinHandle<()>>,
}

impl Engine {
    /// A session that moves only while [`Engine::pass`] is called.
    pub fn inline(session: Session) -> Self {
        let mut board = Board::default();
        session.fill(&mut board.frame);
        board.show(&session);
        Self::Inline(Box::new((session, board)))
    }

    /// A session on its own thread; `wake` is called whenever there is something new to see.
    pub fn threaded(session: Session, wake: impl Fn() + Send + 'static) -> Self {
        let (commands, inbox) = channel();
        let board = Arc::new(Mutex::new(Board::default()));
        let shared = Arc::clone(&board);
        let handle = std::thread::spawn(move || run(session, &inbox, &shared, &wake));
        Self::Thread(Thread { commands: Some(commands), board, handle: Some(handle) })
    }

    /// Asks for something. Never waits, if the session is on its own thread.
    pub fn send(&mut self, command: Command) {
        match self {
            Self::Inline(both) => {
                let (session, board) = &mut **both;
                let outcome = obey(session, command, board.is_filming());
                board.hear(outcome);
                session.fill(&mut board.frame);
                board.show(session);
            }
            Self::Thread(thread) => {
                // If the thread is gone there is nobody to ask.
                let _ = thread.commands.as_ref().map(|commands| commands.send(command));
            }
        }
    }

    /// Wall-clock time passes, s; a session on its own thread has its own clock.
    pub fn pass(&mut self, elapsed: f64) {
        if let Self::Inline(both) = self {
            let (session, board) = &mut **both;
            let mut left = MOST_STEPS;
            let may_go_on = || {
                left -= 1;
                left > 0
            };
            if session.advance(elapsed, may_go_on) > 0 {
                session.fill(&mut board.frame);
                board.show(session);
            }
        }
    }

    /// Takes the newest snapshot, if there is one that was not taken yet.
    pub fn look(&mut self, frame: &mut Frame) -> bool {
        self.board(|board| {
            let is_fresh = mem::take(&mut board.is_fresh);
            if is_fresh {
                mem::swap(frame, &mut board.frame);
            }
            is_fresh
        })
    }

    /// Looks at the board.
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

fn run(mut session: Session, inbox: &Receiver<Command>, board: &Mutex<Board>, wake: &dyn Fn()) {
    let mut frame = Frame::default();
    let mut last = Instant::now();
    let mut is_new = true;
    loop {
        if mem::take(&mut is_new) {
            session.fill(&mut frame);
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            mem::swap(&mut frame, &mut board.frame);
            board.show(&session);
            drop(board);
            wake();
        }
        // Until the next step is due, less what was spent on showing the last one.
        let left = (session.wait() - last.elapsed().as_secs_f64()).clamp(0.0, LONGEST_WAIT);
        match inbox.recv_timeout(Duration::from_secs_f64(left)) {
            Ok(first) => {
                let commands = inbox.try_iter().fold(vec![first], collect);
                for command in commands {
                    let lock = || board.lock().unwrap_or_else(PoisonError::into_inner);
                    let is_filming = lock().is_filming();
                    let outcome = obey(&mut session, command, is_filming);
                    lock().hear(outcome);
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

/// What comes of a command.
enum Said {
    Nothing,
    Note(String),
    Film(Film),
}

/// Has a session do what is asked; films are made on the side, one at a time.
fn obey(session: &mut Session, command: Command, is_filming: bool) -> Result<Said, Fault> {
    match command {
        Command::Film { .. } if is_filming => {
            Ok(Said::Note("one film at a time: wait for the last one, or stop it".to_owned()))
        }
        Command::Film { path, orbit, show } => Film::begin(session, path, orbit, show).map(Said::Film),
        command => session.obey(command).map(|note| note.map_or(Said::Nothing, Said::Note)),
    }
}

/// Of places that follow each other at once, only the last counts.
fn collect(mut commands: Vec<Command>, next: Command) -> Vec<Command> {
    let is_overtaken = match (commands.last(), &next) {
        (Some(Command::Seek(_)), Command::Seek(_)) => true,
        (Some(Command::Hold(before)), Command::Hold(after)) => before.len() == after.len(),
        _ => false,
    };
    if is_overtaken {
        commands.pop();
    }
    commands.push(next);
    commands
}
