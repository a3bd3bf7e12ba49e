//! Command lines and exit statuses.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::process::ExitCode;

pub type Result<T> = std::result::Result<T, Failure>;

const FAILED: u8 = 1;
const BAD_INPUT: u8 = 2;
const UNSUPPORTED: u8 = 127;

/// Why a command ended, and the exit status that the contract gives it.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            status: FAILED,
            message: message.into(),
        }
    }

    pub fn bad_input(message: impl Into<String>) -> Self {
        Self {
            status: BAD_INPUT,
            message: message.into(),
        }
    }

    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self {
            status: UNSUPPORTED,
            message: format!("{what} is not supported"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

/// A command's name, and what carries it out.
pub type Command = (&'static str, fn(Flags) -> Result<()>);

/// Runs the command that the arguments name, and tells what came of it.
pub fn run(program: &str, commands: &[Command]) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let outcome = match commands.iter().find(|(known, _)| *known == name) {
        Some((_, command)) => Flags::parse(arguments).and_then(command),
        None => {
            let known: Vec<_> = commands.iter().map(|(known, _)| *known).collect();
            Err(Failure::bad_input(format!(
                "unknown command {name:?}: it is {}",
                known.join(" or ")
            )))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{program}: {failure}");
            ExitCode::from(failure.status)
        }
    }
}

/// The flags of a command, each `--name value`. All that a command knows are required: a subject is
/// started by a program, and a default would hide that program's mistake.
pub struct Flags(HashMap<String, String>);

impl Flags {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut flags = HashMap::new();
        while let Some(argument) = arguments.next() {
            let name = argument
                .strip_prefix("--")
                .ok_or_else(|| Failure::bad_input(format!("unexpected argument {argument:?}")))?;
            let value = arguments
                .next()
                .ok_or_else(|| Failure::bad_input(format!("--{name} has no value")))?;
            flags.insert(name.to_owned(), value);
        }
        Ok(Self(flags))
    }

    pub fn take(&mut self, name: &str) -> Result<String> {
        let value = self.0.remove(name);
        value.ok_or_else(|| Failure::bad_input(format!("--{name} is missing")))
    }

    /// The value of the flag `name` as a number or an address.
    pub fn number<T: std::str::FromStr>(text: &str, name: &str) -> Result<T> {
        text.parse()
            .map_err(|_| Failure::bad_input(format!("--{name} cannot be {text:?}")))
    }

    /// Refuses flags that nobody took.
    pub fn finish(self) -> Result<()> {
        match self.0.into_keys().next() {
            Some(name) => Err(Failure::bad_input(format!("unknown flag --{name}"))),
            None => Ok(()),
        }
    }
}
