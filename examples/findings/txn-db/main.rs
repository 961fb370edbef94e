// txn-db: each thread commits a value to a key of its own, and reads it in its next transaction. Prints how often it is not there.
use std::sync::atomic::{AtomicU64, Ordering};
use txn_db::Db;

fn main() {
    let (db, missing) = (Db::new(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (db, missing) = (&db, &missing);
            scope.spawn(move || {
                for i in 1..=50_000u64 {
                    let mut tx = db.begin();
                    tx.put(vec![thread], i.to_be_bytes().to_vec());
                    tx.commit().unwrap(); // nobody else writes this key
                    if db.begin().get(&[thread]).unwrap().as_deref() != Some(&i.to_be_bytes()[..]) {
                        missing.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    println!("200000 values were committed; {} of them were not seen by the next transaction of the same thread", missing.into_inner());
}
