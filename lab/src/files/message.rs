//! Messages of a report: reasons and warnings.

use serde::Serialize;

/// Why a trial is not valid, or what to know about one that is.
#[derive(Debug, Serialize)]
pub struct Message {
    pub code: &'static str,
    pub detail: String,
}

impl Message {
    pub fn new(code: &'static str, detail: impl std::fmt::Display) -> Self {
        Self { code, detail: detail.to_string() }
    }

    /// What the trial needed on this machine could not be made.
    pub fn setup_failed(error: anyhow::Error) -> Self {
        Self::new("setup-failed", format!("{error:#}"))
    }

    /// What explains a trial could not be written; that is no fault of the trial.
    pub fn evidence_lost(error: anyhow::Error) -> Self {
        Self::new("evidence-lost", format!("{error:#}"))
    }
}
