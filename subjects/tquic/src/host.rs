//! What TQUIC calls when something happens: all connections of an endpoint.

use std::collections::HashMap;
use std::fs::File;
use std::io::LineWriter;
use std::path::PathBuf;

use h123_common::command::Result;
use tquic::h3::Http3Config;
use tquic::{Connection, TransportHandler};

use crate::session::Session;

/// For bodies received.
const BUFFER: usize = 65_536;

pub struct Host {
    http: Http3Config,
    qlog: Option<PathBuf>,
    buffer: Vec<u8>,
    sessions: HashMap<u64, Session>,
}

impl Host {
    pub fn new(qlog: Option<PathBuf>) -> Result<Self> {
        let (http, buffer) = (Http3Config::new()?, vec![0; BUFFER]);
        Ok(Self {
            http,
            qlog,
            buffer,
            sessions: HashMap::new(),
        })
    }

    /// HTTP/3 begins with the handshake's end, or with early data.
    fn greet(&mut self, quic: &mut Connection) {
        let Some(index) = quic.index() else { return };
        if !self.sessions.contains_key(&index)
            && let Ok(session) = Session::new(quic, &self.http)
        {
            self.sessions.insert(index, session);
        }
    }

    fn session(&mut self, quic: &Connection) -> Option<&mut Session> {
        self.sessions.get_mut(&quic.index()?)
    }
}

impl TransportHandler for Host {
    fn on_conn_created(&mut self, quic: &mut Connection) {
        let Some(folder) = &self.qlog else { return };
        if let Ok(file) = File::create(folder.join(format!("{}.sqlog", quic.trace_id()))) {
            let writer = Box::new(LineWriter::new(file));
            quic.set_qlog(writer, "h123 tquic".to_owned(), "server".to_owned());
        }
    }

    fn on_conn_established(&mut self, quic: &mut Connection) {
        self.greet(quic);
    }

    fn on_conn_closed(&mut self, quic: &mut Connection) {
        if let Some(index) = quic.index() {
            self.sessions.remove(&index);
        }
    }

    fn on_stream_created(&mut self, _: &mut Connection, _: u64) {}

    fn on_stream_readable(&mut self, quic: &mut Connection, _: u64) {
        self.greet(quic);
        let Some(index) = quic.index() else { return };
        if let Some(session) = self.sessions.get_mut(&index) {
            session.advance(quic, &mut self.buffer);
        }
    }

    fn on_stream_writable(&mut self, quic: &mut Connection, stream: u64) {
        if let Some(session) = self.session(quic) {
            session.push(stream, quic);
        }
    }

    fn on_stream_closed(&mut self, quic: &mut Connection, stream: u64) {
        if let Some(session) = self.session(quic) {
            session.forget(stream);
        }
    }

    fn on_new_token(&mut self, _: &mut Connection, _: Vec<u8>) {}
}
