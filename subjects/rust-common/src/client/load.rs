//! A workload being carried out.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;

use super::clock::now;
use super::connection::{Connection, Dialer, Exchange, Request};
use super::facts::{Facts, Tls};
use super::problem::Problem;
use super::sample::{HEADER, Phase, Sample};
use super::schedule::schedule;
use super::seat::Seat;
use super::workload::Workload;

pub struct Load<D: Dialer> {
    workload: Workload,
    request: Request,
    dialer: D,
    seats: Vec<Seat<D>>,
    handshakes: Mutex<Vec<Tls>>,
    samples: Mutex<Vec<Sample>>,
}

impl<D: Dialer> Load<D> {
    pub fn new(dialer: D, workload: Workload) -> Arc<Self> {
        Arc::new(Self {
            request: Request::of(&workload),
            seats: (0..workload.connections()).map(|_| Seat::new()).collect(),
            dialer,
            workload,
            handshakes: Mutex::default(),
            samples: Mutex::default(),
        })
    }

    /// Makes all requests.
    pub async fn run(self: &Arc<Self>) {
        if self.workload.cold {
            // One after another; each counts for its connection's first user.
            for seat in 0..self.seats.len() {
                self.request(seat, Phase::Cold, seat % self.workload.users, now())
                    .await;
            }
        }
        match self.workload.rate {
            Some(rate) => self.open_loop(rate).await,
            None => self.closed_loop().await,
        }
    }

    /// All users start together, and each makes its next request when its last has ended.
    async fn closed_loop(self: &Arc<Self>) {
        let gate = Arc::new(Barrier::new(self.workload.users));
        let mut users = JoinSet::new();
        for user in 0..self.workload.users {
            let (load, gate) = (self.clone(), gate.clone());
            users.spawn(async move {
                gate.wait().await;
                for number in 0..load.workload.per_user() {
                    load.request(user % load.seats.len(), load.phase(number), user, now())
                        .await;
                }
            });
        }
        users.join_all().await;
    }

    /// Each request starts when the schedule says, whether or not earlier ones have ended.
    async fn open_loop(self: &Arc<Self>, rate: f64) {
        let users = self.workload.users;
        let offsets = schedule(self.workload.seed, rate, users * self.workload.per_user());
        let mut due = alarms(offsets);
        let mut requests = JoinSet::new();
        let mut number = 0;
        while let Some(start) = due.recv().await {
            let load = self.clone();
            requests.spawn(async move {
                let phase = load.phase(number / users);
                load.request(number % load.seats.len(), phase, number % users, start)
                    .await;
            });
            number += 1;
        }
        requests.join_all().await;
    }

    /// Of a user's requests, by number.
    fn phase(&self, number: usize) -> Phase {
        if number < self.workload.warmup {
            Phase::Warmup
        } else {
            Phase::Warm
        }
    }

    /// Makes one request, due at `start`, from which its time allowed counts too.
    async fn request(&self, seat: usize, phase: Phase, user: usize, start: u64) {
        let mut sample = Sample::new(phase, user, start);
        let passed = Duration::from_nanos(now().saturating_sub(start));
        let left = self.workload.timeout().saturating_sub(passed);
        let outcome = tokio::time::timeout(left, self.attempt(seat, &mut sample)).await;
        sample.end = now();
        sample.problem = outcome.unwrap_or(Err(Problem::Timeout)).err();
        self.samples
            .lock()
            .expect("no thread panics with it")
            .push(sample);
    }

    async fn attempt(&self, seat: usize, sample: &mut Sample) -> Result<(), Problem> {
        let seated = self.seats[seat]
            .take(&self.dialer, &self.handshakes)
            .await?;
        sample.served = Some(seated.serve());
        if let Phase::Cold = sample.phase {
            sample.connected = seated.ready;
        }
        sample.exchange = Exchange::of(&self.request);
        seated
            .connection
            .perform(&self.request, &mut sample.exchange)
            .await?;
        sample.exchange.check()
    }

    pub async fn close(&self) {
        for seat in &self.seats {
            seat.close().await;
        }
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

/// Tells each due time when it has come. A thread's sleep is exact to some 50 µs, the runtime's only to a
/// millisecond, and an open loop counts every delay of its own as the server's.
fn alarms(offsets: Vec<u64>) -> mpsc::UnboundedReceiver<u64> {
    let (tell, told) = mpsc::unbounded_channel();
    let begin = now();
    std::thread::spawn(move || {
        for due in offsets.into_iter().map(|offset| begin + offset) {
            std::thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
            if tell.send(due).is_err() {
                return; // interrupted
            }
        }
    });
    told
}
