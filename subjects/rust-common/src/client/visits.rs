//! A workload of the kind `page`: users who visit it, again and again.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::clock::{now, until};
use super::connection::{Dialer, Request};
use super::load::{Ended, Load};
use super::page::{Agenda, Due, Page, Place};
use super::problem::Problem;
use super::sample::{Part, Sample};
use super::seat::Seat;

const NOT_ASKED: &str = "not asked for, because what asks for it failed";

pub struct Visits<D: Dialer> {
    load: Arc<Load<D>>,
    page: Page,
    /// For each resource.
    requests: Vec<Request>,
}

/// Places for connections, of each of the page's hosts.
type Seats<D> = Vec<Vec<Seat<D>>>;

impl<D: Dialer> Visits<D> {
    pub fn new(load: Arc<Load<D>>, page: Page) -> Arc<Self> {
        let requests = page.resources.iter();
        Arc::new(Self {
            requests: requests
                .map(|resource| Request::of(&load.workload, resource))
                .collect(),
            load,
            page,
        })
    }

    /// Makes all visits.
    pub async fn run(self: Arc<Self>) {
        self.load.together(|user| self.clone().visit(user)).await;
    }

    /// A user's visits. Each has connections of its own, or, where nothing is to be cold, they share them.
    async fn visit(self: Arc<Self>, user: usize) {
        let (mut seats, mut begin) = (self.seats(), now());
        for number in 0..self.load.workload.per_user() {
            until(begin).await;
            let visit = Visit {
                all: &self,
                seats: &seats,
                user,
                number,
            };
            begin = visit.run().await + self.page.pause_ns;
            if self.load.workload.cold {
                seats = self.seats(); // those before it close
            }
        }
    }

    fn seats(&self) -> Seats<D> {
        let hosts = self.page.hosts.iter();
        hosts
            .map(|host| {
                let connections = 0..self.load.workload.connections();
                connections.map(|_| Seat::new(host)).collect()
            })
            .collect()
    }
}

/// A user, loading the page.
struct Visit<'a, D: Dialer> {
    all: &'a Visits<D>,
    seats: &'a Seats<D>,
    user: usize,
    number: usize,
}

