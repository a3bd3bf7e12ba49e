//! A place for one connection of the workload's number: empty at first, and after its connection has died.

use std::sync::Arc;
use std::sync::Mutex as Ledger;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::clock::now;
use super::connection::{Connection, Dialer};
use super::facts::Tls;
use super::problem::Problem;
use super::sample::Served;

pub struct Seat<D: Dialer> {
    /// Whom it is to.
    host: String,
    current: Mutex<Option<Arc<Seated<D::Connection>>>>,
}

/// A connection that is there.
pub struct Seated<C> {
    pub connection: C,
    index: usize,
    /// When the handshake was complete.
    pub ready: u64,
    requests: AtomicU64,
}

impl<C> Seated<C> {
    /// Counts one request more.
    pub fn serve(&self) -> Served {
        Served {
            index: self.index,
            reused: self.requests.fetch_add(1, Ordering::Relaxed) > 0,
        }
    }
}

impl<D: Dialer> Seat<D> {
    pub fn new(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            current: Mutex::new(None),
        }
    }

    /// The seat's connection; dials if there is none. All handshakes go to the ledger, whose length numbers them.
    pub async fn take(
        &self,
        dialer: &D,
        ledger: &Ledger<Vec<Tls>>,
    ) -> Result<Arc<Seated<D::Connection>>, Problem> {
        let mut current = self.current.lock().await;
        if let Some(seated) = current
            .as_ref()
            .filter(|seated| seated.connection.is_usable())
        {
            return Ok(seated.clone());
        }
        *current = None;
        let (connection, handshake) = dialer.dial(&self.host).await?;
        let ready = now();
        let index = {
            let mut ledger = ledger.lock().expect("no thread panics with it");
            ledger.push(handshake);
            ledger.len() - 1
        };
        let seated = Arc::new(Seated {
            connection,
            index,
            ready,
            requests: AtomicU64::new(0),
        });
        *current = Some(seated.clone());
        Ok(seated)
    }
}
