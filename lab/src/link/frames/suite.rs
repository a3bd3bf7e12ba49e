//! Cipher suites of TLS, and the keys that come of their secrets (RFC 8446, section 7; RFC 5246, section 6.3).

use ring::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey, quic};
use ring::{hkdf, hmac};

pub const IV: usize = 12;
/// Of the tag at the end of what is encrypted.
pub const TAG: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    Aes128,
    Aes256,
    Chacha20,
}

/// A length, as `ring` asks for it.
struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl Suite {
    /// By its number in TLS 1.3.
    pub fn of_tls13(number: u16) -> Option<Self> {
        match number {
            0x1301 => Some(Self::Aes128),
            0x1302 => Some(Self::Aes256),
            0x1303 => Some(Self::Chacha20),
            _ => None,
        }
    }

    /// By its number in TLS 1.2: those that authenticate as they encrypt, which are all that HTTP/2 allows.
    pub fn of_tls12(number: u16) -> Option<Self> {
        match number {
            0x009c | 0x009e | 0xc02b | 0xc02f => Some(Self::Aes128),
            0x009d | 0x009f | 0xc02c | 0xc030 => Some(Self::Aes256),
            0xcca8..=0xccaa => Some(Self::Chacha20),
            _ => None,
        }
    }

    /// Those that a secret of TLS 1.3 of this length can be for.
    pub fn of_secret(length: usize) -> &'static [Self] {
        match length {
            48 => &[Self::Aes256],
            _ => &[Self::Aes128, Self::Chacha20],
        }
    }

    fn aead(self) -> &'static aead::Algorithm {
        match self {
            Self::Aes128 => &aead::AES_128_GCM,
            Self::Aes256 => &aead::AES_256_GCM,
            Self::Chacha20 => &aead::CHACHA20_POLY1305,
        }
    }

    fn header_protection(self) -> &'static quic::Algorithm {
        match self {
            Self::Aes128 => &quic::AES_128,
            Self::Aes256 => &quic::AES_256,
            Self::Chacha20 => &quic::CHACHA20,
        }
    }

    fn hash(self) -> hkdf::Algorithm {
        match self {
            Self::Aes256 => hkdf::HKDF_SHA384,
            _ => hkdf::HKDF_SHA256,
        }
    }

    fn key_bytes(self) -> usize {
        self.aead().key_len()
    }

    /// HKDF-Expand-Label without a context.
    pub fn expand(self, secret: &[u8], label: &str, length: usize) -> Vec<u8> {
        let secret = hkdf::Prk::new_less_safe(self.hash(), secret);
        expand(&secret, label, length)
    }

    /// A key of TLS 1.3 or QUIC, whose labels differ.
    pub fn key(self, secret: &[u8], key: &str, iv: &str) -> Key {
        Key::new(self, &self.expand(secret, key, self.key_bytes()), &self.expand(secret, iv, IV))
    }

    /// QUIC's, for the headers of packets.
    pub fn header_key(self, secret: &[u8], label: &str) -> quic::HeaderProtectionKey {
        let key = self.expand(secret, label, self.key_bytes());
        quic::HeaderProtectionKey::new(self.header_protection(), &key).expect("a key of the algorithm's length")
    }

    /// TLS 1.2: the keys of both ways, client first.
    pub fn key_block(self, master: &[u8], client: &[u8], server: &[u8]) -> [Key; 2] {
        let implicit = match self {
            Self::Chacha20 => IV,
            _ => 4,
        };
        let size = self.key_bytes();
        let seed = [server, client].concat();
        let block = self.prf(master, b"key expansion", &seed, 2 * (size + implicit));
        let (keys, ivs) = block.split_at(2 * size);
        [0, 1].map(|way| {
            let mut iv = [0; IV];
            iv[..implicit].copy_from_slice(&ivs[way * implicit..][..implicit]);
            Key::new(self, &keys[way * size..][..size], &iv)
        })
    }

    /// TLS 1.2's pseudo-random function (RFC 5246, section 5).
    fn prf(self, secret: &[u8], label: &[u8], seed: &[u8], length: usize) -> Vec<u8> {
        let algorithm = match self {
            Self::Aes256 => hmac::HMAC_SHA384,
            _ => hmac::HMAC_SHA256,
        };
        let key = hmac::Key::new(algorithm, secret);
        let seed = [label, seed].concat();
        let (mut out, mut a) = (vec![], seed.clone());
        while out.len() < length {
            a = hmac::sign(&key, &a).as_ref().to_vec();
            out.extend_from_slice(hmac::sign(&key, &[&a[..], &seed].concat()).as_ref());
        }
        out.truncate(length);
        out
    }
}

