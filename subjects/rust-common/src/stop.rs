//! The life of a program: one runtime, to the signal that ends it.

use std::future::Future;

use tokio::signal::unix::{SignalKind, signal};

use crate::body;
use crate::command::Result;

/// Runs a server or a client on as many threads as there are processors. What is still under way when it returns
/// is dropped.
pub fn run(program: impl Future<Output = Result<()>>) -> Result<()> {
    body::make_block();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(program);
    runtime.shutdown_background();
    outcome
}

/// Runs a server until it fails or is told to stop.
pub async fn until_told(server: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::select! {
        outcome = server => outcome,
        outcome = told() => outcome,
    }
}

/// Returns at the first SIGTERM or SIGINT.
pub async fn told() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
