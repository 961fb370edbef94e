// Accounts in PostgreSQL. Withdrawals must not take more than there is.

// At read committed the balance may have changed between SELECT and UPDATE. At repeatable read PostgreSQL refuses such an UPDATE, and
// the withdrawal is tried again.
const ISOLATION = "READ COMMITTED";

export async function withdraw(pool, account, amount, approve) {
  for (;;) {
    const client = await pool.connect();
    try {
      await client.query(`BEGIN ISOLATION LEVEL ${ISOLATION}`);
      const { rows } = await client.query("SELECT balance FROM accounts WHERE id = $1", [account]);
      const { balance } = rows[0];
      if (await approve(balance)) await client.query("UPDATE accounts SET balance = $1 WHERE id = $2", [balance - amount, account]);
      await client.query("COMMIT");
      return;
    } catch (error) {
      await client.query("ROLLBACK");
      if (error.code !== "40001") throw error;
    } finally {
      client.release();
    }
  }
}
