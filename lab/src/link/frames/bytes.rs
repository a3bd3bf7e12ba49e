//! Numbers in the order of networks, taken from the front of bytes that may end anywhere.

pub struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A number of that many bytes, at most 8.
    pub fn number(&mut self, length: usize) -> Option<u64> {
        let bytes = self.take(length)?;
        Some(bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.number(1).map(|n| n as u8)
    }

    pub fn short(&mut self) -> Option<u16> {
        self.number(2).map(|n| n as u16)
    }

    /// What follows a length of that many bytes.
    pub fn counted(&mut self, length: usize) -> Option<&'a [u8]> {
        let length = self.number(length)?;
        self.take(usize::try_from(length).ok()?)
    }

    /// QUIC's (RFC 9000, section 16).
    pub fn varint(&mut self) -> Option<u64> {
        let length = 1 << (self.rest.first()? >> 6);
        Some(self.number(length)? & (u64::MAX >> (66 - 8 * length as u32)))
    }

    /// What follows a length as QUIC writes it.
    pub fn counted_varint(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_quic_are_as_its_specification_has_them() {
        let read = |bytes: &[u8]| Bytes::new(bytes).varint();
        assert_eq!(read(&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]), Some(151_288_809_941_952_652));
        assert_eq!(read(&[0x9d, 0x7f, 0x3e, 0x7d]), Some(494_878_333));
        assert_eq!(read(&[0x7b, 0xbd]), Some(15_293));
        assert_eq!(read(&[0x25]), Some(37));
        assert_eq!(read(&[0x40, 0x25]), Some(37));
        assert_eq!(read(&[0x40]), None);
        assert_eq!(read(&[]), None);
    }
}
