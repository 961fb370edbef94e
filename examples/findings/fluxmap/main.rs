// FluxMap: four tasks add one to a counter, in transactions, again where one is refused. Prints how many commits the counter has lost.
use fluxmap::db::Database;
use std::sync::Arc;

fn main() {
    tokio::runtime::Runtime::new().unwrap().block_on(count());
}

async fn count() {
    let db: Arc<Database<String, String>> = Arc::new(Database::new_in_memory().await.unwrap()); // serializable by default
    db.handle().insert("counter".to_string(), "0".to_string()).await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let db = db.clone();
        tasks.push(tokio::spawn(async move {
            let mut committed = 0;
            while committed < 5000 {
                let mut handle = db.handle();
                handle.begin().unwrap();
                let value: u64 = handle.get(&"counter".to_string()).unwrap().unwrap().parse().unwrap();
                handle.insert("counter".to_string(), (value + 1).to_string()).await.unwrap();
                if handle.commit().await.is_ok() {
                    committed += 1;
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let value = db.handle().get(&"counter".to_string()).unwrap().unwrap();
    println!("20000 transactions added one and committed; the counter is {value}");
}
