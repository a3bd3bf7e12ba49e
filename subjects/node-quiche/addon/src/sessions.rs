//! All sessions of an endpoint, and which packet is whose.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use quiche::{Config, ConnectionId, Header, MAX_CONN_ID_LEN, Type, h3};

use crate::command::Action;
use crate::event::Event;
use crate::session::Session;
use crate::wire::Wire;

/// Bytes of a request's body that JavaScript gets at once.
const CHUNK: usize = 64 << 10;

pub struct Sessions {
    quic: Config,
    http: h3::Config,
    qlog: Option<PathBuf>,
    local: SocketAddr,
    all: HashMap<u32, Session>,
    owners: HashMap<Vec<u8>, u32>, // by connection ID
    touched: BTreeSet<u32>,
    due: BTreeSet<(Instant, u32)>,       // when which is to be woken
    wakes: HashMap<u32, Instant>,        // the same by session
    replies: Vec<(Vec<u8>, SocketAddr)>, // to what belongs to no session
    made: u32,
    scratch: Vec<u8>,
}

impl Sessions {
    pub fn new(quic: Config, http: h3::Config, qlog: Option<PathBuf>, local: SocketAddr) -> Self {
        Self {
            quic,
            http,
            qlog,
            local,
            all: HashMap::new(),
            owners: HashMap::new(),
            touched: BTreeSet::new(),
            due: BTreeSet::new(),
            wakes: HashMap::new(),
            replies: Vec::new(),
            made: 0,
            scratch: vec![0; CHUNK],
        }
    }

    /// Gives a packet to its session, a new one if it begins one.
    pub fn receive(&mut self, packet: &mut [u8], from: SocketAddr, events: &mut Vec<Event>) {
        let Ok(header) = Header::from_slice(packet, MAX_CONN_ID_LEN) else {
            return;
        };
        let known = self.owners.get(header.dcid.as_ref()).copied();
        let Some(id) = known.or_else(|| self.accept(&header, from, events)) else {
            return;
        };
        if let Some(session) = self.all.get_mut(&id) {
            session.receive(packet, from, self.local);
            self.touched.insert(id);
        }
    }

    /// Begins a session, if that is what a packet of nobody's asks for.
    fn accept(
        &mut self,
        header: &Header,
        from: SocketAddr,
        events: &mut Vec<Event>,
    ) -> Option<u32> {
        if header.ty != Type::Initial {
            return None;
        }
        if !quiche::version_is_supported(header.version) {
            let mut answer = vec![0; 256];
            let length = quiche::negotiate_version(&header.scid, &header.dcid, &mut answer).ok()?;
            answer.truncate(length);
            self.replies.push((answer, from));
            return None;
        }
        let name: [u8; MAX_CONN_ID_LEN] = random();
        let quic = quiche::accept(
            &ConnectionId::from_ref(&name),
            None,
            self.local,
            from,
            &mut self.quic,
        )
        .ok()?;
        self.made += 1;
        let id = self.made;
        let mut session = Session::new(id, quic);
        if let Some(folder) = &self.qlog
            && let Err(error) = session.log(folder)
        {
            eprintln!("h123-quiche: no qlog in {}: {error}", folder.display());
        }
        self.all.insert(id, session);
        self.owners.insert(name.to_vec(), id);
        self.owners.insert(header.dcid.to_vec(), id); // the client uses it until it has heard of ours
        events.push(Event::Session {
            session: id,
            address: from.ip().to_string(),
            port: from.port(),
        });
        Some(id)
    }

    pub fn act(&mut self, id: u32, stream: u64, action: Action) {
        if let Some(session) = self.all.get_mut(&id) {
            session.act(stream, action);
            self.touched.insert(id);
        }
    }

    pub fn close(&mut self, id: u32) {
        if let Some(session) = self.all.get_mut(&id) {
            session.close();
            self.touched.insert(id);
        }
    }

    pub fn close_all(&mut self) {
        let ids: Vec<u32> = self.all.keys().copied().collect();
        ids.into_iter().for_each(|id| self.close(id));
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }

    /// Wakes the sessions whose time has come.
    pub fn expire(&mut self, now: Instant) {
        let later = self.due.split_off(&(now, u32::MAX));
        for (_, id) in std::mem::replace(&mut self.due, later) {
            if let Some(session) = self.all.get_mut(&id) {
                session.expire(now);
                self.touched.insert(id);
            }
        }
    }

    /// Lets all sessions to which something happened go on, and sends their packets as long as the wire takes them.
    pub fn progress(&mut self, wire: &mut Wire, events: &mut Vec<Event>) {
        for (answer, to) in self.replies.drain(..) {
            wire.reply(&answer, to);
        }
        for id in std::mem::take(&mut self.touched) {
            let Some(session) = self.all.get_mut(&id) else {
                continue;
            };
            session.progress(&self.http, &mut self.scratch, events);
            name(session, id, &mut self.owners);
            if !wire.send(|buffer, most| session.fill(buffer, most)) {
                self.touched.insert(id); // once more, when the wire is free
            }
            self.bury(id, events);
            self.schedule(id);
        }
    }

    /// Notes when a session is to be woken next.
    fn schedule(&mut self, id: u32) {
        if let Some(before) = self.wakes.remove(&id) {
            self.due.remove(&(before, id));
        }
        if let Some(at) = self.all.get(&id).and_then(Session::deadline) {
            self.wakes.insert(id, at);
            self.due.insert((at, id));
        }
    }

    /// Removes a session that has ended.
    fn bury(&mut self, id: u32, events: &mut Vec<Event>) {
        if let Some(end) = self.all.get(&id).and_then(Session::obituary) {
            events.push(end);
            self.all.remove(&id);
            self.owners.retain(|_, owner| *owner != id);
        }
    }
}

/// Gives a client the connection IDs that it needs for new paths, and forgets those it no longer uses.
fn name(session: &mut Session, id: u32, owners: &mut HashMap<Vec<u8>, u32>) {
    let quic = session.quic();
    while quic.is_established() && quic.scids_left() > 0 {
        let name: [u8; MAX_CONN_ID_LEN] = random();
        let token = u128::from_be_bytes(random());
        if quic
            .new_scid(&ConnectionId::from_ref(&name), token, false)
            .is_err()
        {
            break;
        }
        owners.insert(name.to_vec(), id);
    }
    while let Some(retired) = quic.retired_scid_next() {
        owners.remove(retired.as_ref());
    }
}

fn random<const LENGTH: usize>() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    boring::rand::rand_bytes(&mut bytes).expect("BoringSSL always has random bytes");
    bytes
}
