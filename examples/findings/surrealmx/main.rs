// SurrealMX: whether a key is there that this transaction has deleted, by each method that tells.
use surrealmx::Database;

fn main() {
    let db = Database::new();
    let mut tx = db.transaction(true);
    tx.set("seat", "alice").unwrap();
    tx.commit().unwrap();
    let mut tx = db.transaction(true);
    tx.del("seat").unwrap();
    println!("in the transaction that deleted it: get {:?}, exists {}", tx.get("seat").unwrap(), tx.exists("seat").unwrap());
    println!("total {}, keys {}", tx.total("a".."z", None, None).unwrap(), tx.keys("a".."z", None, None).unwrap().len());
    tx.commit().unwrap();
    let mut tx = db.transaction(false);
    println!("afterwards: get {:?}, exists {}", tx.get("seat").unwrap(), tx.exists("seat").unwrap());
    tx.cancel().unwrap();
}
