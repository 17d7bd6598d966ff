//! SIGINT and SIGTERM: the first ends a run after its step, the second ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What exit codes of signals begin after.
const BASE: i32 = 128;

/// Whether the process was asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

/// A signal that asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    Interrupt,
    Terminate,
}

impl Interrupt {
    /// Begins to look out for signals.
    pub(crate) fn watch() -> io::Result<Self> {
        let (received, any) = (Self::default(), Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal does not find its own mark.
            flag::register_conditional_shutdown(signal, BASE + signal, Arc::clone(&any))?;
            flag::register(signal, Arc::clone(&any))?;
            flag::register_usize(signal, Arc::clone(&received.0), signal as usize)?;
        }
        Ok(received)
    }

    /// The last signal, if there was one.
    pub(crate) fn received(&self) -> Option<StopSignal> {
        let number = self.0.load(Ordering::Relaxed);
        [StopSignal::Interrupt, StopSignal::Terminate]
            .into_iter()
            .find(|signal| signal.number() as usize == number)
    }
}

impl StopSignal {
    fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    /// The exit code of a process that it ended.
    pub(crate) fn exit_code(self) -> u8 {
        (BASE + self.number()) as u8
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{Interrupt, StopSignal};

    #[test]
    fn codes_are_those_of_shells() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.received(), None);
        interrupt.0.store(15, Ordering::Relaxed);
        assert_eq!(interrupt.received(), Some(StopSignal::Terminate));
        assert_eq!((StopSignal::Interrupt.exit_code(), StopSignal::Terminate.exit_code()), (130, 143));
    }
}
