//! `validate`: whether `run` would take a trial file, for as many as are asked.

use std::io;
use std::path::Path;

use crate::files::refusal::Refusal;
use crate::files::roots::Roots;
use crate::files::trial::Trial;

/// Answers each line of standard input, the content of a trial file, with one of JSON: null, or why it is refused.
pub fn validate() -> Result<u8, Refusal> {
    let roots = Roots::none(Path::new("/"));
    for line in io::stdin().lines() {
        let line = line.map_err(|e| Refusal::input(format!("cannot read standard input: {e}")))?;
        let refusal = Trial::parse(&line, &roots).err();
        println!("{}", serde_json::json!(refusal));
    }
    Ok(0)
}
