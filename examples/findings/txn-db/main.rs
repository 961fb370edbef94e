// txn-db: each thread commits values to a key of its own, which nobody else touches. Prints how often its next transaction did not see
// the commit before it, and how often one was refused because of it.
use std::sync::atomic::{AtomicU64, Ordering};
use txn_db::Db;

fn main() {
    let (db, missing, refused) = (Db::new(), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (db, missing, refused) = (&db, &missing, &refused);
            scope.spawn(move || {
                for i in 1..=50_000u64 {
                    let mut tx = db.begin();
                    tx.put(vec![thread], i.to_be_bytes().to_vec());
                    if tx.commit().is_err() {
                        refused.fetch_add(1, Ordering::Relaxed);
                    } else if db.begin().get(&[thread]).unwrap().as_deref() != Some(&i.to_be_bytes()[..]) {
                        missing.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    println!("of 200000 transactions {} were refused, and {} committed and were not seen by the next of their thread", refused.into_inner(), missing.into_inner());
}
