//! The endpoint and a client of quiche's own, over the loopback interface.

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use boring::asn1::Asn1Time;
use boring::ec::{EcGroup, EcKey};
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::x509::X509;
use mio::Waker;
use quiche::h3::{self, Header};
use quiche::{Config, ConnectionId, RecvInfo};

use crate::command::{Action, Command};
use crate::endpoint::Endpoint;
use crate::event::Event;
use crate::settings::Settings;

const PATIENCE: Duration = Duration::from_secs(10);
const BODY: usize = 300_000;

#[test]
fn a_request_is_answered() {
    let (mut served, mut client) = connected("answered");
    client.ask();
    served.until(&mut client, |client, _| client.finished == 1);
    assert_eq!(client.received, BODY);
    let full = |event: &Event| {
        matches!(
            event,
            Event::Secure {
                resumed: false,
                early: false,
                ..
            }
        )
    };
    assert!(served.seen.iter().any(full));
}

#[test]
fn a_client_that_moves_is_followed() {
    let (mut served, mut client) = connected("moves");
    let (new, peer) = (client.sockets[1].local_addr().unwrap(), client.peer);
    served.until(&mut client, |client, _| client.quic.available_dcids() > 0);
    client.quic.probe_path(new, peer).unwrap();
    served.until(&mut client, |client, _| {
        client.quic.is_path_validated(new, peer) == Ok(true)
    });
    client.quic.migrate(new, peer).unwrap();
    client.ask();
    served.until(&mut client, |client, _| client.finished == 1);
    assert_eq!(client.received, BODY);
    let moved = |event: &Event| matches!(event, Event::Migrate { port, .. } if *port == new.port());
    assert!(served.seen.iter().any(moved));
}

#[test]
fn losses_are_repaired_and_told() {
    let (mut served, mut client) = connected("losses");
    client.drop_every = Some(20);
    client.ask();
    served.until(&mut client, |client, _| client.finished == 1);
    assert_eq!(client.received, BODY);
    assert!(
        served
            .seen
            .iter()
            .any(|event| matches!(event, Event::PacketLoss { .. }))
    );
}

#[test]
fn a_session_that_ends_leaves_its_log() {
    let (mut served, mut client) = connected("ends");
    client.quic.close(true, 0x100, b"").unwrap();
    served.until(&mut client, |_, seen| {
        seen.iter()
            .any(|event| matches!(event, Event::Close { error: None, .. }))
    });
    let logs: Vec<PathBuf> = std::fs::read_dir(&served.folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "sqlog"))
        .collect();
    let [log] = logs.as_slice() else {
        panic!("{} logs", logs.len())
    };
    assert!(
        std::fs::read_to_string(log)
            .unwrap()
            .contains("packet_received")
    );
}

/// An endpoint and a client whose handshake is complete.
fn connected(name: &str) -> (Served, Client) {
    let mut served = Served::start(name);
    let mut client = Client::connect(served.port);
    served.until(&mut client, |client, _| client.http.is_some());
    (served, client)
}

/// An endpoint that runs, with a certificate of its own, and what JavaScript would have of it.
struct Served {
    folder: PathBuf,
    port: u16,
    events: Receiver<Vec<Event>>,
    seen: Vec<Event>,
    commands: Sender<Command>,
    waker: Waker,
}

