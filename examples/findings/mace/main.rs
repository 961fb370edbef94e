// Mace: four threads add one to a counter, in transactions, again where one is refused. Prints how many commits the counter has lost.
use mace::{BucketOptions, Mace, OpCode, Options};

fn main() -> Result<(), OpCode> {
    let db = Mace::new(Options::new(std::env::temp_dir().join(format!("mace-{}", std::process::id()))).validate().unwrap())?;
    let bucket = db.new_bucket("counters", BucketOptions::default())?;
    let txn = bucket.begin()?;
    txn.put("counter", 0u64.to_be_bytes())?;
    txn.commit()?;
    let read = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut committed = 0;
                while committed < 5000 {
                    let Ok(txn) = bucket.begin() else { continue };
                    let value = read(txn.get("counter").unwrap().slice());
                    if txn.update("counter", (value + 1).to_be_bytes()).is_ok() && txn.commit().is_ok() {
                        committed += 1;
                    }
                }
            });
        }
    });
    let txn = bucket.begin()?;
    println!("20000 transactions added one and committed; the counter is {}", read(txn.get("counter")?.slice()));
    Ok(())
}
