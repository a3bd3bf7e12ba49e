//! Fuzzers of what the lab is given: trial files, packets, frames within TLS, links at work. Each takes the corpus, then as many random cases as
//! `H123_FUZZ_CASES` says; without it, as many as fit into a second. With the checks that a release leaves out:
//!
//! ```sh
//! cd lab && H123_FUZZ_CASES=1000000 cargo test --profile fuzz --bin h123-lab fuzz:: -- --nocapture --test-threads 1
//! ```
//!
//! `H123_FUZZ_SEED` repeats a run. What failed is printed in the form of the corpus, shrunk: mended, it becomes a part of it.

mod directions;
mod frames;
mod link;
mod numbers;
mod packets;
mod queues;
mod trial;

use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use crate::host::monotonic::unix_ns;

/// What a fuzzer is given, and how the corpus writes it.
trait Input: Debug + Clone {
    fn read(text: &str) -> Self;
    fn write(&self) -> String;
}

/// As JSON.
impl<T: Debug + Clone + serde::Serialize + serde::de::DeserializeOwned> Input for T {
    fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    fn write(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }
}

/// The files of a corpus: name and content.
fn corpus(name: &str) -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("text");
        (file, text)
    };
    files.into_iter().map(read).collect()
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Puts the corpus `name` and `slice` random cases, or as many as are asked for, to the test: it panics where it finds a fault.
fn fuzz<S>(name: &str, slice: u32, strategy: S, test: impl Fn(&S::Value))
where
    S: Strategy,
    S::Value: Input,
{
    for (file, text) in corpus(name) {
        println!("{}", file.display());
        test(&S::Value::read(&text));
    }
    let cases = number("H123_FUZZ_CASES").map_or(slice, |n| n as u32);
    let seed = number("H123_FUZZ_SEED").unwrap_or_else(unix_ns);
    println!("{name}: {cases} cases, H123_FUZZ_SEED={seed}");
    let mut runner = TestRunner::new(Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&strategy, |input| {
        test(&input);
        Ok::<(), TestCaseError>(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => {
            panic!("{why}\nH123_FUZZ_SEED={seed}; for fuzz/corpus/{name}:\n{}", input.write())
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}
