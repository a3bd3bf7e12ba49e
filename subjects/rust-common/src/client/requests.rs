//! A workload of the kind `requests`: one, made again and again.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::clock::{now, sleep_until};
use super::connection::{Dialer, Request};
use super::load::Load;
use super::sample::{Phase, Sample};
use super::schedule::schedule;
use super::seat::Seat;
use super::workload::Repeated;

pub struct Requests<D: Dialer> {
    load: Arc<Load<D>>,
    request: Request,
    seats: Vec<Seat<D>>,
}

impl<D: Dialer> Requests<D> {
    pub fn new(load: Arc<Load<D>>, repeated: &Repeated) -> Arc<Self> {
        let workload = &load.workload;
        let seats = (0..workload.connections()).map(|_| Seat::new(&workload.host));
        Arc::new(Self {
            request: Request::repeated(workload, repeated),
            seats: seats.collect(),
            load,
        })
    }

    /// Makes all requests.
    pub async fn run(self: Arc<Self>) {
        let workload = &self.load.workload;
        if workload.cold {
            // One after another; each counts for its connection's first user.
            for seat in 0..self.seats.len() {
                self.request(seat, Phase::Cold, seat % workload.users, now())
                    .await;
            }
        }
        match workload.rate {
            Some(rate) => self.open_loop(rate).await,
            None => self.closed_loop().await,
        }
    }

    /// Each user makes its next request when its last has ended.
    async fn closed_loop(self: &Arc<Self>) {
        let begin = |user| {
            let own = self.clone();
            async move {
                for number in 0..own.load.workload.per_user() {
                    let phase = own.load.phase(number);
                    own.request(user % own.seats.len(), phase, user, now())
                        .await;
                }
            }
        };
        self.load.together(begin).await;
    }

    /// Each request starts when the schedule says, whether or not earlier ones have ended.
    async fn open_loop(self: &Arc<Self>, rate: f64) {
        let workload = &self.load.workload;
        let users = workload.users;
        let offsets = schedule(workload.seed, rate, users * workload.per_user());
        let mut due = alarms(offsets);
        let mut requests = JoinSet::new();
        let mut number = 0;
        while let Some(start) = due.recv().await {
            let own = self.clone();
            requests.spawn(async move {
                let phase = own.load.phase(number / users);
                own.request(number % own.seats.len(), phase, number % users, start)
                    .await;
            });
            number += 1;
        }
        requests.join_all().await;
    }

    async fn request(&self, seat: usize, phase: Phase, user: usize, start: u64) {
        let sample = Sample::new(phase, user, start);
        self.load
            .perform(&self.seats[seat], &self.request, sample)
            .await;
    }
}

/// Tells each due time when it has come: an open loop counts every delay of its own as the server's.
fn alarms(offsets: Vec<u64>) -> mpsc::UnboundedReceiver<u64> {
    let (tell, told) = mpsc::unbounded_channel();
    let begin = now();
    std::thread::spawn(move || {
        for due in offsets.into_iter().map(|offset| begin + offset) {
            sleep_until(due);
            if tell.send(due).is_err() {
                return; // interrupted
            }
        }
    });
    told
}
