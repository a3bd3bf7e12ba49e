//! A client that carries out a workload over whatever QUIC the subject has.

mod clock;
mod comparison;
mod connection;
mod facts;
mod given;
mod load;
mod page;
mod problem;
mod requests;
mod sample;
mod schedule;
mod seat;
mod visits;
mod workload;

use std::fs::File;
use std::io::Write;

pub use clock::now;
pub use connection::{Connection, Dialer, Exchange, Request};
pub use facts::Tls;
pub use problem::Problem;
pub use workload::Workload;

use crate::command::{Failure, Flags, Result};
use crate::sending::Sending;
use crate::stop;
use load::Load;

/// The command `drive`: carries out a workload through the dialer that `reach` makes for it.
pub fn drive<D: Dialer>(
    mut flags: Flags,
    reach: impl FnOnce(&Workload, &Sending) -> Result<D>,
) -> Result<()> {
    let (workload, kind) = Workload::read(&flags.take("workload")?)?;
    let sending = Sending::take(&mut flags)?;
    let samples = flags.take("samples")?;
    let facts = flags.take("facts")?;
    flags.finish()?;
    // What cannot be written should fail before the measurement, not after it.
    let (mut samples, facts) = (File::create(samples)?, File::create(facts)?);
    stop::run(async {
        let load = Load::new(reach(&workload, &sending)?, workload);
        let interrupted = tokio::select! {
            () = load.run(kind) => false,
            told = stop::told() => told.map(|()| true)?,
        };
        load.finish().await;
        samples.write_all(load.samples().as_bytes())?;
        serde_json::to_writer_pretty(facts, &load.facts(&sending.congestion))?;
        match interrupted {
            false => Ok(()),
            true => Err(Failure::new(
                "interrupted: the samples are those of requests that had ended",
            )),
        }
    })
}
