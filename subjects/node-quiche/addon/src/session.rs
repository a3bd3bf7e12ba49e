//! One client's connection: QUIC, the HTTP/3 in it, and its streams.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use quiche::h3::{self, NameValue};
use quiche::{PathEvent, RecvInfo, Shutdown};

use crate::command::Action;
use crate::event::Event;
use crate::outgoing::Outgoing;
use crate::settings::DATAGRAM;
use crate::wire::Burst;

/// HTTP/3's codes for these.
const NO_ERROR: u64 = 0x100;
const INTERNAL_ERROR: u64 = 0x102;

pub struct Session {
    id: u32,
    quic: quiche::Connection,
    http: Option<h3::Connection>,
    streams: BTreeMap<u64, Stream>,
    held: Option<Held>,
    early: bool,
    secure: bool,
    lost: usize,
}

#[derive(Default)]
struct Stream {
    response: Outgoing,
    readable: bool, // quiche has some of the request's body
    wanted: bool,   // JavaScript has asked for it
    complete: bool, // the request is
}

/// A packet that is made, but whose time has not come.
struct Held {
    packet: Vec<u8>,
    to: SocketAddr,
    at: Instant,
}

impl Session {
    pub fn new(id: u32, quic: quiche::Connection) -> Self {
        Self {
            id,
            quic,
            http: None,
            streams: BTreeMap::new(),
            held: None,
            early: false,
            secure: false,
            lost: 0,
        }
    }

    pub fn quic(&mut self) -> &mut quiche::Connection {
        &mut self.quic
    }

    /// Writes a qlog file into a folder.
    pub fn log(&mut self, folder: &Path) -> std::io::Result<()> {
        let name = self.quic.trace_id().to_owned();
        let file = File::create(folder.join(format!("{name}.sqlog")))?;
        self.quic.set_qlog(
            Box::new(std::io::BufWriter::new(file)),
            "h123 node-quiche".into(),
            name,
        );
        Ok(())
    }

    pub fn receive(&mut self, packet: &mut [u8], from: SocketAddr, to: SocketAddr) {
        // What cannot be used is dropped; a fatal error closes the connection by itself.
        let _ = self.quic.recv(packet, RecvInfo { from, to });
    }

