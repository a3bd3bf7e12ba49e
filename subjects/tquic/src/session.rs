//! One connection: HTTP/3 events to answers.

use std::collections::HashMap;

use bytes::{Buf, Bytes};
use h123_common::body::Body;
use h123_common::routes::{Answer, Route, asked};
use tquic::Connection;
use tquic::h3::connection::Http3Connection;
use tquic::h3::{Header, Http3Config, Http3Error, Http3Event, NameValue};

type Result<T> = std::result::Result<T, Http3Error>;

pub struct Session {
    http: Http3Connection,
    /// Bytes received so far, of uploads under way.
    uploads: HashMap<u64, u64>,
    /// Answers under way.
    replies: HashMap<u64, Reply>,
}

/// What is left to send of an answer.
struct Reply {
    head: Option<Vec<Header>>,
    body: Body,
    part: Bytes,
}

impl Session {
    pub fn new(quic: &mut Connection, config: &Http3Config) -> Result<Self> {
        let http = Http3Connection::new_with_quic_conn(quic, config)?;
        Ok(Self {
            http,
            uploads: HashMap::new(),
            replies: HashMap::new(),
        })
    }

    /// Heeds what has arrived. If it breaks HTTP/3's rules, TQUIC closes the connection.
    pub fn advance(&mut self, quic: &mut Connection, buffer: &mut [u8]) {
        while let Ok((stream, event)) = self.http.poll(quic) {
            self.heed(stream, event, quic, buffer);
        }
    }

    fn heed(&mut self, stream: u64, event: Http3Event, quic: &mut Connection, buffer: &mut [u8]) {
        match event {
            Http3Event::Headers { headers, .. } => {
                match asked(headers.iter().map(|field| (field.name(), field.value()))) {
                    Some(Route::Answer(answer)) => self.answer(stream, answer, quic),
                    Some(Route::Upload) => drop(self.uploads.insert(stream, 0)),
                    None => {} // trailers
                }
            }
            Http3Event::Data => {
                while let Ok(length) = self.http.recv_body(quic, stream, buffer) {
                    self.uploads
                        .entry(stream)
                        .and_modify(|count| *count += length as u64);
                }
            }
            Http3Event::Finished => {
                if let Some(count) = self.uploads.remove(&stream) {
                    self.answer(stream, Answer::received(count), quic);
                }
            }
            Http3Event::Reset(_) => self.forget(stream),
            Http3Event::GoAway | Http3Event::PriorityUpdate => {}
        }
    }

    fn answer(&mut self, stream: u64, answer: Answer, quic: &mut Connection) {
        self.replies.insert(stream, Reply::new(answer));
        self.push(stream, quic);
    }

    /// Sends as much of a stream's answer as the connection takes now.
    pub fn push(&mut self, stream: u64, quic: &mut Connection) {
        let Some(mut reply) = self.replies.remove(&stream) else {
            let _ = quic.stream_want_write(stream, false);
            return;
        };
        if let Err(Http3Error::Done | Http3Error::StreamBlocked) =
            reply.push(stream, &mut self.http, quic)
        {
            let _ = quic.stream_want_write(stream, true);
            self.replies.insert(stream, reply);
        } // else it is whole, or the client does not want it
    }

    pub fn forget(&mut self, stream: u64) {
        self.uploads.remove(&stream);
        self.replies.remove(&stream);
    }
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

    fn push(
        &mut self,
        stream: u64,
        http: &mut Http3Connection,
        quic: &mut Connection,
    ) -> Result<()> {
        if let Some(head) = &self.head {
            http.send_headers(quic, stream, head, self.body.left() == 0)?;
            self.head = None;
        }
        loop {
            if self.part.is_empty() {
                match self.body.next() {
                    Some(part) => self.part = part,
                    None => return Ok(()),
                }
            }
            let last = self.body.left() == 0;
            match http.send_body(quic, stream, self.part.clone(), last) {
                Ok(sent) => self.part.advance(sent),
                Err(Http3Error::NoError) => {} // a header that was left behind has gone
                Err(error) => return Err(error),
            }
        }
    }
}
