use postgres::{Client, NoTls};
use std::{env, sync::Barrier, thread};

#[test]
fn withdrawals() {
    let database = env::var("DATABASE_URL").expect("DATABASE_URL is set");
    let mut prepared = Client::connect(&database, NoTls).unwrap();
    prepared
        .batch_execute(
            "DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (id int PRIMARY KEY, balance int); INSERT INTO accounts VALUES (1, 100)",
        )
        .unwrap();
    let recording = assay_isolation::record(&database, "serializable");
    let both_have_read = Barrier::new(2);
    thread::scope(|clients| {
        for _ in 0..2 {
            clients.spawn(|| {
                let mut bank = Client::connect(&recording.url, NoTls).unwrap();
                let mut first = true;
                let approve = |balance| {
                    if std::mem::take(&mut first) {
                        both_have_read.wait();
                    }
                    balance >= 80
                };
                bank::withdraw(&mut bank, 1, 80, approve).unwrap();
            });
        }
    });
}
