// fjall: two transactions read the same seat and take it, by each method that tells whether it is free.
use fjall::{KeyspaceCreateOptions, OptimisticTxDatabase, Readable};

fn main() {
    for method in ["contains_key", "size_of"] {
        let folder = std::env::temp_dir().join(format!("fjall-{method}-{}", std::process::id()));
        let db = OptimisticTxDatabase::builder(&folder).open().unwrap();
        let seats = db.keyspace("seats", KeyspaceCreateOptions::default).unwrap();
        let (mut alice, mut bob) = (db.write_tx().unwrap(), db.write_tx().unwrap());
        for (tx, name) in [(&mut alice, "alice"), (&mut bob, "bob")] {
            let free = if method == "size_of" { tx.size_of(&seats, "7a").unwrap().is_none() } else { !tx.contains_key(&seats, "7a").unwrap() };
            assert!(free);
            tx.insert(&seats, "7a", name);
        }
        let (alice, bob) = (alice.commit().unwrap().is_ok(), bob.commit().unwrap().is_ok());
        let seat = db.read_tx().get(&seats, "7a").unwrap().unwrap();
        println!("{method}: alice committed {alice}, bob committed {bob}, the seat is {}'s", String::from_utf8_lossy(&seat));
        drop(std::fs::remove_dir_all(&folder));
    }
}