impl Served {
    fn start(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("h123-quiche-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let port = UdpSocket::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let (cert, key) = certificate(&folder);
        let settings = Settings {
            address: "127.0.0.1".into(),
            port,
            cert,
            key,
            groups: "X25519".into(),
            congestion: "cubic".into(),
            initial_window: None,
            stream_window: 1 << 20,
            connection_window: 1 << 20,
            max_streams: 100,
            qlog: Some(folder.to_str().unwrap().into()),
        };
        let (commands, inbox) = channel();
        let (told, events) = channel();
        let tell = Box::new(move |batch| told.send(batch).unwrap());
        let (endpoint, waker) =
            Endpoint::new(&settings, inbox, Arc::new(AtomicBool::new(false)), tell).unwrap();
        std::thread::spawn(move || endpoint.run());
        Self {
            folder,
            port,
            events,
            seen: Vec::new(),
            commands,
            waker,
        }
    }

    /// Answers requests while `client` works, until client and events are as wanted.
    fn until(&mut self, client: &mut Client, wanted: impl Fn(&Client, &[Event]) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !wanted(client, &self.seen) {
            assert!(Instant::now() < end, "it did not come");
            client.work();
            for event in self.events.try_iter().flatten() {
                if let Event::Stream {
                    session, stream, ..
                } = event
                {
                    self.answer(session, stream as u64);
                }
                self.seen.push(event);
            }
        }
    }

    fn answer(&self, session: u32, stream: u64) {
        let headers = vec![Header::new(b":status", b"200")];
        for action in [
            Action::Respond {
                headers,
                last: false,
            },
            Action::Write(vec![7; BODY]),
            Action::End,
        ] {
            self.commands
                .send(Command::Stream {
                    session,
                    stream,
                    action,
                })
                .unwrap();
        }
        self.waker.wake().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Close);
        let _ = self.waker.wake();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A certificate for nobody in particular and its key: the names of their files.
fn certificate(folder: &std::path::Path) -> (String, String) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder
        .set_not_before(&Asn1Time::days_from_now(0).unwrap())
        .unwrap();
    builder
        .set_not_after(&Asn1Time::days_from_now(1).unwrap())
        .unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    let files = [
        ("cert.pem", builder.build().to_pem().unwrap()),
        ("key.pem", key.private_key_to_pem_pkcs8().unwrap()),
    ];
    let [cert, key] = files.map(|(name, content)| {
        std::fs::write(folder.join(name), content).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    });
    (cert, key)
}

struct Client {
    peer: SocketAddr,
    quic: quiche::Connection,
    http: Option<h3::Connection>,
    sockets: Vec<UdpSocket>,
    drop_every: Option<usize>, // packets of the server's
    packets: usize,
    received: usize,
    finished: usize,
}

impl Client {
    fn connect(port: u16) -> Self {
        let mut config = Config::new(quiche::PROTOCOL_VERSION).unwrap();
        config.verify_peer(false);
        config
            .set_application_protos(h3::APPLICATION_PROTOCOL)
            .unwrap();
        config.set_initial_max_data(1 << 20);
        config.set_initial_max_stream_data_bidi_local(1 << 20);
        config.set_initial_max_stream_data_uni(1 << 20);
        config.set_initial_max_streams_uni(3);
        config.set_active_connection_id_limit(4);
        config.set_max_idle_timeout(30_000);
        let sockets: Vec<UdpSocket> = (0..2).map(|_| socket()).collect();
        let peer = SocketAddr::from(([127, 0, 0, 1], port));
        let name = ConnectionId::from_ref(&[7; 16]);
        let quic = quiche::connect(
            None,
            &name,
            sockets[0].local_addr().unwrap(),
            peer,
            &mut config,
        )
        .unwrap();
        Self {
            peer,
            quic,
            http: None,
            sockets,
            drop_every: None,
            packets: 0,
            received: 0,
            finished: 0,
        }
    }

    /// Sends and receives what there is.
    fn work(&mut self) {
        self.send();
        let mut buffer = [0; 65535];
        for socket in &self.sockets {
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                self.packets += 1;
                if self
                    .drop_every
                    .is_none_or(|every| !self.packets.is_multiple_of(every))
                {
                    let info = RecvInfo {
                        from,
                        to: socket.local_addr().unwrap(),
                    };
                    let _ = self.quic.recv(&mut buffer[..length], info);
                }
            }
        }
        if self.quic.timeout().is_some_and(|left| left.is_zero()) {
            self.quic.on_timeout();
        }
        self.hear();
        self.send();
    }

    fn send(&mut self) {
        let mut buffer = [0; 1350];
        while let Ok((length, info)) = self.quic.send(&mut buffer) {
            let socket = self
                .sockets
                .iter()
                .find(|socket| socket.local_addr().unwrap() == info.from)
                .unwrap();
            let _ = socket.send_to(&buffer[..length], info.to);
        }
    }

    fn hear(&mut self) {
        if self.http.is_none() && self.quic.is_established() {
            // For the server's side of a new path.
            self.quic
                .new_scid(&ConnectionId::from_ref(&[8; 16]), 8, false)
                .unwrap();
            self.http = Some(
                h3::Connection::with_transport(&mut self.quic, &h3::Config::new().unwrap())
                    .unwrap(),
            );
        }
        let Some(http) = &mut self.http else { return };
        let mut buffer = [0; 65535];
        while let Ok((id, event)) = http.poll(&mut self.quic) {
            match event {
                h3::Event::Data => {
                    while let Ok(length) = http.recv_body(&mut self.quic, id, &mut buffer) {
                        assert!(buffer[..length].iter().all(|&byte| byte == 7));
                        self.received += length;
                    }
                }
                h3::Event::Finished => self.finished += 1,
                _ => {}
            }
        }
    }

    fn ask(&mut self) {
        let fields = [
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", "h123.test"),
            (":path", "/"),
        ];
        let headers: Vec<Header> = fields
            .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
            .into();
        self.http
            .as_mut()
            .unwrap()
            .send_request(&mut self.quic, &headers, true)
            .unwrap();
    }
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    socket
}