/// The secrets of QUIC's first packets, of client and server: both ends know them by the first connection ID (RFC 9001,
/// section 5.2).
pub fn initial_secrets(salt: &[u8], id: &[u8]) -> [Vec<u8>; 2] {
    let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(id);
    ["client in", "server in"].map(|label| expand(&secret, label, 32))
}

fn expand(secret: &hkdf::Prk, label: &str, length: usize) -> Vec<u8> {
    let head = [&(length as u16).to_be_bytes()[..], &[6 + label.len() as u8], b"tls13 "].concat();
    let mut out = vec![0; length];
    secret
        .expand(&[&head, label.as_bytes(), &[0]], Length(length))
        .and_then(|okm| okm.fill(&mut out))
        .expect("a length that HKDF can make");
    out
}

/// Opens what was sent one way.
pub struct Key {
    key: LessSafeKey,
    pub iv: [u8; IV],
}

impl Key {
    fn new(suite: Suite, key: &[u8], iv: &[u8]) -> Self {
        let key = UnboundKey::new(suite.aead(), key).expect("a key of the algorithm's length");
        Self { key: LessSafeKey::new(key), iv: iv.try_into().expect("12 bytes") }
    }

    /// Of a record's or packet's number.
    pub fn nonce(&self, number: u64) -> [u8; IV] {
        let mut nonce = self.iv;
        for (byte, of_number) in nonce[IV - 8..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= of_number;
        }
        nonce
    }

    #[cfg(test)]
    pub fn seal(&self, nonce: [u8; IV], head: &[u8], plain: &[u8]) -> Vec<u8> {
        let (nonce, mut sealed) = (Nonce::assume_unique_for_key(nonce), plain.to_vec());
        self.key.seal_in_place_append_tag(nonce, Aad::from(head), &mut sealed).unwrap();
        sealed
    }

    /// Decrypts in place; returns how many bytes of it are plain. What is not opened may be spoilt.
    pub fn open(&self, nonce: [u8; IV], head: &[u8], sealed: &mut [u8]) -> Option<usize> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let plain = self.key.open_in_place(nonce, Aad::from(head), sealed);
        plain.ok().map(|plain| plain.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::frames::keys::hexadecimal;

    fn hex(text: &str) -> Vec<u8> {
        hexadecimal(text.as_bytes()).unwrap()
    }

    /// RFC 9001, appendix A.1 and A.5.
    #[test]
    fn keys_of_quic_are_as_its_specification_has_them() {
        let secret = hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
        let expand = |label, length| Suite::Chacha20.expand(&secret, label, length);
        let key = "c6d98ff3441c3fe1b2182094f69caa2ed4b716b65488960a7a984979fb23e1c8";
        assert_eq!(expand("quic key", 32), hex(key));
        assert_eq!(expand("quic iv", 12), hex("e0459b3474bdd0e44a41c144"));
        let update = "1223504755036d556342ee9361d253421a826c9ecdf3c7148684b36b714881f9";
        assert_eq!(expand("quic ku", 32), hex(update));
    }

    /// A vector that the authors of TLS 1.2 published for its pseudo-random function with SHA-256.
    #[test]
    fn the_pseudo_random_function_of_tls12_gives_its_known_output() {
        let out = Suite::Aes128.prf(
            &hex("9bbe436ba940f017b17652849a71db35"),
            b"test label",
            &hex("a0ba9f936cda311827a6f796ffd5198c"),
            100,
        );
        let known = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66";
        assert_eq!(out, hex(known));
    }
}
