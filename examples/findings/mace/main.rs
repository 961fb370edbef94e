// Mace: one thread writes a key again and again, each time in a transaction, and reads it in the next by `get`, `range` and `seek`.
use mace::{BucketOptions, Mace, Options};

fn main() {
    let mut options = Options::new(std::env::temp_dir().join(format!("mace-{}", std::process::id())));
    options.tmp_store = true; // removed when it is closed
    let db = Mace::new(options.validate().unwrap()).unwrap();
    let bucket = db.new_bucket("counters", BucketOptions::default()).unwrap();
    for written in 0u64..1000 {
        let txn = bucket.begin().unwrap();
        if written > 0 {
            let got = txn.get("k").ok().map(|value| number(value.slice()));
            let ranged = txn.range("k"..="k").next().map(|row| number(row.val()));
            let sought = txn.seek("k").next().map(|row| number(row.val()));
            let last = Some(written - 1);
            if (got, ranged, sought) != (last, last, last) {
                println!("{last:?} was committed; get reads {got:?}, range {ranged:?}, seek {sought:?}");
                return;
            }
        }
        txn.upsert("k", written.to_be_bytes()).unwrap();
        txn.commit().unwrap();
    }
    println!("not seen in 1000 transactions");
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().unwrap())
}
