//! The server's side of one connection: HTTP/3 events to answers.

use std::collections::HashMap;
use std::time::Instant;

use bytes::{Buf, Bytes};
use h123_common::body::Body;
use h123_common::routes::{Answer, Route, asked};
use quiche::h3::{self, Event, Header, NameValue};

/// HTTP/3's H3_INTERNAL_ERROR.
const INTERNAL_ERROR: u64 = 0x102;

pub struct Session {
    pub quic: quiche::Connection,
    http: Option<h3::Connection>,
    /// Bytes received so far, of uploads under way.
    uploads: HashMap<u64, u64>,
    /// Answers under way.
    replies: HashMap<u64, Reply>,
    /// When it has something to do even if nothing arrives.
    pub wake: Option<Instant>,
}

/// What is left to send of an answer.
struct Reply {
    head: Option<Vec<Header>>,
    body: Body,
    part: Bytes,
}

impl Reply {
    fn new(answer: Answer) -> Self {
        let field = |name: &str, value: &str| Header::new(name.as_bytes(), value.as_bytes());
        let head = vec![
            field(":status", answer.status.as_str()),
            field("content-length", &answer.length.to_string()),
        ];
        Self {
            head: Some(head),
            body: answer.body,
            part: Bytes::new(),
        }
    }
}

impl Session {
    pub fn new(quic: quiche::Connection) -> Self {
        Self {
            quic,
            http: None,
            uploads: HashMap::new(),
            replies: HashMap::new(),
            wake: None,
        }
    }

    /// Answers what has arrived, as far as the connection lets it. An error ends the connection.
    pub fn advance(&mut self, config: &h3::Config, buffer: &mut [u8]) {
        if self.speak(config, buffer).is_err() {
            // Where the client broke a rule, quiche has closed it already, with that rule's code.
            let _ = self.quic.close(true, INTERNAL_ERROR, b"");
        }
    }

    fn speak(&mut self, config: &h3::Config, buffer: &mut [u8]) -> h3::Result<()> {
        if self.http.is_none() {
            if !self.quic.is_established() && !self.quic.is_in_early_data() {
                return Ok(());
            }
            self.http = Some(h3::Connection::with_transport(&mut self.quic, config)?);
        }
        while let Some((stream, event)) = self.next_event()? {
            self.heed(stream, event, buffer);
        }
        for stream in self.quic.writable() {
            self.push(stream);
        }
        Ok(())
    }

    fn next_event(&mut self) -> h3::Result<Option<(u64, Event)>> {
        let Some(http) = &mut self.http else {
            return Ok(None);
        };
        match http.poll(&mut self.quic) {
            Ok(event) => Ok(Some(event)),
            Err(h3::Error::Done) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn heed(&mut self, stream: u64, event: Event, buffer: &mut [u8]) {
        match event {
            Event::Headers { list, .. } => {
                match asked(list.iter().map(|field| (field.name(), field.value()))) {
                    Some(Route::Answer(answer)) => self.answer(stream, answer),
                    Some(Route::Upload) => drop(self.uploads.insert(stream, 0)),
                    None => {} // trailers
                }
            }
            Event::Data => self.take(stream, buffer),
            Event::Finished => {
                if let Some(count) = self.uploads.remove(&stream) {
                    self.answer(stream, Answer::received(count));
                }
            }
            Event::Reset(_) => {
                self.uploads.remove(&stream);
                self.replies.remove(&stream);
            }
            Event::PriorityUpdate | Event::GoAway => {}
        }
    }

    /// Counts what has arrived of a request's body.
    fn take(&mut self, stream: u64, buffer: &mut [u8]) {
        let Some(http) = &mut self.http else { return };
        while let Ok(length) = http.recv_body(&mut self.quic, stream, buffer) {
            if let Some(count) = self.uploads.get_mut(&stream) {
                *count += length as u64;
            }
        }
    }

    fn answer(&mut self, stream: u64, answer: Answer) {
        self.replies.insert(stream, Reply::new(answer));
        self.push(stream);
    }

    /// Sends as much of a stream's answer as the connection takes now.
    fn push(&mut self, stream: u64) {
        let Some(mut reply) = self.replies.remove(&stream) else {
            return;
        };
        let Some(http) = &mut self.http else { return };
        if let Err(h3::Error::Done | h3::Error::StreamBlocked) =
            reply.push(stream, http, &mut self.quic)
        {
            self.replies.insert(stream, reply);
        } // else it is whole, or the client does not want it
    }
}

impl Reply {
    fn is_whole(&self) -> bool {
        self.head.is_none() && self.part.is_empty() && self.body.left() == 0
    }

    fn push(
        &mut self,
        stream: u64,
        http: &mut h3::Connection,
        quic: &mut quiche::Connection,
    ) -> h3::Result<()> {
        if let Some(head) = &self.head {
            http.send_response(quic, stream, head, self.body.left() == 0)?;
            self.head = None;
        }
        while !self.is_whole() {
            if self.part.is_empty() {
                self.part = self.body.next().unwrap_or_default();
            }
            let sent = http.send_body(quic, stream, &self.part, self.body.left() == 0)?;
            self.part.advance(sent);
        }
        Ok(())
    }
}
