//! Runs plans of transactions against a store in this process, a thread for each session, and writes histories of assay.
//! `harness DIRECTORY MODE`, then a line `PLAN HISTORY` of standard input for each plan (dev/hunt.d/plans.py).
//!
//! Where HUNT_DURABLE is set, what is committed must survive kill -9, and each line of the history is written at once: what is to be
//! committed before the commit, as pending.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, Write as _};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

pub enum Seen {
    Absent,
    Present, // this way to read tells only that it is there
    Value(i64),
}

/// Conflict: the store refused, and nothing of the transaction remains.
pub enum Fail {
    Conflict,
    Error(String),
}

pub fn failed<E: std::fmt::Debug>(error: E) -> Fail {
    Fail::Error(format!("{error:?}"))
}

pub type Rows = Vec<(i64, i64)>;

/// Stores are leaked, so that transactions may borrow them for ever.
pub trait Store: Sync {
    fn version(&self) -> &'static str;
    /// The ways to read a key, to write one, to read a range.
    fn ways(&self) -> [&'static [&'static str]; 3];
    fn begin(&'static self, read_only: bool) -> Result<Box<dyn Txn>, Fail>;
}

pub trait Txn {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail>;
    fn put(&mut self, how: usize, key: i64, value: i64) -> Result<(), Fail>;
    fn delete(&mut self, key: i64) -> Result<(), Fail>;
    /// In order, both ends included.
    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail>;
    fn commit(self: Box<Self>) -> Result<(), Fail>;
    fn abort(self: Box<Self>);
}

pub fn durable() -> bool {
    std::env::var_os("HUNT_DURABLE").is_some()
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// By the monotonic clock of the machine, which goes on when another process follows this one.
fn now() -> i64 {
    const MONOTONIC: i32 = 1;
    let mut time = [0, 0];
    assert_eq!(unsafe { clock_gettime(MONOTONIC, &mut time) }, 0);
    time[0] * 1_000_000_000 + time[1]
}

/// Where the lines of a session go: to the file at once, or to memory.
struct Out<'a> {
    at_once: Option<&'a File>,
    lines: String,
}

impl Out<'_> {
    fn tell(&mut self, line: &str) {
        match self.at_once {
            None => self.lines.push_str(line),
            Some(mut file) => file.write_all(line.as_bytes()).expect("the history"),
        }
    }
}

pub fn bytes(value: i64) -> [u8; 8] {
    value.to_be_bytes()
}

pub fn number(bytes: &[u8]) -> i64 {
    i64::from_be_bytes(bytes.try_into().expect("eight bytes"))
}

pub fn seen(value: Option<i64>) -> Seen {
    value.map_or(Seen::Absent, Seen::Value)
}

struct Planned {
    read_only: bool,
    commits: bool,
    ops: Vec<(char, [i64; 3])>,
}

pub fn main(open: fn(&str, &str) -> &'static dyn Store) {
    let args: Vec<String> = std::env::args().collect();
    let store = open(&args[1], args.get(2).map_or("", |mode| mode));
    let [reads, writes, ranges] = store.ways();
    println!("{{\"version\":{:?},\"reads\":{reads:?},\"writes\":{writes:?},\"ranges\":{ranges:?}}}", store.version());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let (plan, history) = line.split_once(' ').expect("PLAN HISTORY");
        println!("{}", run_plan(store, plan, history));
    }
    std::process::exit(0);
}

