// Sessions on SQLite, recorded; SQLite is behind examples/drivers/sqlite.py: demo.mjs RECORDERS DATABASE HISTORY
import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';

const [recorders, database, history] = process.argv.slice(2);
const {Recorder} = await import(`${recorders}/recorder.mjs`);
const recorder = new Recorder(history, {initial: null});

const connect = () => {
  const driver = spawn('python3', [`${recorders}/../drivers/sqlite.py`, database]);
  const lines = createInterface({input: driver.stdout})[Symbol.asyncIterator]();
  return async (message) => {
    driver.stdin.write(JSON.stringify(message) + '\n');
    return JSON.parse((await lines.next()).value);
  };
};

const work = async (number, ask) => {
  const session = recorder.session(`s${number}`);
  await ask({do: 'hello', protocol: 1, isolation: '', timeout_ms: 50, run: 1});
  for (let i = 0; i < 30; ++i) {
    const txn = session.begin();
    const a = (i * 7 + number) % 5, b = (a + 1 + i % 4) % 5, value = 1000 * number + i + 1;
    let reply = await ask({do: 'begin'});
    for (const key of [`x${a}`, `x${b}`]) {
      if (reply.ok) reply = await ask({do: 'op', op: ['r', key]});
      if (reply.ok) txn.read(key, reply.value);
    }
    if (reply.ok) reply = await ask({do: 'op', op: ['w', `x${b}`, value]});
    if (reply.ok) {
      txn.write(`x${b}`, value);
      txn.committing();
      reply = await ask({do: 'commit'});
    }
    reply.ok ? txn.committed() : reply.aborted ? txn.aborted() : txn.unknown();
  }
  session.end();
};

const connections = [0, 1, 2, 3].map(connect);
await connections[0]({do: 'hello', protocol: 1, isolation: '', timeout_ms: 5000, run: 1});
await connections[0]({do: 'prepare'});
await Promise.all(connections.map((ask, number) => work(number, ask)));
// What is no integer and no string: told as one, or the transaction as of unknown outcome.
const odd = recorder.session('odd');
for (const values of [[true, '1.5', 1.5, 2.0, 2n ** 70n], [Symbol('x'), 1]]) {
  const txn = odd.begin();
  values.forEach((value, key) => txn.write(key, value));
  txn.committing();
  txn.committed();
}
odd.end();
recorder.close();
process.exit(0);
