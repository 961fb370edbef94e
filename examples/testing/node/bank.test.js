import { test } from "node:test";
import { recorded } from "assay-isolation";
import pg from "pg";
import { withdraw } from "./bank.js";

const database = process.env.DATABASE_URL;

async function prepare() {
  const client = new pg.Client(database);
  await client.connect();
  await client.query("DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (id int PRIMARY KEY, balance int); INSERT INTO accounts VALUES (1, 100)");
  await client.end();
}

// Who approves first waits for the other: both have read before one writes.
function meeting(clients) {
  let all;
  const met = new Promise((resolve) => { all = resolve; });
  return () => {
    let first = true;
    return async (balance) => {
      if (first && --clients === 0) all();
      first = false;
      await met;
      return balance >= 80;
    };
  };
}

await prepare();

test("withdrawals", recorded(database, "serializable", async (url) => {
  const pool = new pg.Pool({ connectionString: url });
  const client = meeting(2);
  await Promise.all([withdraw(pool, 1, 80, client()), withdraw(pool, 1, 80, client())]);
  await pool.end();
}));