fn run_plan(store: &'static dyn Store, plan: &str, history: &str) -> String {
    let mut sessions: BTreeMap<String, Vec<Planned>> = BTreeMap::new();
    for line in std::fs::read_to_string(plan).expect("the plan").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let mut ops = Vec::new();
        for word in &words[2..words.len() - 1] {
            let mut numbers = [0; 3];
            for (i, text) in word.split(':').skip(1).enumerate() {
                numbers[i] = text.parse().expect("a number");
            }
            ops.push((word.chars().next().expect("an operation"), numbers));
        }
        let planned = Planned { read_only: words[1] == "q", commits: words[words.len() - 1] == "c", ops };
        sessions.entry(words[0].to_string()).or_default().push(planned);
    }
    let barrier = Barrier::new(sessions.len());
    let counts: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let errors: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let mut file = File::options().create(true).append(true).open(history).expect("the history");
    file.set_len(0).expect("the history");
    file.write_all(b"{\"assay\":1}\n").expect("the history");
    let at_once = durable().then_some(&file);
    let outs: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .iter()
            .map(|(name, plans)| {
                let (barrier, counts, errors) = (&barrier, &counts, &errors);
                scope.spawn(move || {
                    let mut out = Out { at_once, lines: String::new() };
                    barrier.wait();
                    for (i, planned) in plans.iter().enumerate() {
                        run_txn(store, name, i, planned, &mut out, counts, errors);
                    }
                    out.lines
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a session")).collect()
    });
    file.write_all(outs.concat().as_bytes()).expect("the history");
    let list = |map: &BTreeMap<String, u64>| map.iter().map(|(name, count)| format!("{:?}:{count}", name.replace(['\\', '"'], "'"))).collect::<Vec<_>>().join(",");
    let (counts, errors) = (counts.into_inner().expect("counts"), errors.into_inner().expect("errors"));
    format!("{{{},\"errors\":{{{}}}}}", list(&counts), list(&errors))
}

fn run_op(txn: &mut Box<dyn Txn>, what: char, [how, key, value]: [i64; 3], done: &mut String) -> Result<(), Fail> {
    let how = how as usize;
    match what {
        'r' | 'd' => {
            let found = txn.get(how, key)?;
            match found {
                Seen::Absent => write!(done, ",[\"r\",{key},null]"),
                Seen::Present => write!(done, ",[\"insert\",{key},0,false]"),
                Seen::Value(value) => write!(done, ",[\"r\",{key},{value}]"),
            }
            .expect("text");
            if what == 'd' && !matches!(found, Seen::Absent) {
                txn.delete(key)?;
                write!(done, ",[\"d\",{key},{value}]").expect("text");
            }
        }
        'w' => {
            txn.put(how, key, value)?;
            write!(done, ",[\"w\",{key},{value}]").expect("text");
        }
        _ => {
            let rows = txn.range(how, key, value)?.iter().map(|(key, value)| format!("[{key},{value}]")).collect::<Vec<_>>().join(",");
            write!(done, ",[\"range\",{key},{value},[{rows}]]").expect("text");
        }
    }
    Ok(())
}

fn run_txn(store: &'static dyn Store, name: &str, number: usize, planned: &Planned, out: &mut Out, counts: &Mutex<BTreeMap<String, u64>>,
           errors: &Mutex<BTreeMap<String, u64>>) {
    let (begin, mut first, mut asked, mut done) = (now(), 0, 0, String::new());
    let result = store.begin(planned.read_only).and_then(|mut txn| {
        for (what, numbers) in &planned.ops {
            if *what == 'z' {
                if numbers[0] == 0 {
                    std::thread::yield_now();
                } else {
                    std::thread::sleep(Duration::from_micros(numbers[0] as u64));
                }
                continue;
            }
            if let Err(fail) = run_op(&mut txn, *what, *numbers, &mut done) {
                txn.abort();
                return Err(fail);
            }
            if first == 0 {
                first = now();
            }
        }
        if out.at_once.is_some() && planned.commits {
            let first = if first > 0 { first } else { now() };
            out.tell(&line_of(name, number, "pending", [begin, first], "", &done));
        }
        asked = now();
        if !planned.commits {
            txn.abort();
            return Ok("aborted");
        }
        txn.commit().map(|()| "committed")
    });
    let ended = now();
    let status = match result {
        Ok(status) => status,
        Err(Fail::Conflict) => "aborted",
        Err(Fail::Error(text)) => {
            *errors.lock().expect("errors").entry(text).or_default() += 1;
            if asked > 0 {
                "unknown"
            } else {
                "aborted"
            }
        }
    };
    let first = if first > 0 { first } else { ended };
    let asked = if asked > 0 { asked } else { ended };
    let end = if status == "unknown" { "null".to_string() } else { ended.to_string() };
    out.tell(&line_of(name, number, status, [begin, first], &format!(",\"end\":[{asked},{end}]"), &done));
    *counts.lock().expect("counts").entry(status.to_string()).or_default() += 1;
}

fn line_of(name: &str, number: usize, status: &str, [begin, first]: [i64; 2], end: &str, done: &str) -> String {
    let ops = done.strip_prefix(',').unwrap_or("");
    format!("{{\"session\":{name},\"txn\":\"{name}-{number}\",\"status\":\"{status}\",\"begin\":[{begin},{first}]{end},\"ops\":[{ops}]}}\n")
}
