//! A workload being carried out: what its kinds have in common.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::clock::now;
use super::connection::{Connection, Dialer, Exchange, Request};
use super::facts::{Facts, Tls};
use super::problem::Problem;
use super::requests::Requests;
use super::sample::{HEADER, Phase, Sample};
use super::seat::Seat;
use super::visits::Visits;
use super::workload::{Kind, Workload};

pub struct Load<D: Dialer> {
    pub workload: Workload,
    dialer: D,
    handshakes: Mutex<Vec<Tls>>,
    samples: Mutex<Vec<Sample>>,
}

/// When a request ended, and whether well.
pub struct Ended {
    pub at: u64,
    pub failed: bool,
}

impl<D: Dialer> Load<D> {
    pub fn new(dialer: D, workload: Workload) -> Arc<Self> {
        Arc::new(Self {
            dialer,
            workload,
            handshakes: Mutex::default(),
            samples: Mutex::default(),
        })
    }

    /// Makes all requests.
    pub async fn run(self: &Arc<Self>, kind: Kind) {
        match kind {
            Kind::Requests(repeated) => Requests::new(self.clone(), &repeated).run().await,
            Kind::Page(page) => Visits::new(self.clone(), page).run().await,
        }
    }

    /// All users start together.
    pub async fn together<User>(&self, begin: impl Fn(usize) -> User)
    where
        User: Future<Output = ()> + Send + 'static,
    {
        let gate = Arc::new(Barrier::new(self.workload.users));
        let mut users = JoinSet::new();
        for user in 0..self.workload.users {
            let (gate, begun) = (gate.clone(), begin(user));
            users.spawn(async move {
                gate.wait().await;
                begun.await;
            });
        }
        users.join_all().await;
    }

    /// Of a user's requests, or visits, by number.
    pub fn phase(&self, number: usize) -> Phase {
        if number < self.workload.warmup {
            Phase::Warmup
        } else {
            Phase::Warm
        }
    }

    /// Makes a request, whose time allowed counts from when it was due.
    pub async fn perform(&self, seat: &Seat<D>, request: &Request, mut sample: Sample) -> Ended {
        let passed = Duration::from_nanos(now().saturating_sub(sample.start));
        let left = self.workload.timeout().saturating_sub(passed);
        let attempt = self.attempt(seat, request, &mut sample);
        let outcome = tokio::time::timeout(left, attempt).await;
        sample.end = now();
        sample.problem = outcome.unwrap_or(Err(Problem::Timeout)).err();
        let ended = Ended {
            at: sample.end,
            failed: sample.problem.is_some(),
        };
        self.keep(sample);
        ended
    }

    async fn attempt(
        &self,
        seat: &Seat<D>,
        request: &Request,
        sample: &mut Sample,
    ) -> Result<(), Problem> {
        let seated = seat.take(&self.dialer, &self.handshakes).await?;
        sample.served = Some(seated.serve());
        if let Phase::Cold = sample.phase {
            sample.connected = seated.ready;
        }
        sample.exchange = Exchange::of(request);
        seated
            .connection
            .perform(request, &mut sample.exchange)
            .await?;
        sample.exchange.check(request)
    }

    /// For samples.csv.
    pub fn keep(&self, sample: Sample) {
        self.samples
            .lock()
            .expect("no thread panics with it")
            .push(sample);
    }

    /// Lets the farewells of connections leave.
    pub async fn finish(&self) {
        self.dialer.finish().await;
    }

    /// samples.csv, in the order in which the requests ended.
    pub fn samples(&self) -> String {
        let samples = self.samples.lock().expect("no thread panics with it");
        samples
            .iter()
            .fold(HEADER.to_owned(), |text, sample| text + &sample.row())
    }

    pub fn facts(&self, congestion: &str) -> Facts {
        Facts::new(
            &self.handshakes.lock().expect("no thread panics with it"),
            congestion,
        )
    }
}
