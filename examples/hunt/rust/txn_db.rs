//! txn-db in memory. Modes: serializable, snapshot.
mod hunt;
use hunt::*;
use txn_db::{Db, MemoryStore, Transaction};

struct TxnDb {
    db: Db<MemoryStore>,
    serializable: bool,
}

struct DbTxn(Transaction<MemoryStore>);

impl Store for TxnDb {
    fn version(&self) -> &'static str {
        "1.0.1"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        [&["get"], &["put"], &[]]
    }

    fn begin(&'static self, _read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        Ok(Box::new(DbTxn(if self.serializable { self.db.begin_serializable() } else { self.db.begin() })))
    }
}

impl Txn for DbTxn {
    fn get(&mut self, _how: usize, key: i64) -> Result<Seen, Fail> {
        Ok(seen(self.0.get(&bytes(key)).map_err(failed)?.map(|value| number(&value))))
    }

    fn put(&mut self, _how: usize, key: i64, value: i64) -> Result<(), Fail> {
        self.0.put(bytes(key).to_vec(), bytes(value).to_vec());
        Ok(())
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        self.0.delete(bytes(key).to_vec());
        Ok(())
    }

    fn range(&mut self, _how: usize, _low: i64, _high: i64) -> Result<Rows, Fail> {
        Err(Fail::Error("no ranges".into()))
    }

    fn commit(self: Box<Self>) -> Result<(), Fail> {
        self.0.commit().map(|_| ()).map_err(|error| if error.is_retryable() { Fail::Conflict } else { failed(error) })
    }

    fn abort(self: Box<Self>) {
        self.0.rollback();
    }
}

fn main() {
    hunt::main(|_directory, mode| Box::leak(Box::new(TxnDb { db: Db::new(), serializable: mode == "serializable" })));
}
