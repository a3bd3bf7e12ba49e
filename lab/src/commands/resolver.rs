//! `resolver`: the DNS of one host, which knows one name: the server's addresses (A, AAAA), and by its HTTPS record (RFC 9460)
//! which protocols it speaks. It is asked over the host's loopback, so that looking up takes next to no time.

use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::str::FromStr;

use anyhow::{Context, Result};
use domain::base::iana::Rcode;
use domain::base::message_builder::AnswerBuilder;
use domain::base::{Message, MessageBuilder, Name, Rtype, ToName};
use domain::rdata::svcb::{Https, SvcParams};
use domain::rdata::{A, Aaaa};

use crate::commands::cli::Resolver;
use crate::files::refusal::Refusal;
use crate::roles::nameserver::NAMESERVER;

/// How long answers may be kept: longer than a browser needs them.
const TTL_S: u32 = 3600;
/// Of two servers of a name the one with the lower number is asked; here there is one.
const PRIORITY: u16 = 1;
/// More than any question has.
const LONGEST: usize = 4096;

/// The name, and what is known about it.
struct Zone {
    name: Name<Vec<u8>>,
    /// Where its HTTPS record is: at a port other than 443 below a name of its own.
    service: Name<Vec<u8>>,
    address: Ipv4Addr,
    address6: Option<Ipv6Addr>,
    record: Option<Https<Vec<u8>, Name<Vec<u8>>>>,
}

pub fn resolver(arguments: &Resolver) -> Result<u8, Refusal> {
    serve(arguments).map_err(|e| Refusal::input(format!("{e:#}")))?;
    Ok(0)
}

fn serve(arguments: &Resolver) -> Result<()> {
    let zone = Zone::new(arguments)?;
    let socket = UdpSocket::bind(NAMESERVER).with_context(|| format!("listening at {NAMESERVER}"))?;
    let mut question = [0; LONGEST];
    loop {
        let (length, from) = socket.recv_from(&mut question)?;
        if let Some(answer) = zone.answer(&question[..length]) {
            // Who has gone meanwhile needs none.
            let _ = socket.send_to(&answer, from);
        }
    }
}

impl Zone {
    fn new(arguments: &Resolver) -> Result<Self> {
        let named = |text: &str| Name::from_str(text).with_context(|| format!("{text:?} is not a DNS name"));
        let (name, port) = (named(&arguments.name)?, arguments.at.port());
        let service = match port {
            443 => name.clone(),
            _ => named(&format!("_{port}._https.{}", arguments.name))?,
        };
        let spoken: Vec<_> = arguments.alpn.iter().map(String::as_bytes).collect();
        let mut parameters = domain::rdata::svcb::SvcParamsBuilder::<Vec<u8>>::empty();
        parameters.alpn(&spoken).context("--alpn")?;
        parameters.port(port).context("the port")?;
        let parameters: SvcParams<Vec<u8>> = parameters.freeze().context("the record")?;
        let record = Https::new(PRIORITY, name.clone(), parameters).context("the record")?;
        Ok(Self {
            record: (!spoken.is_empty()).then_some(record),
            name,
            service,
            address: *arguments.at.ip(),
            address6: arguments.at6,
        })
    }

    /// None: what came is no question.
    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let query = Message::from_octets(question).ok()?;
        let asked = query.sole_question().ok().filter(|_| !query.header().qr())?;
        let name = asked.qname();
        let exists = name.name_eq(&self.name) || name.name_eq(&self.service);
        let code = if exists { Rcode::NOERROR } else { Rcode::NXDOMAIN };
        let mut answer = MessageBuilder::new_vec().start_answer(&query, code).ok()?;
        answer.header_mut().set_ra(true);
        self.tell(asked.qtype(), name, &mut answer)?;
        Some(answer.finish())
    }

    /// Nothing, where there is no such record.
    fn tell(&self, wanted: Rtype, name: impl ToName, answer: &mut AnswerBuilder<Vec<u8>>) -> Option<()> {
        let (host, service) = (name.name_eq(&self.name), name.name_eq(&self.service));
        let pushed = match (wanted, self.address6, &self.record) {
            (Rtype::A, ..) if host => answer.push((&self.name, TTL_S, A::new(self.address))),
            (Rtype::AAAA, Some(six), _) if host => answer.push((&self.name, TTL_S, Aaaa::new(six))),
            (Rtype::HTTPS, _, Some(record)) if service => answer.push((&self.service, TTL_S, record.clone())),
            _ => Ok(()),
        };
        pushed.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV4;

    use proptest::prelude::*;

    use super::*;

    fn zone(port: u16) -> Zone {
        Zone::new(&Resolver {
            name: "h123.test".into(),
            at: SocketAddrV4::new(Ipv4Addr::new(10, 1, 0, 2), port),
            at6: (port == 443).then(|| "2001:db8:1::2".parse().unwrap()),
            alpn: vec!["h3".into(), "h2".into()],
        })
        .unwrap()
    }

    fn question(name: &str, wanted: Rtype) -> Vec<u8> {
        let mut query = MessageBuilder::new_vec();
        query.header_mut().set_id(7);
        let mut query = query.question();
        query.push((&Name::<Vec<u8>>::from_str(name).unwrap(), wanted)).unwrap();
        query.finish()
    }

    /// The code, and each record as zone files write it.
    fn answered(port: u16, name: &str, wanted: Rtype) -> (Rcode, Vec<String>) {
        let answer = zone(port).answer(&question(name, wanted)).unwrap();
        let answer = Message::from_octets(answer).unwrap();
        assert!(answer.header().qr() && answer.header().id() == 7);
        let records = answer.answer().unwrap();
        let data = |r: domain::base::ParsedRecord<_>| {
            r.to_any_record::<domain::rdata::AllRecordData<_, _>>().unwrap().data().to_string()
        };
        (answer.header().rcode(), records.map(|r| data(r.unwrap())).collect())
    }

    #[test]
    fn the_name_has_an_address_and_its_port_a_record() {
        let nothing = (Rcode::NOERROR, vec![]);
        let record = (Rcode::NOERROR, vec!["1 h123.test. alpn=h3,h2 port=4443".to_string()]);
        assert_eq!(answered(4443, "h123.test", Rtype::A).1, ["10.1.0.2"]);
        assert_eq!(answered(4443, "H123.Test", Rtype::A).1, ["10.1.0.2"], "whatever the case");
        assert_eq!(answered(4443, "_4443._https.h123.test", Rtype::HTTPS), record);
        assert_eq!(answered(443, "h123.test", Rtype::HTTPS).1.len(), 1, "https's own port");
        assert_eq!(answered(4443, "h123.test", Rtype::AAAA), nothing);
        assert_eq!(answered(443, "h123.test", Rtype::AAAA).1, ["2001:db8:1::2"]);
        assert_eq!(answered(4443, "h123.test", Rtype::HTTPS), nothing, "that would be port 443's");
        assert_eq!(answered(4443, "example.com", Rtype::A), (Rcode::NXDOMAIN, vec![]));
    }

    #[test]
    fn what_cannot_be_a_name_is_refused() {
        let long = "a".repeat(64);
        for bad in ["", "a..b", long.as_str()] {
            let arguments = Resolver { name: bad.into(), at: NAMESERVER, at6: None, alpn: vec![] };
            assert!(Zone::new(&arguments).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_comes_ends_it(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            zone(4443).answer(&bytes);
        }
    }
}
