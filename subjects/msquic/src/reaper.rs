//! Where MsQuic's handles end. A handle must live until MsQuic has said its last word about it, and must not be
//! closed by the callback that hears it.

use std::any::Any;
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};

type Dead = Box<dyn Any + Send>;

static REAPER: LazyLock<Sender<Dead>> = LazyLock::new(|| {
    let (bury, dead) = channel::<Dead>();
    std::thread::spawn(move || dead.into_iter().for_each(drop));
    bury
});

/// Drops what is given, on another thread.
pub fn bury(dead: impl Any + Send) {
    let _ = REAPER.send(Box::new(dead));
}
