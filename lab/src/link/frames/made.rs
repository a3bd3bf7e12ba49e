//! Connections of HTTP/2 and QUIC that tests make, with secrets of their own.

use super::keys::Keys;
use super::quic::made::{Level, Made};
use super::suite::Suite;
use super::{ACK, SYN, Sight, TCP, UDP, http2};
use crate::files::per_direction::{DOWN, UP};

const RANDOM: [u8; 32] = [7; 32];
const PORTS: (u16, u16) = (40001, 4443);
pub const SUITE: Suite = Suite::Aes128;
const SUITE_NUMBER: [u8; 2] = [0x13, 0x01];

/// A secret of one byte's repetition.
pub fn secret(byte: u8) -> Vec<u8> {
    vec![byte; 32]
}

/// What a client logs of these connections.
pub fn keys() -> Keys {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let labels = [
        ("CLIENT_HANDSHAKE_TRAFFIC_SECRET", 1),
        ("SERVER_HANDSHAKE_TRAFFIC_SECRET", 2),
        ("CLIENT_TRAFFIC_SECRET_0", 3),
        ("SERVER_TRAFFIC_SECRET_0", 4),
    ];
    let line = |(label, byte)| format!("{label} {} {}\n", hex(&RANDOM), hex(&secret(byte)));
    Keys::parse(labels.map(line).concat().as_bytes())
}

fn counted(length: usize, body: &[u8]) -> Vec<u8> {
    let count = (body.len() as u64).to_be_bytes();
    [&count[8 - length..], body].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &counted(3, body)].concat()
}

fn hello(kind: u8, suites: &[u8], extension: (u16, &[u8])) -> Vec<u8> {
    let extension = [&extension.0.to_be_bytes()[..], &counted(2, extension.1)].concat();
    let body = [&[3, 3][..], &RANDOM, &[0], suites, &counted(2, &extension)].concat();
    message(kind, &body)
}

pub fn client_hello(parameters: &[u8]) -> Vec<u8> {
    let suites = [&counted(2, &SUITE_NUMBER)[..], &[1, 0]].concat();
    hello(1, &suites, (57, parameters))
}

pub fn server_hello() -> Vec<u8> {
    hello(2, &[&SUITE_NUMBER[..], &[0]].concat(), (43, &[3, 4]))
}

pub fn encrypted_extensions(parameters: &[u8]) -> Vec<u8> {
    let extension = [&[0, 57][..], &counted(2, parameters)].concat();
    message(8, &counted(2, &extension))
}

fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, 3, 3][..], &counted(2, body)].concat()
}

/// Records of data that are at most so long.
fn sealed(byte: u8, data: &[u8], length: usize) -> Vec<u8> {
    let key = SUITE.key(&secret(byte), "key", "iv");
    let record = |(number, data): (usize, &[u8])| {
        let plain = [data, &[23]].concat();
        let head = [&[23, 3, 3][..], &((plain.len() + 16) as u16).to_be_bytes()].concat();
        let body = key.seal(key.nonce(number as u64), &head, &plain);
        [head, body].concat()
    };
    data.chunks(length.max(1)).enumerate().flat_map(record).collect()
}

/// What client and server send of a connection on which they say this after the handshake.
pub fn tls(said: [&[u8]; 2], length: usize) -> [Vec<u8>; 2] {
    let hellos = [client_hello(&[]), server_hello()];
    let said = [[http2::PREFACE, said[UP]].concat(), said[DOWN].to_vec()];
    [UP, DOWN].map(|way| {
        let data = sealed(3 + way as u8, &said[way], length);
        [record(22, &hellos[way]), record(20, &[1]), data].concat()
    })
}

/// A packet a millisecond, each delivered 10 ms later.
pub fn sight(number: usize, way: usize, protocol: u8, payload: &[u8]) -> Sight<'_> {
    Sight {
        at_ns: number as u64 * 1_000_000,
        left_ns: (number + 10) as u64 * 1_000_000,
        way,
        protocol,
        port: PORTS.0,
        server_port: PORTS.1,
        sequence: 0,
        flags: 0,
        payload,
    }
}

