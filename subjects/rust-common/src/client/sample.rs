//! samples.csv: one row a request.

use super::connection::Exchange;
use super::problem::Problem;

pub const HEADER: &str = "phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,\
                          bytes_down,protocol,connection,reused,error,group,resource\n";

#[derive(Clone, Copy)]
pub enum Phase {
    Cold,
    Warmup,
    Warm,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warmup => "warmup",
            Self::Warm => "warm",
        }
    }
}

/// The connection that served a request.
#[derive(Clone, Copy)]
pub struct Served {
    pub index: usize,
    pub reused: bool,
}

/// What a request is for, of a page that is being visited.
#[derive(Clone, Copy)]
pub struct Part {
    /// Of its user's.
    pub visit: usize,
    pub resource: usize,
}

pub struct Sample {
    pub phase: Phase,
    pub user: usize,
    pub start: u64,
    pub connected: u64,
    pub end: u64,
    pub served: Option<Served>,
    pub exchange: Exchange,
    pub problem: Option<Problem>,
    pub part: Option<Part>,
}

impl Sample {
    pub fn new(phase: Phase, user: usize, start: u64) -> Self {
        let exchange = Exchange::default();
        Self {
            phase,
            user,
            start,
            connected: 0,
            end: 0,
            served: None,
            exchange,
            problem: None,
            part: None,
        }
    }

    pub fn row(&self) -> String {
        let Exchange {
            sent,
            first_byte,
            status,
            up,
            down,
            ..
        } = self.exchange;
        let times = [self.start, self.connected, sent, first_byte, self.end]
            .map(time)
            .join(",");
        let protocol = self.served.map_or("", |_| "h3");
        let connection = self
            .served
            .map_or(String::new(), |served| served.index.to_string());
        let reused = u8::from(self.served.is_some_and(|served| served.reused));
        let error = self
            .problem
            .as_ref()
            .map_or(String::new(), |problem| quoted(&problem.to_string()));
        let part = self.part.map_or(",".to_owned(), |part| {
            format!("{},{}", part.visit, part.resource)
        });
        let (phase, user) = (self.phase.name(), self.user);
        format!(
            "{phase},{user},{times},{status},{up},{down},{protocol},{connection},{reused},{error},{part}\n"
        )
    }
}

fn time(at: u64) -> String {
    if at == 0 {
        String::new()
    } else {
        at.to_string()
    }
}

/// As CSV wants it; in one line.
fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.contains([',', '"']) {
        format!("\"{}\"", line.replace('"', "\"\""))
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_columns_of_the_header() {
        let mut sample = Sample::new(Phase::Warm, 3, 100);
        sample.end = 200;
        sample.exchange.sent = 120;
        sample.served = Some(Served {
            index: 1,
            reused: true,
        });
        assert_eq!(sample.row(), "warm,3,100,,120,,200,0,0,0,h3,1,1,,,\n");
        assert_eq!(
            sample.row().matches(',').count(),
            HEADER.matches(',').count()
        );
    }

    #[test]
    fn a_row_of_a_page_names_visit_and_resource() {
        let mut sample = Sample::new(Phase::Warmup, 0, 100);
        sample.end = 100;
        sample.part = Some(Part {
            visit: 2,
            resource: 5,
        });
        assert_eq!(sample.row(), "warmup,0,100,,,,100,0,0,0,,,0,,2,5\n");
    }

    #[test]
    fn an_error_is_one_field() {
        let mut sample = Sample::new(Phase::Cold, 0, 1);
        sample.problem = Some(Problem::Other("a, \"b\"\nc".to_owned()));
        assert!(sample.row().ends_with(",\"other: a, \"\"b\"\" c\",,\n"));
    }
}
