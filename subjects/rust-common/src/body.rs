//! Bodies: one text, or the block of the contract, repeated and cut.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use sha2::{Digest, Sha256};

const DIGESTS: u32 = 2048;

/// SHA-256 of "h123" and a counter, 2048 times: random, so that nothing on the way can compress it,
/// and always the same, so that a body can be checked.
static BLOCK: LazyLock<Bytes> = LazyLock::new(|| {
    let digest = |counter: u32| {
        Sha256::new()
            .chain_update("h123")
            .chain_update(counter.to_be_bytes())
    };
    (0..DIGESTS)
        .flat_map(|counter| digest(counter).finalize())
        .collect()
});

/// Makes the block now, so that no request has to wait for it.
pub fn make_block() {
    LazyLock::force(&BLOCK);
}

/// The block itself.
pub fn block() -> &'static [u8] {
    &BLOCK
}

/// What is left of a body: `source`, repeated.
pub struct Body {
    source: Bytes,
    left: u64,
}

impl Body {
    pub fn block(length: u64) -> Self {
        Self {
            source: BLOCK.clone(),
            left: length,
        }
    }

    pub fn text(text: String) -> Self {
        Self {
            left: text.len() as u64,
            source: text.into(),
        }
    }

    pub fn empty() -> Self {
        Self::text(String::new())
    }

    pub fn left(&self) -> u64 {
        self.left
    }
}

/// Parts of at most one source's length; none is copied.
impl Iterator for Body {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let length = self.left.min(self.source.len() as u64);
        self.left -= length;
        Some(self.source.slice(..length as usize))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_block_repeated_and_cut() {
        let body: Vec<u8> = Body::block(150_000).flatten().collect();
        assert_eq!(body.len(), 150_000);
        assert_eq!(&body[..32], Sha256::digest(b"h123\0\0\0\0").as_slice());
        assert_eq!(&body[32..64], Sha256::digest(b"h123\0\0\0\x01").as_slice());
        assert_eq!(body[..65_536], body[65_536..131_072]);
        assert_eq!(body[131_072..], body[..150_000 - 131_072]);
    }

    #[test]
    fn nothing_is_no_part() {
        assert!(Body::block(0).next().is_none());
        assert!(Body::empty().next().is_none());
    }
}