/// The segments of both streams, of at most so many bytes, by turns.
pub fn segments(streams: &[Vec<u8>; 2], length: usize) -> Vec<Sight<'_>> {
    let mut sights = vec![];
    for (way, flags) in [(UP, SYN), (DOWN, SYN | ACK)] {
        let number = sights.len();
        sights.push(Sight { flags, ..sight(number, way, TCP, &[]) });
    }
    let mut chunks = [UP, DOWN].map(|way| streams[way].chunks(length.max(1)).enumerate());
    loop {
        let before = sights.len();
        for (way, chunks) in chunks.iter_mut().enumerate() {
            if let Some((index, payload)) = chunks.next() {
                let number = sights.len();
                let sequence = 1 + (index * length.max(1)) as u32;
                sights.push(Sight { sequence, ..sight(number, way, TCP, payload) });
            }
        }
        if sights.len() == before {
            return sights;
        }
    }
}

/// The datagrams of a connection of QUIC whose ends say these frames after the handshake, by turns.
pub fn datagrams(parameters: [&[u8]; 2], said: &[(usize, Vec<u8>)]) -> Vec<(usize, Vec<u8>)> {
    let mut made = Made::default();
    let mut datagrams = vec![
        (UP, made.packet(Level::Initial, UP, &crypto(&client_hello(parameters[UP])))),
        (DOWN, made.packet(Level::Initial, DOWN, &crypto(&server_hello()))),
    ];
    let extensions = crypto(&encrypted_extensions(parameters[DOWN]));
    datagrams.push((DOWN, made.packet(Level::Handshake, DOWN, &extensions)));
    for (way, frames) in said {
        datagrams.push((*way, made.packet(Level::Application, *way, frames)));
    }
    datagrams
}

fn crypto(message: &[u8]) -> Vec<u8> {
    let length = (0x4000 | message.len() as u16).to_be_bytes();
    [&[6, 0][..], &length, message].concat()
}

pub fn sights(datagrams: &[(usize, Vec<u8>)]) -> Vec<Sight<'_>> {
    let each = datagrams.iter().enumerate();
    each.map(|(number, (way, datagram))| sight(number, *way, UDP, datagram)).collect()
}

mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::frames::{Frame, Frames, Kind, Unread};

    fn frame(kind: u8, flags: u8, stream: u32, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), body].concat()
    }

    /// Kind, way, stream, offset, length, value, id, fin.
    fn plain(row: &Frame) -> (Kind, u8, u64, u64, u32, u64, u16, u8) {
        (row.kind, row.way, row.stream, row.offset, row.length, row.value, row.id, row.fin)
    }

    #[test]
    fn frames_of_http2_are_read_wherever_records_and_segments_end() {
        let up = [
            frame(4, 0, 0, &[0, 4, 0, 1, 0, 0, 0, 3, 0, 0, 0, 9]),
            frame(4, 1, 0, &[]),
            frame(1, 5, 1, b"head"),
            frame(8, 0, 1, &[0x80, 0, 1, 0]),
            frame(3, 0, 1, &[0, 0, 0, 8]),
        ];
        let down = [
            frame(1, 4, 1, b"answer"),
            frame(0, 1, 1, &[0; 5000]),
            frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 2]),
            frame(6, 0, 0, &[0; 8]),
            frame(0, 0, 3, b"cut off")[..12].to_vec(),
        ];
        let wanted = [
            (Kind::Setting, 0, 0, 0, 12, 65_536, 4, 0),
            (Kind::Setting, 0, 0, 0, 12, 9, 3, 0),
            (Kind::Headers, 0, 1, 0, 4, 0, 0, 1),
            (Kind::WindowUpdate, 0, 1, 0, 4, 256, 0, 0),
            (Kind::Reset, 0, 1, 0, 4, 8, 0, 0),
            (Kind::Headers, 1, 1, 0, 6, 0, 0, 0),
            (Kind::Data, 1, 1, 0, 5000, 0, 0, 1),
            (Kind::GoAway, 1, 0, 0, 8, 1, 2, 0),
        ];
        for length in [1, 7, 100, 1448, 16384] {
            let streams = tls([&up.concat(), &down.concat()], length);
            for size in [3, 1448] {
                let found = Frames::read(segments(&streams, size).into_iter(), &keys());
                assert!(found.unread.is_empty());
                let mut rows: Vec<_> = found.rows.iter().map(plain).collect();
                rows.sort_by_key(|row| row.1);
                assert_eq!(rows, wanted, "records of {length}, segments of {size}");
                for row in &found.rows {
                    assert!(row.at_ns <= row.sent_ns && row.left_ns >= row.sent_ns + 10_000_000);
                }
            }
        }
    }

    #[test]
    fn frames_of_quic_are_read() {
        let up = vec![0x10, 0x44, 0, 0x0a, 4, 2, 9, 9, 0x12, 5, 0x1c, 3, 0, 0];
        let down = vec![0x0f, 0, 0x40, 9, 1, 7, 0x11, 4, 8, 0x01, 0x15, 4, 7, 0x05, 4, 2];
        let parameters = [&[4, 1, 33, 8, 2, 0x40, 100, 0x20, 1, 9][..], &[9, 1, 3]];
        let datagrams = datagrams(parameters, &[(UP, up), (DOWN, down)]);
        let found = Frames::read(sights(&datagrams).into_iter(), &keys());
        assert!(found.unread.is_empty());
        let rows: Vec<_> = found.rows.iter().map(plain).collect();
        let wanted = [
            (Kind::Setting, 0, 0, 0, 0, 33, 4, 0),
            (Kind::Setting, 0, 0, 0, 0, 100, 8, 0),
            (Kind::Setting, 1, 0, 0, 0, 3, 9, 0),
            (Kind::MaxData, 0, 0, 0, 0, 1024, 0, 0),
            (Kind::Stream, 0, 4, 0, 2, 0, 0, 0),
            (Kind::MaxStreams, 0, 0, 0, 0, 5, 0, 0),
            (Kind::Close, 0, 0, 0, 0, 3, 0, 0),
            (Kind::Stream, 1, 0, 9, 1, 0, 0, 1),
            (Kind::MaxStreamData, 1, 4, 0, 0, 8, 0, 0),
            (Kind::StreamDataBlocked, 1, 4, 0, 0, 7, 0, 0),
            (Kind::StopSending, 1, 4, 0, 0, 2, 0, 0),
        ];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn without_keys_nothing_is_read_and_that_is_said() {
        let streams = tls([&[], &[]], 100);
        let datagrams = datagrams([&[], &[]], &[(UP, vec![1; 30])]);
        let both = segments(&streams, 1448).into_iter().chain(sights(&datagrams));
        let found = Frames::read(both, &Keys::default());
        let said: Vec<_> = found.unread.iter().map(|u| (u.why, u.connections)).collect();
        assert_eq!((found.rows.len(), said), (0, vec![(Unread::NoKeys, 2)]));
    }

    proptest! {
        /// Data of any sizes arrive whole, whatever the records and segments.
        #[test]
        fn all_data_are_counted(
            sizes in prop::collection::vec(0usize..40_000, 1..8),
            record in 1usize..16_384,
            segment in 500usize..1449,
        ) {
            let body: Vec<u8> = sizes.iter().flat_map(|&size| frame(0, 0, 1, &vec![9; size])).collect();
            let streams = tls([&[], &body], record);
            let found = Frames::read(segments(&streams, segment).into_iter(), &keys());
            let lengths: Vec<usize> = found.rows.iter().map(|row| row.length as usize).collect();
            prop_assert_eq!(lengths, sizes);
        }
    }
}
