//! A body on its way in, held against the block.

use crate::body::block;

/// What differs from the block, repeated, shows in the body's end.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// In the block.
    at: usize,
    wrong: bool,
}

impl Comparison {
    pub fn take(&mut self, mut piece: &[u8]) {
        let block = block();
        while !piece.is_empty() && !self.wrong {
            let (now, later) = piece.split_at(piece.len().min(block.len() - self.at));
            self.wrong = *now != block[self.at..self.at + now.len()];
            self.at = (self.at + now.len()) % block.len();
            piece = later;
        }
    }

    pub fn is_wrong(&self) -> bool {
        self.wrong
    }
}

/// Whether the answer to a request is the block, repeated and cut.
pub fn is_block(method: &str, path: &str) -> bool {
    let digits = path.strip_prefix("/bytes/").unwrap_or_default();
    method == "GET" && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;

    fn wrong(body: &[u8], size: usize) -> bool {
        let mut held = Comparison::default();
        body.chunks(size).for_each(|piece| held.take(piece));
        held.is_wrong()
    }

    #[test]
    fn each_byte_is_compared_however_the_body_is_cut() {
        let right: Vec<u8> = Body::block(200_001).flatten().collect();
        for size in [1000, 65_536, 65_537, 200_001] {
            assert!(!wrong(&right, size), "pieces of {size}");
            for at in [0, 65_535, 65_536, 131_072, 200_000] {
                let mut body = right.clone();
                body[at] ^= 1;
                assert!(wrong(&body, size), "byte {at} in pieces of {size}");
            }
        }
    }

    #[test]
    fn only_downloads_of_the_block_are_compared() {
        assert!(is_block("GET", "/bytes/100000"));
        for path in [
            "/bytes/",
            "/bytes/+5",
            "/bytes/5?x",
            "/bytes/5/",
            "/other/5",
        ] {
            assert!(!is_block("GET", path), "{path}");
        }
        assert!(!is_block("POST", "/bytes/5"));
    }
}
