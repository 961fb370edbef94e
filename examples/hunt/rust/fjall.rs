//! fjall's OptimisticTxDatabase. A value v is v bytes, so that size_of tells it.
mod hunt;
use fjall::{KeyspaceCreateOptions, OptimisticTxDatabase, OptimisticTxKeyspace, OptimisticWriteTx, PersistMode, Readable};
use hunt::*;

struct Fjall {
    db: OptimisticTxDatabase,
    keyspace: OptimisticTxKeyspace,
    sizes: bool,
}

struct FjallTxn {
    tx: OptimisticWriteTx,
    store: &'static Fjall,
}

impl Store for Fjall {
    fn version(&self) -> &'static str {
        "3.1.13"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        if self.sizes {
            return [&["size_of"], &["insert"], &[]];
        }
        [&["get", "contains_key", "range", "prefix"], &["insert", "update_fetch", "fetch_update"], &["range", "iter", "range reversed"]]
    }

    fn begin(&'static self, _read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        Ok(Box::new(FjallTxn { tx: self.db.write_tx().map_err(failed)?.durability(durable().then_some(PersistMode::SyncAll)), store: self }))
    }
}

fn value_of(bytes: &[u8]) -> i64 {
    bytes.len() as i64
}

impl Txn for FjallTxn {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        let keyspace = &self.store.keyspace;
        if self.store.sizes {
            return Ok(seen(self.tx.size_of(keyspace, bytes(key)).map_err(failed)?.map(i64::from)));
        }
        match how {
            0 => Ok(seen(self.tx.get(keyspace, bytes(key)).map_err(failed)?.map(|value| value_of(&value)))),
            1 => Ok(if self.tx.contains_key(keyspace, bytes(key)).map_err(failed)? { Seen::Present } else { Seen::Absent }),
            _ => {
                let mut iter = if how == 2 { self.tx.range(keyspace, bytes(key)..=bytes(key)) } else { self.tx.prefix(keyspace, bytes(key)) };
                match iter.next() {
                    None => Ok(Seen::Absent),
                    Some(guard) => Ok(Seen::Value(value_of(&guard.value().map_err(failed)?))),
                }
            }
        }
    }

    fn put(&mut self, how: usize, key: i64, value: i64) -> Result<(), Fail> {
        let keyspace = self.store.keyspace.clone();
        let value = vec![b'.'; value as usize];
        match how {
            0 => self.tx.insert(&keyspace, bytes(key), value),
            1 => drop(self.tx.update_fetch(&keyspace, bytes(key), |_| Some(value.clone().into())).map_err(failed)?),
            _ => drop(self.tx.fetch_update(&keyspace, bytes(key), |_| Some(value.clone().into())).map_err(failed)?),
        }
        Ok(())
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        let keyspace = self.store.keyspace.clone();
        self.tx.remove(&keyspace, bytes(key));
        Ok(())
    }

    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        let keyspace = &self.store.keyspace;
        let mut rows = Vec::new();
        let iter = if how == 1 { self.tx.iter(keyspace) } else { self.tx.range(keyspace, bytes(low)..=bytes(high)) };
        let mut add = |guard: fjall::Guard| -> Result<(), Fail> {
            let (key, value) = guard.into_inner().map_err(failed)?;
            if (low..=high).contains(&number(&key)) {
                rows.push((number(&key), value_of(&value)));
            }
            Ok(())
        };
        if how == 2 {
            iter.rev().try_for_each(&mut add)?;
        } else {
            iter.into_iter().try_for_each(&mut add)?;
        }
        rows.sort_unstable();
        Ok(rows)
    }

    fn commit(self: Box<Self>) -> Result<(), Fail> {
        self.tx.commit().map_err(failed)?.map_err(|_| Fail::Conflict)
    }

    fn abort(self: Box<Self>) {
        self.tx.rollback();
    }
}

fn main() {
    hunt::main(|directory, mode| {
        let db = OptimisticTxDatabase::builder(directory).open().expect("a database");
        let keyspace = db.keyspace("kv", KeyspaceCreateOptions::default).expect("a keyspace");
        Box::leak(Box::new(Fjall { db, keyspace, sizes: mode == "size_of" }))
    });
}
