//! redb: one writer, readers in snapshots.
mod hunt;
use hunt::*;
use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

const TABLE: TableDefinition<i64, i64> = TableDefinition::new("kv");

struct Redb(Database);

enum RedbTxn {
    Read(ReadOnlyTable<i64, i64>, ReadTransaction),
    Write(WriteTransaction),
}

impl Store for Redb {
    fn version(&self) -> &'static str {
        "4.6.0"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        [&["get", "range"], &["insert"], &["range", "range reversed"]]
    }

    fn begin(&'static self, read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        if read_only {
            let tx = self.0.begin_read().map_err(failed)?;
            return Ok(Box::new(RedbTxn::Read(tx.open_table(TABLE).map_err(failed)?, tx)));
        }
        let mut tx = self.0.begin_write().map_err(failed)?;
        let durability = if durable() { redb::Durability::Immediate } else { redb::Durability::None };
        tx.set_durability(durability).map_err(failed)?;
        Ok(Box::new(RedbTxn::Write(tx)))
    }
}

fn get(table: &impl ReadableTable<i64, i64>, how: usize, key: i64) -> Result<Seen, Fail> {
    if how == 0 {
        return Ok(seen(table.get(key).map_err(failed)?.map(|value| value.value())));
    }
    let row = table.range(key..=key).map_err(failed)?.next().transpose().map_err(failed)?;
    Ok(seen(row.map(|(_, value)| value.value())))
}

fn range(table: &impl ReadableTable<i64, i64>, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
    let mut rows = Vec::new();
    let iter = table.range(low..=high).map_err(failed)?;
    let iter: Box<dyn Iterator<Item = _>> = if how == 0 { Box::new(iter) } else { Box::new(iter.rev()) };
    for row in iter {
        let (key, value) = row.map_err(failed)?;
        rows.push((key.value(), value.value()));
    }
    rows.sort_unstable();
    Ok(rows)
}

impl Txn for RedbTxn {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        match self {
            RedbTxn::Read(table, _) => get(table, how, key),
            RedbTxn::Write(tx) => get(&tx.open_table(TABLE).map_err(failed)?, how, key),
        }
    }

    fn put(&mut self, _how: usize, key: i64, value: i64) -> Result<(), Fail> {
        let RedbTxn::Write(tx) = self else { return Err(Fail::Error("read-only".into())) };
        tx.open_table(TABLE).map_err(failed)?.insert(key, value).map(|_| ()).map_err(failed)
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        let RedbTxn::Write(tx) = self else { return Err(Fail::Error("read-only".into())) };
        tx.open_table(TABLE).map_err(failed)?.remove(key).map(|_| ()).map_err(failed)
    }

    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        match self {
            RedbTxn::Read(table, _) => range(table, how, low, high),
            RedbTxn::Write(tx) => range(&tx.open_table(TABLE).map_err(failed)?, how, low, high),
        }
    }

    fn commit(self: Box<Self>) -> Result<(), Fail> {
        match *self {
            RedbTxn::Read(..) => Ok(()),
            RedbTxn::Write(tx) => tx.commit().map_err(failed),
        }
    }

    fn abort(self: Box<Self>) {
        if let RedbTxn::Write(tx) = *self {
            let _ = tx.abort();
        }
    }
}

fn main() {
    hunt::main(|directory, _mode| {
        let db = Database::create(format!("{directory}/hunt.redb")).expect("a database");
        let tx = db.begin_write().expect("a transaction");
        tx.open_table(TABLE).expect("a table");
        tx.commit().expect("a commit");
        Box::leak(Box::new(Redb(db)))
    });
}
