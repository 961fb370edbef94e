//! skipdb's SerializableDb, in memory. Modes: serializable (serializable_write), optimistic (optimistic_write).
mod hunt;
use hunt::*;
use skipdb::serializable::{OptimisticTransaction, SerializableDb, SerializableTransaction};

struct Skip {
    db: SerializableDb<i64, i64>,
    optimistic: bool,
}

struct Serializable(SerializableTransaction<i64, i64>);
struct Optimistic(OptimisticTransaction<i64, i64>);

impl Store for Skip {
    fn version(&self) -> &'static str {
        "0.2.1"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        if self.optimistic {
            return [&["get", "contains_key"], &["insert"], &[]];
        }
        [&["get", "contains_key", "range"], &["insert"], &["range", "iter", "range_rev", "iter_rev"]]
    }

    fn begin(&'static self, _read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        if self.optimistic {
            return Ok(Box::new(Optimistic(self.db.optimistic_write())));
        }
        Ok(Box::new(Serializable(self.db.serializable_write())))
    }
}

fn refused<E: std::fmt::Debug>(error: E) -> Fail {
    if format!("{error:?}").contains("Conflict") {
        return Fail::Conflict;
    }
    failed(error)
}

macro_rules! common {
    () => {
        fn put(&mut self, _how: usize, key: i64, value: i64) -> Result<(), Fail> {
            self.0.insert(key, value).map_err(refused)
        }

        fn delete(&mut self, key: i64) -> Result<(), Fail> {
            self.0.remove(key).map_err(refused)
        }

        fn commit(mut self: Box<Self>) -> Result<(), Fail> {
            self.0.commit().map_err(refused)
        }

        fn abort(mut self: Box<Self>) {
            let _ = self.0.rollback();
        }
    };
}

impl Txn for Serializable {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        match how {
            0 => Ok(seen(self.0.get(&key).map_err(refused)?.map(|found| *found.value()))),
            1 => Ok(if self.0.contains_key(&key).map_err(refused)? { Seen::Present } else { Seen::Absent }),
            _ => Ok(seen(self.0.range(key..=key).map_err(refused)?.next().map(|row| *row.value()))),
        }
    }

    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        let mut rows: Rows = match how {
            0 => self.0.range(low..=high).map_err(refused)?.map(|row| (*row.key(), *row.value())).collect(),
            1 => self.0.iter().map_err(refused)?.map(|row| (*row.key(), *row.value())).collect(),
            2 => self.0.range_rev(low..=high).map_err(refused)?.map(|row| (*row.key(), *row.value())).collect(),
            _ => self.0.iter_rev().map_err(refused)?.map(|row| (*row.key(), *row.value())).collect(),
        };
        rows.retain(|(key, _)| (low..=high).contains(key));
        rows.sort_unstable();
        Ok(rows)
    }

    common!();
}

impl Txn for Optimistic {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        match how {
            0 => Ok(seen(self.0.get(&key).map_err(refused)?.map(|found| *found.value()))),
            _ => Ok(if self.0.contains_key(&key).map_err(refused)? { Seen::Present } else { Seen::Absent }),
        }
    }

    fn range(&mut self, _how: usize, _low: i64, _high: i64) -> Result<Rows, Fail> {
        Err(Fail::Error("no ranges".into()))
    }

    common!();
}

fn main() {
    hunt::main(|_directory, mode| Box::leak(Box::new(Skip { db: SerializableDb::new(), optimistic: mode == "optimistic" })));
}
