//! The thread between the socket and JavaScript.

use std::error::Error;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token, Waker};

use crate::command::Command;
use crate::event::Event;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::wire::Wire;

const SOCKET: Token = Token(0);
const COMMANDS: Token = Token(1);

pub struct Endpoint {
    poll: Poll,
    wire: Wire,
    sessions: Sessions,
    inbox: Receiver<Command>,
    woken: Arc<AtomicBool>, // a wake-up is on its way: another would say nothing new
    tell: Box<dyn Fn(Vec<Event>) + Send>,
    events: Vec<Event>,
}

impl Endpoint {
    /// Listens as the settings say, and gives what wakes it when there are commands.
    pub fn new(
        settings: &Settings,
        inbox: Receiver<Command>,
        woken: Arc<AtomicBool>,
        tell: Box<dyn Fn(Vec<Event>) + Send>,
    ) -> Result<(Self, Waker), Box<dyn Error>> {
        let address: IpAddr = settings.address.parse()?;
        let mut wire = Wire::bind(SocketAddr::new(address, settings.port))?;
        let http = quiche::h3::Config::new()?;
        let qlog = settings.qlog.as_ref().map(Into::into);
        let sessions = Sessions::new(settings.quic()?, http, qlog, wire.local());
        let poll = Poll::new()?;
        poll.registry().register(
            wire.socket(),
            SOCKET,
            Interest::READABLE | Interest::WRITABLE,
        )?;
        let waker = Waker::new(poll.registry(), COMMANDS)?;
        Ok((
            Self {
                poll,
                wire,
                sessions,
                inbox,
                woken,
                tell,
                events: Vec::new(),
            },
            waker,
        ))
    }

    pub fn run(mut self) {
        let mut readiness = Events::with_capacity(8);
        let mut open = true;
        while open {
            let wait = self.patience();
            match self.poll.poll(&mut readiness, wait) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other.expect("epoll works"),
            }
            self.wire.unblock();
            open = self.obey();
            while self.receive() {
                self.progress();
            }
            self.sessions.expire(Instant::now());
            self.progress();
        }
    }

    /// How long nothing is to be done if nothing happens. A socket without room has to be waited for in any case.
    fn patience(&self) -> Option<Duration> {
        let deadline = self.sessions.deadline().filter(|_| !self.wire.blocked())?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Carries out what JavaScript asked for; false if that was to close.
    fn obey(&mut self) -> bool {
        self.woken.swap(false, Ordering::AcqRel);
        for command in self.inbox.try_iter() {
            match command {
                Command::Stream {
                    session,
                    stream,
                    action,
                } => self.sessions.act(session, stream, action),
                Command::CloseSession(session) => self.sessions.close(session),
                Command::Close => {
                    self.sessions.close_all();
                    return false;
                }
            }
        }
        true
    }

    fn receive(&mut self) -> bool {
        self.wire
            .receive(|packet, from| self.sessions.receive(packet, from, &mut self.events))
    }

    fn progress(&mut self) {
        self.sessions.progress(&mut self.wire, &mut self.events);
        if !self.events.is_empty() {
            (self.tell)(std::mem::take(&mut self.events));
        }
    }
}
