//! FluxMap in memory, at its default isolation (serializable). Mode snapshot: IsolationLevel::Snapshot.
mod hunt;
use fluxmap::db::{Database, Handle};
use fluxmap::error::FluxError;
use hunt::*;

struct Flux {
    db: Database<String, String>,
    runtime: tokio::runtime::Runtime,
}

struct FluxTxn {
    handle: Handle<'static, String, String>,
    store: &'static Flux,
}

fn name(key: i64) -> String {
    format!("{key:012}")
}

fn refused(error: FluxError) -> Fail {
    match error {
        FluxError::SerializationConflict => Fail::Conflict,
        other => failed(other),
    }
}

impl Store for Flux {
    fn version(&self) -> &'static str {
        "0.3.7"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        [&["get", "range of one", "prefix_scan"], &["insert"], &["range", "prefix_scan"]]
    }

    fn begin(&'static self, _read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        let mut handle = self.db.handle();
        handle.begin().map_err(refused)?;
        Ok(Box::new(FluxTxn { handle, store: self }))
    }
}

impl Txn for FluxTxn {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        let key = name(key);
        let value = match how {
            0 => self.handle.get(&key).map_err(refused)?,
            1 => self.handle.range(&key, &key).map_err(refused)?.pop().map(|row| row.1),
            _ => self.handle.prefix_scan(&key).map_err(refused)?.pop().map(|row| row.1),
        };
        Ok(seen(value.map(|text| text.parse().expect("a number"))))
    }

    fn put(&mut self, _how: usize, key: i64, value: i64) -> Result<(), Fail> {
        self.store.runtime.block_on(self.handle.insert(name(key), value.to_string())).map_err(refused)
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        self.store.runtime.block_on(self.handle.remove(&name(key))).map(|_| ()).map_err(refused)
    }

    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        let rows = if how == 0 { self.handle.range(&name(low), &name(high)) } else { self.handle.prefix_scan("") }.map_err(refused)?;
        let rows = rows.into_iter().map(|(key, value)| (key.parse().expect("a key"), value.parse().expect("a number")));
        Ok(rows.filter(|(key, _)| (low..=high).contains(key)).collect())
    }

    fn commit(mut self: Box<Self>) -> Result<(), Fail> {
        self.store.runtime.block_on(self.handle.commit()).map_err(refused)
    }

    fn abort(mut self: Box<Self>) {
        let _ = self.handle.rollback();
    }
}

fn main() {
    hunt::main(|_directory, _mode| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let db = runtime.block_on(Database::new_in_memory()).expect("a database");
        Box::leak(Box::new(Flux { db, runtime }))
    });
}
