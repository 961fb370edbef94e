//! SurrealMX in memory. Modes: serializable (its default for writers), snapshot.
mod hunt;
use hunt::*;
use surrealmx::{Database, Error, Transaction};

struct Mx {
    db: Database,
    snapshot: bool,
}

struct MxTxn(Transaction);

fn refused(error: Error) -> Fail {
    match error {
        Error::KeyReadConflict | Error::KeyWriteConflict => Fail::Conflict,
        other => failed(other),
    }
}

fn key_of(key: i64) -> Vec<u8> {
    bytes(key).to_vec()
}

impl Store for Mx {
    fn version(&self) -> &'static str {
        "1.1.0"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        [&["get", "exists", "with_value", "getm", "scan", "keys", "total"], &["set"], &["scan", "scan_reverse", "keys, get", "scan_iter", "scan_for_each"]]
    }

    fn begin(&'static self, read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        let tx = self.db.transaction(!read_only);
        Ok(Box::new(MxTxn(if self.snapshot { tx.with_snapshot_isolation() } else { tx.with_serializable_snapshot_isolation() })))
    }
}

impl Txn for MxTxn {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        let there = |there: bool| if there { Seen::Present } else { Seen::Absent };
        let one = key_of(key)..key_of(key + 1);
        match how {
            0 => Ok(seen(self.0.get(key_of(key)).map_err(refused)?.map(|value| number(&value)))),
            1 => Ok(there(self.0.exists(key_of(key)).map_err(refused)?)),
            2 => Ok(seen(self.0.with_value(key_of(key), |value| number(value)).map_err(refused)?)),
            3 => Ok(seen(self.0.getm(vec![key_of(key)]).map_err(refused)?.pop().flatten().map(|value| number(&value)))),
            4 => Ok(seen(self.0.scan(one, None, Some(1)).map_err(refused)?.pop().map(|row| number(&row.1)))),
            5 => Ok(there(!self.0.keys(one, None, None).map_err(refused)?.is_empty())),
            _ => Ok(there(self.0.total(one, None, None).map_err(refused)? > 0)),
        }
    }

    fn put(&mut self, _how: usize, key: i64, value: i64) -> Result<(), Fail> {
        self.0.set(key_of(key), key_of(value)).map_err(refused)
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        self.0.del(key_of(key)).map_err(refused)
    }

    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        let all = key_of(low)..key_of(high + 1);
        let mut rows: Rows = Vec::new();
        match how {
            0 => rows.extend(self.0.scan(all, None, None).map_err(refused)?.iter().map(|(key, value)| (number(key), number(value)))),
            1 => rows.extend(self.0.scan_reverse(all, None, None).map_err(refused)?.iter().map(|(key, value)| (number(key), number(value)))),
            2 => {
                for key in self.0.keys(all, None, None).map_err(refused)? {
                    let value = self.0.get(key.to_vec()).map_err(refused)?;
                    rows.push((number(&key), number(&value.ok_or(Fail::Error("a key without a value".into()))?)));
                }
            }
            3 => rows.extend(self.0.scan_iter(all).map_err(refused)?.map(|(key, value)| (number(&key), number(&value)))),
            _ => drop(self.0.scan_for_each(all, None, None, |key, value| {
                rows.push((number(key), number(value)));
                true
            }).map_err(refused)?),
        }
        rows.sort_unstable();
        Ok(rows)
    }

    fn commit(mut self: Box<Self>) -> Result<(), Fail> {
        match self.0.commit() {
            Err(Error::TxNotWritable) => Ok(()), // a transaction that only reads
            other => other.map_err(refused),
        }
    }

    fn abort(mut self: Box<Self>) {
        let _ = self.0.cancel();
    }
}

fn main() {
    hunt::main(|_directory, mode| Box::leak(Box::new(Mx { db: Database::new(), snapshot: mode == "snapshot" })));
}
