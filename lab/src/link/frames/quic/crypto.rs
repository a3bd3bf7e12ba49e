//! The handshake's messages, which CRYPTO frames carry in pieces.

use std::collections::BTreeMap;

/// A longer handshake is not put together.
const LONGEST: usize = 1 << 17;
const MOST_PIECES: usize = 1000;

#[derive(Debug, Default)]
pub struct Crypto {
    known: Vec<u8>,
    /// Those that came before what precedes them.
    early: BTreeMap<usize, Vec<u8>>,
}

impl Crypto {
    pub fn add(&mut self, offset: u64, data: &[u8]) {
        let Some(offset) = usize::try_from(offset).ok().filter(|&at| at <= LONGEST) else {
            return;
        };
        if offset > self.known.len() {
            let longer = self.early.get(&offset).is_none_or(|piece| piece.len() < data.len());
            if longer && self.early.len() < MOST_PIECES {
                self.early.insert(offset, data.to_vec());
            }
            return;
        }
        self.append(offset, data);
        while let Some(entry) = self.early.first_entry()
            && *entry.key() <= self.known.len()
        {
            let (offset, piece) = entry.remove_entry();
            self.append(offset, &piece);
        }
    }

    /// Up to the first byte that is missing.
    pub fn known(&self) -> &[u8] {
        &self.known
    }

    fn append(&mut self, offset: usize, data: &[u8]) {
        if let Some(fresh) = data.get(self.known.len() - offset..)
            && self.known.len() + fresh.len() <= LONGEST
        {
            self.known.extend_from_slice(fresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_any_order_make_the_handshake() {
        let mut crypto = Crypto::default();
        crypto.add(7, b"hij");
        crypto.add(4, b"ef");
        assert_eq!(crypto.known(), b"");
        crypto.add(0, b"abcde");
        assert_eq!(crypto.known(), b"abcdef");
        crypto.add(3, b"defg");
        assert_eq!(crypto.known(), b"abcdefghij");
        crypto.add(u64::MAX, b"x");
        crypto.add(20, b"x");
        assert_eq!(crypto.known(), b"abcdefghij");
    }
}
