//! TCP's own account of the connections of all hosts during the main role's run: a trial's tcp.bin (docs/contracts/trial.md).

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

use crate::files::atomic_file::write_whole;
use crate::files::trial::Clock;
use crate::host::inet_diag::Connection;
use crate::host::monotonic::now_ns;
use crate::link::network::Network;

/// Between two looks at first.
const SHORTEST_NS: u64 = 20_000_000;
/// Of the time since the beginning, between two looks later, as processor time is looked at (usage.rs).
const SHARE: u64 = 32;
/// Of what a look has taken, between it and the next one: half a percent of a processor at most, however large the
/// kernel's table is.
const COST: u64 = 200;
/// Under the virtual clock a look takes no time: between two looks at first, and of the time since the beginning later.
const VIRTUAL_NS: u64 = 1_000_000;
const VIRTUAL_SHARE: u64 = 2_000;
/// There the gap also grows with the rows of a look, so that many connections leave room for a long trial.
const VIRTUAL_ROWS: u64 = 5_000;
/// Rows: 12 MB of them.
const MOST: usize = 100_000;
/// Of these for the look at the end, which tells most.
const LAST: usize = 10_000;

#[derive(Debug)]
pub struct TcpAccount {
    clock: Clock,
    began_ns: u64,
    due_ns: u64,
    rows: Vec<Row>,
    /// Those for which there was no room.
    left_out: u64,
    /// A host of which the kernel tells nothing: then there is no account.
    refused: bool,
}

#[derive(Debug)]
struct Row {
    at_ns: u64,
    /// Its position among the trial's hosts.
    host: u16,
    connection: Connection,
}

impl TcpAccount {
    pub fn begin(clock: Clock, now_ns: u64) -> Self {
        let shortest = match clock {
            Clock::Wall => SHORTEST_NS,
            Clock::Virtual => VIRTUAL_NS,
        };
        Self { clock, began_ns: now_ns, due_ns: now_ns + shortest, rows: vec![], left_out: 0, refused: false }
    }

    /// From when on to look next.
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    pub fn look(&mut self, network: &Network) {
        self.take(network, MOST - LAST);
    }

    /// Looks once more, when the main role has ended.
    pub fn end(&mut self, network: &Network) {
        self.take(network, MOST);
    }

    /// Writes the file; returns how many rows it lacks, or None where there is no account.
    pub fn save(&self, dir: &Path) -> Result<Option<u64>> {
        if self.refused {
            return Ok(None);
        }
        write_whole(&dir.join("tcp.bin"), |file| self.write(file))?;
        Ok(Some(self.left_out))
    }

    fn take(&mut self, network: &Network, room: usize) {
        let (at_ns, before) = (now_ns(), self.rows.len());
        for (host, position) in network.hosts.iter().zip(0..) {
            match host.connections() {
                Some(connections) => self.add(at_ns, position, connections, room),
                None => self.refused = true,
            }
        }
        self.due_ns = match self.refused {
            true => u64::MAX,
            false => self.next_ns(at_ns, now_ns() - at_ns, (self.rows.len() - before) as u64),
        };
    }

    fn add(&mut self, at_ns: u64, host: u16, connections: Vec<Connection>, room: usize) {
        for connection in connections {
            if self.rows.len() < room {
                self.rows.push(Row { at_ns, host, connection });
            } else {
                self.left_out += 1;
            }
        }
    }

    /// After a look that took so long and found so many connections.
    fn next_ns(&self, at_ns: u64, took_ns: u64, rows: u64) -> u64 {
        let since_ns = at_ns - self.began_ns;
        let gap = match self.clock {
            Clock::Wall => SHORTEST_NS.max(since_ns / SHARE).max(took_ns.saturating_mul(COST)),
            Clock::Virtual => {
                VIRTUAL_NS.max(since_ns / VIRTUAL_SHARE).max((since_ns / VIRTUAL_ROWS).saturating_mul(rows))
            }
        };
        at_ns + gap
    }

    fn write(&self, file: impl Write) -> io::Result<()> {
        let mut file = io::BufWriter::new(file);
        for row in &self.rows {
            row.write(&mut file)?;
        }
        file.flush()
    }
}

