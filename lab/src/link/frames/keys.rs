//! The secrets of TLS that a client logged (draft-ietf-tls-keylogfile).

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// In the trial's folder.
pub const FILE: &str = "keys.txt";
/// A connection takes about 1 kB.
const MOST_BYTES: u64 = 64 << 20;

/// The ClientHello's: it names the connection.
pub type Random = [u8; 32];

/// Of one connection; empty: not logged.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// TLS 1.3: the client's early data.
    pub early: Vec<u8>,
    /// TLS 1.3, of the client and of the server.
    pub handshake: [Vec<u8>; 2],
    pub application: [Vec<u8>; 2],
    /// TLS 1.2.
    pub master: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Keys(HashMap<Random, Secrets>);

impl Keys {
    /// Those in a trial's folder. A client that logs none leaves no file.
    pub fn read(dir: &Path) -> Self {
        Self::parse(&contents(dir).unwrap_or_default())
    }

    /// Skips the lines that it does not understand.
    pub fn parse(text: &[u8]) -> Self {
        let mut keys = HashMap::<Random, Secrets>::new();
        for line in text.split(|&byte| byte == b'\n') {
            let Some((label, random, secret)) = entry(line) else {
                continue;
            };
            let place = |secrets: &mut Secrets| match label {
                b"CLIENT_EARLY_TRAFFIC_SECRET" => secrets.early = secret.clone(),
                b"CLIENT_HANDSHAKE_TRAFFIC_SECRET" => secrets.handshake[0] = secret.clone(),
                b"SERVER_HANDSHAKE_TRAFFIC_SECRET" => secrets.handshake[1] = secret.clone(),
                b"CLIENT_TRAFFIC_SECRET_0" => secrets.application[0] = secret.clone(),
                b"SERVER_TRAFFIC_SECRET_0" => secrets.application[1] = secret.clone(),
                b"CLIENT_RANDOM" => secrets.master = secret.clone(),
                _ => {}
            };
            place(keys.entry(random).or_default());
        }
        Self(keys)
    }

    pub fn of(&self, random: &Random) -> Option<&Secrets> {
        self.0.get(random)
    }
}

/// The file as it is. The client may have put anything in its place: only a regular file is read, and not without end.
pub fn contents(dir: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(dir.join(FILE))?;
    let mut bytes = vec![];
    if file.metadata()?.is_file() {
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Label, random, secret.
fn entry(line: &[u8]) -> Option<(&[u8], Random, Vec<u8>)> {
    let mut words = line.trim_ascii().split(|&byte| byte == b' ');
    let (label, random, secret) = (words.next()?, words.next()?, words.next()?);
    let secret = hexadecimal(secret).filter(|secret| matches!(secret.len(), 32 | 48))?;
    Some((label, hexadecimal(random)?.try_into().ok()?, secret))
}

pub fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let (pairs, []) = text.as_chunks::<2>() else {
        return None;
    };
    let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    pairs.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_is_read_line_by_line() {
        let (random, secret) = ("ab".repeat(32), "01".repeat(32));
        let text = format!(
            "# a comment\nCLIENT_TRAFFIC_SECRET_0 {random} {secret}\r\nCLIENT_RANDOM {random} {}\nSERVER_TRAFFIC_SECRET_0 {random} 012\nEXPORTER_SECRET {random} {secret}\n",
            "02".repeat(48)
        );
        let keys = Keys::parse(text.as_bytes());
        let wanted = Secrets { application: [vec![1; 32], vec![]], master: vec![2; 48], ..Secrets::default() };
        assert_eq!(keys.of(&[0xab; 32]), Some(&wanted));
        assert_eq!(keys.of(&[0; 32]), None);
    }

    #[test]
    fn what_is_no_regular_file_is_not_read() {
        let dir = std::env::temp_dir().join(format!("h123-keys-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.join(FILE)).unwrap();
        assert!(contents(&dir).is_err());
        fs::remove_file(dir.join(FILE)).unwrap();
        nix::unistd::mkfifo(&dir.join(FILE), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(contents(&dir).unwrap(), b"");
        fs::remove_dir_all(dir).unwrap();
    }
}
