//! What others have of a connection: the handle through which they make requests.

use h123_common::body::Body;
use h123_common::client::{self, Exchange, Problem, Request};
use quiche::h3::Header;
use tokio::sync::mpsc;

/// What a pilot is asked to do.
pub struct Order {
    pub head: Vec<Header>,
    pub body: Body,
    pub news: mpsc::UnboundedSender<News>,
}

/// What happened to a request.
pub enum News {
    Taken(u64),
    Sent {
        at: u64,
    },
    Head {
        at: u64,
        status: u16,
        length: Option<u64>,
    },
    Received(u64),
    Ended(Result<(), Problem>),
}

/// The pilot leaves when its handle has gone; there is one.
pub struct Handle(mpsc::UnboundedSender<Order>);

impl Handle {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Order>) {
        let (orders, received) = mpsc::unbounded_channel();
        (Self(orders), received)
    }
}

impl client::Connection for Handle {
    fn is_usable(&self) -> bool {
        !self.0.is_closed()
    }

    async fn perform(&self, request: &Request, exchange: &mut Exchange) -> Result<(), Problem> {
        let (news, mut received) = mpsc::unbounded_channel();
        let order = Order {
            head: head(request),
            body: Body::block(request.upload),
            news,
        };
        self.0.send(order).map_err(|_| Problem::Reset)?;
        while let Some(news) = received.recv().await {
            match news {
                News::Taken(bytes) => exchange.up += bytes,
                News::Sent { at } => exchange.sent = at,
                News::Head { at, status, length } => {
                    exchange.first_byte = at;
                    exchange.status = status;
                    exchange.announced = length;
                }
                News::Received(bytes) => exchange.down += bytes,
                News::Ended(outcome) => return outcome,
            }
        }
        Err(Problem::Reset)
    }
}

fn head(request: &Request) -> Vec<Header> {
    let field = |name: &str, value: &str| Header::new(name.as_bytes(), value.as_bytes());
    let mut head = vec![
        field(":method", &request.method),
        field(":scheme", "https"),
        field(":authority", &request.authority),
        field(":path", &request.path),
    ];
    let own = request.headers.iter();
    head.extend(own.map(|(name, value)| field(name, value)));
    if request.upload > 0 {
        head.push(field("content-length", &request.upload.to_string()));
    }
    head
}
