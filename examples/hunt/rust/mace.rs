//! Mace (the crate mace-kv) on disk.
mod hunt;
use hunt::*;
use mace::{Bucket, BucketOptions, Mace, OpCode, Options, TxnKV};

struct Store_ {
    _db: Mace,
    bucket: Bucket,
}

struct MaceTxn(TxnKV<'static>);

fn refused(error: OpCode) -> Fail {
    match error {
        OpCode::AbortTx | OpCode::Again => Fail::Conflict,
        other => failed(other),
    }
}

impl Store for Store_ {
    fn version(&self) -> &'static str {
        "0.2.0"
    }

    fn ways(&self) -> [&'static [&'static str]; 3] {
        [&["get", "range", "seek"], &["upsert", "update or put"], &["range", "seek"]]
    }

    fn begin(&'static self, _read_only: bool) -> Result<Box<dyn Txn>, Fail> {
        Ok(Box::new(MaceTxn(self.bucket.begin().map_err(refused)?)))
    }
}

impl Txn for MaceTxn {
    fn get(&mut self, how: usize, key: i64) -> Result<Seen, Fail> {
        if how == 0 {
            return match self.0.get(bytes(key)) {
                Ok(value) => Ok(Seen::Value(number(value.slice()))),
                Err(OpCode::NotFound) => Ok(Seen::Absent),
                Err(error) => Err(refused(error)),
            };
        }
        let mut iter = if how == 1 { self.0.range(bytes(key)..=bytes(key)) } else { self.0.seek(bytes(key)) };
        Ok(seen(iter.next().map(|row| number(row.val()))))
    }

    fn put(&mut self, how: usize, key: i64, value: i64) -> Result<(), Fail> {
        if how == 1 {
            return match self.0.update(bytes(key), bytes(value)) {
                Err(OpCode::NotFound) => self.0.put(bytes(key), bytes(value)).map_err(refused),
                other => other.map_err(refused),
            };
        }
        self.0.upsert(bytes(key), bytes(value)).map_err(refused)
    }

    fn delete(&mut self, key: i64) -> Result<(), Fail> {
        self.0.del(bytes(key)).map_err(refused)
    }

    fn range(&mut self, how: usize, low: i64, high: i64) -> Result<Rows, Fail> {
        let mut rows = Vec::new();
        let mut iter = if how == 0 { self.0.range(bytes(low)..=bytes(high)) } else { self.0.seek(&bytes(low)[..4]) };
        while let Some(row) = iter.next() {
            let key = number(row.key());
            if (low..=high).contains(&key) {
                rows.push((key, number(row.val())));
            }
        }
        Ok(rows)
    }

    fn commit(self: Box<Self>) -> Result<(), Fail> {
        self.0.commit().map_err(refused)
    }

    fn abort(self: Box<Self>) {}
}

fn main() {
    hunt::main(|directory, _mode| {
        let db = Mace::new(Options::new(format!("{directory}/mace")).validate().expect("options")).expect("a database");
        let bucket = db.open_bucket("kv").or_else(|_| db.new_bucket("kv", BucketOptions::default())).expect("a bucket");
        Box::leak(Box::new(Store_ { _db: db, bucket }))
    });
}
