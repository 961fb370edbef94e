//! The smallest store: a map. Mode locked: one transaction at a time. Mode logged: the same, and what is committed is appended to a file,
//! which is read again when the store is opened. Mode broken: each operation under the lock, not the transaction, so that others read
//! what is not committed.
mod hunt;
use hunt::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, MutexGuard};

struct Memory {
    broken: bool,
    log: Option<File>,
    transaction: Mutex<()>,
    values: Mutex<BTreeMap<i64, i64>>,
}

struct MemoryTxn {
    store: &'static Memory,
    before: BTreeMap<i64, Option<i64>>,
    _lock: Option<MutexGuard<'static, ()>>,
}

impl Store for Memory {
    fn version(&self) -> &'static str {
        "1"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        [&["get"], &["insert"], &["range"]]
    }

    fn begin(&'static self, _read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        let lock = (!self.broken).then(|| self.transaction.lock().expect("the lock"));
        Ok(Box::new(MemoryTxn { store: self, before: BTreeMap::new(), _lock: lock }))
    }
}

impl MemoryTxn {
    fn value(&self, key: i64) -> Option<i64> {
        self.store.values.lock().expect("the map").get(&key).copied()
    }

    fn set(&self, key: i64, value: Option<i64>) {
        let mut values = self.store.values.lock().expect("the map");
        match value {
            Some(value) => values.insert(key, value),
            None => values.remove(&key),
        };
    }

    fn change(&mut self, key: i64, value: Option<i64>) -> Result<(), Fail> {
        let old = self.value(key);
        self.before.entry(key).or_insert(old);
        self.set(key, value);
        Ok(())
    }
}

impl Txn for MemoryTxn {
    fn get(&mut self, _how: usize, key: i64) -> Result<Seen, Fail> {
        Ok(seen(self.value(key)))
    }

    fn put(&mut self, _how: usize, key: i64, value: i64) -> Result<(), Fail> {
        self.change(key, Some(value))
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        self.change(key, None)
    }

    fn range(&mut self, _how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        Ok(self.store.values.lock().expect("the map").range(low..=high).map(|(key, value)| (*key, *value)).collect())
    }

    fn commit(self: Box<Self>) -> Result<(), Fail> {
        let Some(mut log) = self.store.log.as_ref() else { return Ok(()) };
        let changes: Vec<String> = self.before.keys().map(|key| self.value(*key).map_or(key.to_string(), |value| format!("{key}={value}"))).collect();
        if changes.is_empty() {
            return Ok(());
        }
        log.write_all(format!("\n{};\n", changes.join(",")).as_bytes()).map_err(failed) // a line of its own, whatever came before
    }

    fn abort(self: Box<Self>) {
        for (key, value) in &self.before {
            self.set(*key, *value);
        }
    }
}

fn replay(text: &str) -> BTreeMap<i64, i64> {
    let mut values = BTreeMap::new();
    // Of a line without its end the process was killed while it wrote it.
    for change in text.split('\n').filter_map(|line| line.strip_suffix(';')).flat_map(|line| line.split(',')) {
        let (key, value) = change.split_once('=').map_or((change, None), |(key, value)| (key, Some(value)));
        let key = key.parse().expect("a key");
        match value {
            Some(value) => values.insert(key, value.parse().expect("a value")),
            None => values.remove(&key),
        };
    }
    values
}

fn main() {
    hunt::main(|directory, mode| {
        let path = format!("{directory}/log");
        let values = replay(&std::fs::read_to_string(&path).unwrap_or_default());
        let log = (mode == "logged").then(|| File::options().create(true).append(true).open(&path).expect("the log"));
        Box::leak(Box::new(Memory { broken: mode == "broken", log, transaction: Mutex::new(()), values: Mutex::new(values) }))
    });
}
