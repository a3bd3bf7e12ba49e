//! A page: a document, and what asks for what; and of a visit, what is due and which places are free.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;

use super::given::given;

/// One that is asked for, as workload.json has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Where it is, if not at the workload's host.
    #[serde(default, deserialize_with = "given")]
    pub host: Option<String>,
    pub path: String,
    pub headers: Vec<Header>,
    /// Index of what asks for it; none: the document, the first.
    initiator: Option<usize>,
    /// 0 is the most urgent.
    urgency: u32,
    /// From its end until what it asks for is due.
    pub run_ns: u64,
}

/// A field of a request's header.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub name: String,
    pub value: String,
    /// Whether each request has a value of its own.
    pub changes: bool,
}

/// What a workload of the kind `page` has besides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    page: Vec<Resource>,
    at_once: usize,
    #[serde(default, deserialize_with = "given")]
    pause_ns: Option<NonZeroU64>,
}

#[derive(Debug)]
pub struct Page {
    pub resources: Vec<Resource>,
    /// From the end of a user's visit to the beginning of its next one.
    pub pause_ns: u64,
    /// The most requests under way on one connection.
    at_once: usize,
    /// What each asks for, in order.
    asks: Vec<Vec<usize>>,
    /// The hosts that have some of it, and the index of each resource's.
    pub hosts: Vec<String>,
    host_of: Vec<usize>,
}

impl Page {
    /// Of what is written, at `host` where nothing else is said; or what is wrong with it.
    pub fn new(written: Written, host: &str) -> Result<Self, String> {
        let resources = written.page;
        if written.at_once == 0 {
            return Err("at_once is at least 1".to_owned());
        }
        let mut asks = vec![Vec::new(); resources.len()];
        for (index, resource) in resources.iter().enumerate() {
            match resource.initiator {
                None if index == 0 => {}
                Some(asker) if index > 0 && asker < resources.len() => asks[asker].push(index),
                _ => return Err(format!("page[{index}] has no initiator, or one too many")),
            }
        }
        let mut page = Self {
            pause_ns: written.pause_ns.map_or(0, NonZeroU64::get),
            at_once: written.at_once,
            asks,
            hosts: Vec::new(),
            host_of: Vec::new(),
            resources,
        };
        if page.resources.is_empty() || page.after(0).len() + 1 < page.resources.len() {
            return Err("a page has a document, which asks for all else in the end".to_owned());
        }
        page.place(host);
        Ok(page)
    }

    /// Finds out where each resource is.
    fn place(&mut self, own: &str) {
        let mut known = BTreeMap::new();
        for resource in &self.resources {
            let host = resource.host.as_deref().unwrap_or(own);
            let index = *known.entry(host).or_insert_with(|| {
                self.hosts.push(host.to_owned());
                self.hosts.len() - 1
            });
            self.host_of.push(index);
        }
    }

    /// What a resource asks for, in order.
    pub fn asked_by(&self, resource: usize) -> &[usize] {
        &self.asks[resource]
    }

    /// What it asks for, what that asks for, and so on.
    pub fn after(&self, resource: usize) -> Vec<usize> {
        let mut found = self.asks[resource].clone();
        let mut at = 0;
        while let Some(&next) = found.get(at) {
            found.extend(&self.asks[next]);
            at += 1;
        }
        found
    }
}

/// A resource that is to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    pub resource: usize,
    pub since: u64,
}

/// Room for one request on one of a visit's connections to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of one of the page's hosts, and of a connection to it.
    pub host: usize,
    pub seat: usize,
}

/// A visit's resources that wait for a place, and the places that wait for a resource.
pub struct Agenda<'a> {
    page: &'a Page,
    /// The most urgent first, and of those what was due first.
    waiting: Vec<Due>,
    /// Of each host; the last is taken first, so that an open connection goes before a new one.
    free: Vec<Vec<usize>>,
}

impl<'a> Agenda<'a> {
    /// Of a visit that has so many connections to each host.
    pub fn new(page: &'a Page, connections: usize) -> Self {
        let places = (0..connections).rev();
        let places: Vec<_> = places
            .flat_map(|seat| std::iter::repeat_n(seat, page.at_once.min(page.resources.len())))
            .collect();
        Self {
            page,
            waiting: Vec::new(),
            free: vec![places; page.hosts.len()],
        }
    }

    /// Makes resources due, in their order.
    pub fn ask(&mut self, resources: &[usize], since: u64) {
        let due = resources.iter().map(|&resource| Due { resource, since });
        self.waiting.extend(due);
        self.waiting
            .sort_by_key(|due| self.page.resources[due.resource].urgency);
    }

    /// The next that has a place, and which.
    pub fn deal(&mut self) -> Option<(Due, Place)> {
        let host_of = |due: &Due| self.page.host_of[due.resource];
        let next = self
            .waiting
            .iter()
            .position(|due| !self.free[host_of(due)].is_empty())?;
        let due = self.waiting.remove(next);
        let host = self.page.host_of[due.resource];
        let seat = self.free[host].pop()?;
        Some((due, Place { host, seat }))
    }