impl Row {
    /// 116 bytes, little endian.
    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let c = &self.connection;
        for number in [
            self.at_ns,
            c.rtt_ns,
            c.bytes_acked,
            c.bytes_received,
            c.busy_ns,
            c.rwnd_limited_ns,
            c.sndbuf_limited_ns,
            c.delivery_rate,
            c.pacing_rate,
        ] {
            file.write_all(&number.to_le_bytes())?;
        }
        for number in
            [c.cwnd, c.ssthresh, c.unacked, c.lost, c.retrans, c.snd_wnd, c.snd_mss, c.sacked, c.notsent_bytes]
        {
            file.write_all(&number.to_le_bytes())?;
        }
        for number in [self.host, c.local_port, c.remote_port] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(&[c.state, c.app_limited.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_close_at_first_and_few_in_the_end() {
        let mut account = TcpAccount::begin(Clock::Wall, 7_000_000_000);
        let mut looks = 0;
        while account.due_ns() < 607_000_000_000 {
            account.due_ns = account.next_ns(account.due_ns, 50_000, 2);
            looks += 1;
        }
        assert!(looks < 300, "{looks} looks");
    }

    #[test]
    fn under_the_virtual_clock_looks_are_close_and_have_room_for_a_long_trial() {
        for connections in [1, 2, 20, 200, 2000] {
            let mut account = TcpAccount::begin(Clock::Virtual, 7_000_000_000);
            let mut looks = vec![];
            while account.due_ns() < 127_000_000_000 {
                looks.push(account.due_ns() - 7_000_000_000);
                account.due_ns = account.next_ns(account.due_ns, 0, connections);
            }
            let rows = looks.len() as u64 * connections;
            assert!(rows < (MOST - LAST) as u64, "{rows} rows");
            if connections <= 2 {
                assert!(looks.iter().take(1000).eq(&(1..=1000).map(|n| n * VIRTUAL_NS).collect::<Vec<_>>()));
                assert!(looks.len() < 12_000, "{} looks", looks.len());
            }
        }
    }

    #[test]
    fn a_slow_look_is_taken_seldom() {
        let account = TcpAccount::begin(Clock::Wall, 0);
        assert_eq!(account.next_ns(20_000_000, 99_000, 9), 40_000_000);
        assert_eq!(account.next_ns(20_000_000, 3_000_000, 9), 620_000_000);
    }

    #[test]
    fn the_last_look_has_room_left() {
        let mut account = TcpAccount::begin(Clock::Wall, 0);
        let many = || vec![Connection::default(); 60_000];
        account.add(1, 0, many(), MOST - LAST);
        account.add(2, 1, many(), MOST - LAST);
        assert_eq!((account.rows.len(), account.left_out), (90_000, 30_000));
        account.add(3, 0, vec![Connection::default(); 3], MOST);
        assert_eq!((account.rows.len(), account.left_out), (90_003, 30_000));
    }

    #[test]
    fn a_row_is_as_the_contract_has_it() {
        let connection = Connection {
            local_port: 0x1234,
            remote_port: 443,
            state: 8,
            rtt_ns: 1,
            bytes_acked: 2,
            bytes_received: 3,
            busy_ns: 4,
            rwnd_limited_ns: 5,
            sndbuf_limited_ns: 6,
            delivery_rate: 7,
            cwnd: 10,
            ssthresh: 11,
            unacked: 12,
            lost: 13,
            retrans: 14,
            snd_wnd: 15,
            snd_mss: 16,
            pacing_rate: 8,
            sacked: 17,
            notsent_bytes: 18,
            app_limited: true,
        };
        let mut account = TcpAccount::begin(Clock::Wall, 0);
        account.add(9, 258, vec![connection], MOST);
        let mut file = vec![];
        account.write(&mut file).unwrap();
        let wide: Vec<u8> = [9u64, 1, 2, 3, 4, 5, 6, 7, 8].iter().flat_map(|n| n.to_le_bytes()).collect();
        let narrow: Vec<u8> = (10u32..=18).flat_map(u32::to_le_bytes).collect();
        let ends = vec![2, 1, 0x34, 0x12, 0xbb, 1, 8, 1];
        assert_eq!(file, [wide, narrow, ends].concat());
    }
}
