//! Judges the transactions that an application does on PostgreSQL during a test.
//!
//! ```no_run
//! # let database = String::new();
//! let recording = assay_isolation::record(&database, "serializable");
//! // … the application connects to recording.url …
//! ```
//!
//! When the recording is dropped, at the end of the test, it panics unless what was recorded satisfies the level, and where nothing was
//! recorded. It works with every client of PostgreSQL, synchronous or not.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::panic::Location;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, process, thread};

/// The time from its start until it is dropped. What connects to its URL is to be declared after it, so that it is dropped before.
#[must_use = "it ends where it is dropped"]
pub struct Recording {
    /// By which the application reaches the database.
    pub url: String,
    level: String,
    folder: PathBuf,
    recorder: Child,
    notes: BufReader<ChildStderr>,
}

/// Starts `assay record` in front of a database. The program is what ASSAY_PROGRAM names, or `assay` on the PATH.
///
/// # Panics
/// If nothing can be recorded, with the reason.
#[track_caller]
pub fn record(database: &str, level: &str) -> Recording {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("assay-{}-{number}", process::id()));
    fs::create_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let program = env::var_os("ASSAY_PROGRAM").unwrap_or_else(|| "assay".into());
    let verdict = File::create(folder.join("verdict")).expect("a folder that was just made can be written");
    let test = Location::caller();
    let mut recorder = Command::new(&program)
        .args(["record", "--listen", "127.0.0.1:0", "--level", level, "--until-input-ends", "--history"])
        .arg(folder.join("history.jsonl"))
        .args(["--test", &format!("{}:{}", test.file(), test.line())])
        .env("ASSAY_DATABASE_URL", database) // who lists processes does not see a password there
        .stdin(Stdio::piped())
        .stdout(verdict)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program:?}: {error}; expected assay on the PATH or in ASSAY_PROGRAM"));
    let mut notes = BufReader::new(recorder.stderr.take().expect("it is piped"));
    let mut said = String::new();
    loop {
        let mut line = String::new();
        if notes.read_line(&mut line).unwrap_or(0) == 0 {
            let _ = recorder.wait();
            panic!("cannot record\n{said}");
        }
        if let Some(address) = address_in(&line) {
            let url = through(database, address);
            return Recording { url, level: level.into(), folder, recorder, notes };
        }
        said += &line;
    }
}

fn address_in(line: &str) -> Option<&str> {
    let (_, url) = line.split_once("listening: ")?.1.split_once("postgresql://")?;
    url.split(['/', ',', ' ']).next()
}

/// The same URL with another host and port.
fn through(database: &str, address: &str) -> String {
    let (scheme, rest) = database.split_once("://").unwrap_or(("postgresql", database));
    let (place, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let user = place.rfind('@').map_or("", |at| &place[..=at]);
    let (path, options) = path.split_once('?').unwrap_or((path, ""));
    let options = options.split('&').filter(|option| !option.is_empty() && !option.starts_with("sslmode="));
    // The recorder is on this machine, and speaks no TLS.
    let options: Vec<&str> = options.chain(["sslmode=disable"]).collect();
    format!("{scheme}://{user}{address}{path}?{}", options.join("&"))
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.recorder.stdin.take()); // ends it
        let mut notes = String::new();
        let _ = self.notes.read_to_string(&mut notes);
        let ended = self.recorder.wait();
        let verdict = fs::read_to_string(self.folder.join("verdict")).unwrap_or_default();
        match ended {
            Ok(status) if status.success() => {
                println!("{verdict}");
                let _ = fs::remove_dir_all(&self.folder);
            }
            _ if thread::panicking() => eprintln!("{} is not confirmed\n{verdict}{notes}", self.level),
            Ok(status) => panic!("{} is not confirmed ({status})\n{verdict}{notes}", self.level),
            Err(error) => panic!("{} is not confirmed: {error}\n{verdict}{notes}", self.level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{address_in, through};

    #[test]
    fn urls_lead_through_the_recorder() {
        let there = "127.0.0.1:7";
        for (given, expected) in [
            ("postgresql://me:a@b@db:5432/shop", "postgresql://me:a@b@127.0.0.1:7/shop?sslmode=disable"),
            ("postgres://db?application_name=a&sslmode=require", "postgres://127.0.0.1:7?application_name=a&sslmode=disable"),
            ("postgresql://db", "postgresql://127.0.0.1:7?sslmode=disable"),
        ] {
            assert_eq!(through(given, there), expected);
        }
    }

    #[test]
    fn the_address_is_found() {
        assert_eq!(address_in("assay: listening: connect the application to postgresql://127.0.0.1:7/shop, with"), Some("127.0.0.1:7"));
        assert_eq!(address_in("assay: warning"), None);
    }
}