    /// Takes a place back.
    pub fn free(&mut self, place: Place) {
        self.free[place.host].push(place.seat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "h123.test";

    fn resource(initiator: Option<usize>, urgency: u32) -> Resource {
        Resource {
            host: None,
            path: "/bytes/1".to_owned(),
            headers: Vec::new(),
            initiator,
            urgency,
            run_ns: 0,
        }
    }

    fn elsewhere(initiator: usize) -> Resource {
        Resource {
            host: Some("b.h123.test".to_owned()),
            ..resource(Some(initiator), 0)
        }
    }

    fn page(resources: Vec<Resource>, at_once: usize) -> Result<Page, String> {
        let written = Written {
            page: resources,
            at_once,
            pause_ns: None,
        };
        Page::new(written, HOST)
    }

    fn dealt(agenda: &mut Agenda) -> Vec<(usize, usize, usize)> {
        std::iter::from_fn(|| agenda.deal())
            .map(|(due, place)| (due.resource, place.host, place.seat))
            .collect()
    }

    #[test]
    fn what_has_no_way_from_the_document_is_no_page() {
        let first = || resource(None, 0);
        let asked_by = |initiator| resource(Some(initiator), 0);
        assert!(page(vec![first(), asked_by(2), asked_by(0)], 1).is_ok());
        for wrong in [
            vec![],
            vec![asked_by(0)],
            vec![first(), first()],
            vec![first(), asked_by(2)],
            vec![first(), asked_by(2), asked_by(1)],
            vec![first(), asked_by(1)],
        ] {
            assert!(page(wrong.clone(), 1).is_err(), "{wrong:?}");
        }
        assert!(page(vec![first()], 0).is_err());
    }

    #[test]
    fn who_fails_takes_all_along_that_it_would_have_asked_for() {
        let initiators = [None, Some(0), Some(1), Some(0), Some(2)];
        let page = page(initiators.map(|of| resource(of, 0)).into(), 1).unwrap();
        assert_eq!(page.asked_by(0), [1, 3]);
        assert_eq!(page.after(0), [1, 3, 2, 4]);
        assert_eq!(page.after(1), [2, 4]);
        assert!(page.after(4).is_empty());
    }

    #[test]
    fn the_most_urgent_goes_first_and_of_those_what_was_due_first() {
        let urgencies = [0, 3, 1, 3, 1];
        let resources = urgencies.iter().enumerate();
        let resources = resources.map(|(i, &urgency)| resource((i > 0).then_some(0), urgency));
        let page = page(resources.collect(), 1).unwrap();
        let mut agenda = Agenda::new(&page, 1);
        agenda.ask(&[1, 2, 3], 10);
        agenda.ask(&[4], 20);
        let mut order = Vec::new();
        while let Some((due, place)) = agenda.deal() {
            assert_eq!(agenda.deal(), None, "there is one place");
            order.push((due.resource, due.since));
            agenda.free(place);
        }
        assert_eq!(order, [(2, 10), (4, 20), (1, 10), (3, 10)]);
    }

    #[test]
    fn an_open_connection_goes_before_a_new_one() {
        let page = page(
            vec![
                resource(None, 0),
                resource(Some(0), 0),
                resource(Some(0), 0),
            ],
            1,
        )
        .unwrap();
        let mut agenda = Agenda::new(&page, 2);
        agenda.ask(&[0], 0);
        let (_, place) = agenda.deal().unwrap();
        agenda.free(place);
        agenda.ask(page.asked_by(0), 1);
        assert_eq!(dealt(&mut agenda), [(1, 0, place.seat), (2, 0, 1)]);
    }

    #[test]
    fn at_most_so_many_are_under_way_on_a_connection() {
        let broad = (0..4).map(|i| resource((i > 0).then_some(0), 0));
        let page = page(broad.collect(), 2).unwrap();
        let mut agenda = Agenda::new(&page, 1);
        agenda.ask(page.asked_by(0), 0);
        assert_eq!(dealt(&mut agenda), [(1, 0, 0), (2, 0, 0)]);
    }

    #[test]
    fn each_host_has_places_of_its_own() {
        let page = page(
            vec![
                resource(None, 0),
                resource(Some(0), 0),
                resource(Some(0), 0),
                elsewhere(0),
            ],
            1,
        )
        .unwrap();
        assert_eq!(page.hosts, [HOST, "b.h123.test"]);
        let mut agenda = Agenda::new(&page, 1);
        agenda.ask(page.asked_by(0), 0);
        assert_eq!(dealt(&mut agenda), [(1, 0, 0), (3, 1, 0)]);
        agenda.free(Place { host: 1, seat: 0 });
        assert_eq!(agenda.deal(), None, "what waits is at the other host");
        agenda.free(Place { host: 0, seat: 0 });
        assert_eq!(dealt(&mut agenda), [(2, 0, 0)]);
    }
}