    pub fn act(&mut self, id: u64, action: Action) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        match action {
            Action::Respond { headers, last } => stream.response.respond(headers, last),
            Action::Write(chunk) => stream.response.write(chunk),
            Action::End => stream.response.end(),
            Action::Read => stream.wanted = true,
            Action::Reset(code) => {
                self.streams.remove(&id);
                let _ = self.quic.stream_shutdown(id, Shutdown::Read, code);
                let _ = self.quic.stream_shutdown(id, Shutdown::Write, code);
            }
        }
    }

    pub fn close(&mut self) {
        let _ = self.quic.close(true, NO_ERROR, b"");
    }

    /// When something is to be done although nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        let release = self
            .held
            .as_ref()
            .map(|held| held.at - self.quic.max_release_into_future());
        [release, self.quic.timeout_instant()]
            .into_iter()
            .flatten()
            .min()
    }

    pub fn expire(&mut self, now: Instant) {
        if self.quic.timeout_instant().is_some_and(|at| at <= now) {
            self.quic.on_timeout();
        }
    }

    /// Does all that can be done now but sending packets.
    pub fn progress(&mut self, config: &h3::Config, scratch: &mut [u8], events: &mut Vec<Event>) {
        self.establish(config, events);
        while self.hear(events) | self.read(scratch, events) {}
        self.write(events);
        self.streams
            .retain(|_, stream| !(stream.complete && stream.response.finished()));
        self.watch(events);
    }

    /// The event of the session's end, if it has ended.
    pub fn obituary(&self) -> Option<Event> {
        let named = |error: &quiche::ConnectionError| {
            let proper = error.error_code == if error.is_app { NO_ERROR } else { 0 };
            (!proper).then(|| {
                format!(
                    "error {:#x}: {}",
                    error.error_code,
                    String::from_utf8_lossy(&error.reason)
                )
            })
        };
        let error = match (self.quic.peer_error(), self.quic.local_error()) {
            (Some(error), _) | (None, Some(error)) => named(error),
            (None, None) => self.quic.is_timed_out().then(|| "timed out".to_owned()),
        };
        self.quic.is_closed().then_some(Event::Close {
            session: self.id,
            error,
        })
    }

    fn establish(&mut self, config: &h3::Config, events: &mut Vec<Event>) {
        let established = self.quic.is_established();
        if self.http.is_none() && (established || self.quic.is_in_early_data()) {
            self.early = !established;
            self.http = h3::Connection::with_transport(&mut self.quic, config).ok();
        }
        if established && !self.secure {
            self.secure = true;
            events.push(Event::Secure {
                session: self.id,
                resumed: self.quic.is_resumed(),
                early: self.early,
            });
        }
    }

    /// Takes what HTTP/3 has to say; whether there was anything.
    fn hear(&mut self, events: &mut Vec<Event>) -> bool {
        let Some(http) = &mut self.http else {
            return false;
        };
        let mut heard = false;
        let session = self.id;
        while let Ok((id, event)) = http.poll(&mut self.quic) {
            heard = true;
            let stream = id as i64;
            match event {
                h3::Event::Headers { list, more_frames } => {
                    if self.streams.contains_key(&id) {
                        continue; // trailers
                    }
                    self.streams.entry(id).or_default().complete = !more_frames;
                    events.push(Event::Stream {
                        session,
                        stream,
                        fields: fields(&list),
                        last: !more_frames,
                    });
                }
                h3::Event::Data => {
                    if let Some(known) = self.streams.get_mut(&id) {
                        known.readable = true;
                    }
                }
                h3::Event::Finished => {
                    if let Some(known) = self.streams.get_mut(&id).filter(|known| !known.complete) {
                        known.complete = true;
                        events.push(Event::End { session, stream });
                    }
                }
                h3::Event::Reset(code) => {
                    if self.streams.remove(&id).is_some() {
                        events.push(Event::Reset {
                            session,
                            stream,
                            code: code as i64,
                        });
                    }
                }
                h3::Event::PriorityUpdate | h3::Event::GoAway => {}
            }
        }
        heard
    }

    /// Reads the bodies that are wanted, as much as `scratch` holds of each; whether there was anything.
    fn read(&mut self, scratch: &mut [u8], events: &mut Vec<Event>) -> bool {
        let Some(http) = &mut self.http else {
            return false;
        };
        let mut any = false;
        for (&id, stream) in self
            .streams
            .iter_mut()
            .filter(|(_, stream)| stream.wanted && stream.readable)
        {
            let mut length = 0;
            while stream.readable && length < scratch.len() {
                match http.recv_body(&mut self.quic, id, &mut scratch[length..]) {
                    Ok(read) => length += read,
                    Err(_) => stream.readable = false,
                }
            }
            if length > 0 {
                any = true;
                stream.wanted = false;
                let data = (&scratch[..length]).into();
                events.push(Event::Data {
                    session: self.id,
                    stream: id as i64,
                    data,
                });
            }
        }
        any
    }

    fn write(&mut self, events: &mut Vec<Event>) {
        let Some(http) = &mut self.http else { return };
        let session = self.id;
        self.streams.retain(|&id, stream| {
            let flushed = stream.response.flush(http, &mut self.quic, id);
            if stream.response.drained() {
                events.push(Event::Drain {
                    session,
                    stream: id as i64,
                });
            }
            let Err(error) = flushed else { return true };
            let code = match error {
                h3::Error::TransportError(quiche::Error::StreamStopped(code)) => code,
                _ => INTERNAL_ERROR,
            };
            let _ = self.quic.stream_shutdown(id, Shutdown::Write, code);
            events.push(Event::Reset {
                session,
                stream: id as i64,
                code: code as i64,
            });
            false
        });
    }

    /// Tells of migrations and losses.
    fn watch(&mut self, events: &mut Vec<Event>) {
        while let Some(event) = self.quic.path_event_next() {
            if let PathEvent::PeerMigrated(_, peer) = event {
                events.push(Event::Migrate {
                    session: self.id,
                    address: peer.ip().to_string(),
                    port: peer.port(),
                });
            }
        }
        let lost = self.quic.stats().lost;
        if lost > self.lost {
            events.push(Event::PacketLoss {
                session: self.id,
                packets: (lost - self.lost) as u32,
            });
            self.lost = lost;
        }
    }

    /// Fills a buffer with at most `most` packets that may leave now.
    pub fn fill(&mut self, buffer: &mut [u8], most: usize) -> Option<Burst> {
        let horizon = Instant::now() + self.quic.max_release_into_future();
        let mut burst = self.release(buffer, horizon).ok()?;
        let limit = self
            .quic
            .send_quantum()
            .min(buffer.len())
            .saturating_sub(DATAGRAM);
        for _ in usize::from(burst.is_some())..most {
            let start = burst.map_or(0, |burst| burst.length);
            if start > limit {
                break;
            }
            let Ok((length, info)) = self.quic.send(&mut buffer[start..start + DATAGRAM]) else {
                break;
            };
            let Some(longer) = extended(burst, length, info.to).filter(|_| info.at <= horizon)
            else {
                self.held = Some(Held {
                    packet: buffer[start..start + length].to_vec(),
                    to: info.to,
                    at: info.at,
                });
                break;
            };
            burst = Some(longer);
            if length < longer.segment {
                break;
            }
        }
        burst
    }

    /// Begins a burst with the packet that was held, if there is one. Err if its time has not come.
    fn release(&mut self, buffer: &mut [u8], horizon: Instant) -> Result<Option<Burst>, ()> {
        let Some(held) = self.held.take() else {
            return Ok(None);
        };
        if held.at > horizon {
            self.held = Some(held);
            return Err(());
        }
        buffer[..held.packet.len()].copy_from_slice(&held.packet);
        Ok(extended(None, held.packet.len(), held.to))
    }
}

/// A burst with one more packet, if it can take it.
fn extended(burst: Option<Burst>, length: usize, to: SocketAddr) -> Option<Burst> {
    match burst {
        None => Some(Burst {
            to,
            length,
            segment: length,
        }),
        Some(burst) if burst.to == to && length <= burst.segment => Some(Burst {
            length: burst.length + length,
            ..burst
        }),
        Some(_) => None,
    }
}

/// Names and values in turn.
fn fields(list: &[h3::Header]) -> Vec<String> {
    list.iter()
        .flat_map(|field| [field.name(), field.value()])
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect()
}