impl<D: Dialer> Visit<'_, D> {
    /// Returns when the last resource has ended, and that time. All requests are made by the one task, so that those
    /// that have a place at the same moment leave in their order.
    async fn run(&self) -> u64 {
        let (page, connections) = (&self.all.page, self.all.load.workload.connections());
        let mut agenda = Agenda::new(page, connections);
        let mut fetching = FuturesUnordered::new();
        let mut running = FuturesUnordered::new();
        let mut end = now();
        agenda.ask(&[0], end);
        loop {
            while let Some((due, place)) = agenda.deal() {
                fetching.push(self.fetch(due, place));
            }
            tokio::select! {
                biased;
                Some((resource, place, ended)) = fetching.next() => {
                    agenda.free(place);
                    end = ended.at;
                    let (asked, run) = (page.asked_by(resource), page.resources[resource].run_ns);
                    if ended.failed {
                        self.give_up(&page.after(resource), end);
                    } else if run == 0 {
                        agenda.ask(asked, end);
                    } else if !asked.is_empty() {
                        let ran = end + run;
                        running.push(async move {
                            until(ran).await;
                            (resource, ran)
                        });
                    }
                }
                Some((resource, ran)) = running.next() => agenda.ask(page.asked_by(resource), ran),
                else => return end,
            }
        }
    }

    fn sample(&self, resource: usize, start: u64) -> Sample {
        let part = Part {
            visit: self.number,
            resource,
        };
        Sample {
            part: Some(part),
            ..Sample::new(self.all.load.phase(self.number), self.user, start)
        }
    }

    async fn fetch(&self, due: Due, place: Place) -> (usize, Place, Ended) {
        let Due { resource, since } = due;
        let seat = &self.seats[place.host][place.seat];
        let request = &self.all.requests[resource];
        let sample = self.sample(resource, since);
        let ended = self.all.load.perform(seat, request, sample).await;
        (resource, place, ended)
    }

    /// Ends resources, as they begin, that nobody will ask for.
    fn give_up(&self, resources: &[usize], end: u64) {
        for &resource in resources {
            self.all.load.keep(Sample {
                end,
                problem: Some(Problem::Other(NOT_ASKED.to_owned())),
                ..self.sample(resource, end)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use serde_json::{Value, json};

    use super::*;
    use crate::client::connection::{Connection, Exchange};
    use crate::client::facts::Tls;
    use crate::client::workload::Workload;

    const RUN_NS: u64 = 2_000_000;
    const PAUSE_NS: u64 = 3_000_000;

    /// Who answers everything at once, but one path.
    #[derive(Clone, Default)]
    struct Town {
        asked: Arc<Mutex<Vec<String>>>,
    }

    /// One of its houses.
    struct Door {
        town: Town,
        host: String,
    }

    impl Dialer for Town {
        type Connection = Door;

        async fn dial(&self, host: &str) -> Result<(Door, Tls), Problem> {
            tokio::task::yield_now().await;
            let tls = Tls {
                version: String::new(),
                cipher: String::new(),
                key_exchange: String::new(),
                alpn: String::new(),
            };
            let (town, host) = (self.clone(), host.to_owned());
            Ok((Door { town, host }, tls))
        }

        async fn finish(&self) {}
    }

    impl Connection for Door {
        fn is_usable(&self) -> bool {
            true
        }

        async fn perform(&self, request: &Request, held: &mut Exchange) -> Result<(), Problem> {
            assert_eq!(request.authority, self.host);
            self.town.asked.lock().unwrap().push(request.path.clone());
            tokio::task::yield_now().await;
            held.status = if request.path == "/nothing" { 404 } else { 200 };
            Ok(())
        }
    }

    fn resource(path: &str, initiator: Option<usize>, urgency: u32, run_ns: u64) -> Value {
        json!({"path": path, "headers": [], "initiator": initiator, "urgency": urgency, "run_ns": run_ns})
    }

    fn page(resources: Vec<Value>) -> Value {
        json!({
            "h123": "workload/2", "kind": "page", "protocol": "h3", "host": "h123.test", "address": "10.1.0.2",
            "port": 4443, "ca": "ca.pem", "users": 1, "requests": 1, "rate": null, "connections": 1, "cold": true,
            "warmup": 0, "timeout_ns": 9_000_000_000_u64, "seed": 7, "headers": [], "at_once": 100, "page": resources,
        })
    }

    /// The paths in the order in which they were asked for, and the rows of samples.csv.
    async fn visited(document: Value) -> (Vec<String>, Vec<Vec<String>>) {
        let (workload, kind) = Workload::parse(document.to_string().as_bytes()).unwrap();
        let town = Town::default();
        let load = Load::new(town.clone(), workload);
        load.run(kind).await;
        let text = load
            .samples()
            .replace(&format!("\"other: {NOT_ASKED}\""), "not asked");
        let rows = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(str::to_owned).collect());
        (town.asked.lock().unwrap().clone(), rows.collect())
    }

    fn number(row: &[String], column: usize) -> u64 {
        row[column].parse().unwrap()
    }

    const START: usize = 2;
    const END: usize = 6;
    const CONNECTION: usize = 11;
    const RESOURCE: usize = 15;

    #[tokio::test]
    async fn what_is_due_together_leaves_in_its_order() {
        let (asked, _) = visited(page(vec![
            resource("/", None, 0, 0),
            resource("/3", Some(0), 3, 0),
            resource("/1", Some(0), 1, 0),
            resource("/2", Some(0), 2, 0),
            resource("/1b", Some(0), 1, 0),
        ]))
        .await;
        assert_eq!(asked, ["/", "/1", "/1b", "/2", "/3"]);
    }

    #[tokio::test]
    async fn what_fails_takes_along_what_it_would_have_asked_for() {
        let (asked, rows) = visited(page(vec![
            resource("/", None, 0, 0),
            resource("/nothing", Some(0), 0, RUN_NS),
            resource("/next", Some(1), 0, 0),
            resource("/last", Some(2), 0, 0),
            resource("/well", Some(0), 0, 0),
        ]))
        .await;
        assert_eq!(asked, ["/", "/nothing", "/well"]);
        assert_eq!(rows.len(), 5);
        for row in rows {
            let error = match number(&row, RESOURCE) {
                1 => "other: status 404",
                2 | 3 => "not asked",
                _ => "",
            };
            assert_eq!(row[13], error, "{row:?}");
            assert_eq!(row[CONNECTION].is_empty(), row[START] == row[END]);
        }
    }

    #[tokio::test]
    async fn a_resource_is_due_when_its_initiator_has_run_and_a_visit_after_a_pause() {
        let mut document = page(vec![
            resource("/", None, 0, RUN_NS),
            resource("/a", Some(0), 0, 0),
            resource("/b", Some(1), 0, 0),
        ]);
        document["requests"] = json!(2);
        document["warmup"] = json!(1);
        document["pause_ns"] = json!(PAUSE_NS);
        let (_, rows) = visited(document).await;
        assert_eq!(rows.len(), 9);
        for (n, visit) in rows.chunks(3).enumerate() {
            assert_eq!(number(&visit[1], START), number(&visit[0], END) + RUN_NS);
            assert_eq!(number(&visit[2], START), number(&visit[1], END));
            for (resource, row) in visit.iter().enumerate() {
                assert_eq!(row[0], if n == 0 { "warmup" } else { "warm" });
                assert_eq!(row[14..], [n.to_string(), resource.to_string()]);
            }
        }
        for next in [3, 6] {
            assert!(number(&rows[next], START) >= number(&rows[next - 1], END) + PAUSE_NS);
        }
    }

    #[tokio::test]
    async fn visits_have_connections_of_their_own_or_share_their_users() {
        let mut document = page(vec![
            resource("/", None, 0, 0),
            resource("/a", Some(0), 0, 0),
        ]);
        document["users"] = json!(2);
        document["requests"] = json!(3);
        for (cold, connections) in [(true, 6), (false, 2)] {
            document["cold"] = json!(cold);
            let (_, rows) = visited(document.clone()).await;
            let used: BTreeSet<_> = rows.iter().map(|row| row[CONNECTION].clone()).collect();
            assert_eq!(used.len(), connections, "cold: {cold}");
        }
    }

    #[tokio::test]
    async fn each_host_is_asked_on_connections_of_its_own() {
        let mut other = resource("/b", Some(0), 0, 0);
        other["host"] = json!("b.h123.test");
        let (_, rows) = visited(page(vec![
            resource("/", None, 0, 0),
            other,
            resource("/a", Some(0), 0, 0),
        ]))
        .await;
        let used = |resource: &str| {
            &rows.iter().find(|row| row[RESOURCE] == resource).unwrap()[CONNECTION]
        };
        assert_eq!(used("0"), used("2"));
        assert_ne!(used("0"), used("1"));
    }
}
