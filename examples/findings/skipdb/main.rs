// skipdb: a key that one transaction inserts and removes. Prints what the transaction and the next one read.
use skipdb::serializable::SerializableDb;

fn main() {
    for before in [false, true] {
        let db: SerializableDb<u64, u64> = SerializableDb::new();
        if before {
            let mut tx = db.serializable_write();
            tx.insert(1, 10).unwrap();
            tx.commit().unwrap();
        }
        let mut tx = db.serializable_write();
        tx.insert(1, 11).unwrap();
        tx.remove(1).unwrap();
        print!("key there before: {before}; insert 11, remove; the transaction reads {:?}", tx.get(&1).unwrap().map(|found| *found.value()));
        tx.commit().unwrap();
        println!("; the next reads {:?}", db.read().get(&1).map(|found| *found.value()));
    }
}
