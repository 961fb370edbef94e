// Runs plans of transactions against a store in this process, a worker thread for each session, and writes histories of assay.
// `node hunt.js MODULE DIRECTORY MODE`, then a line `PLAN HISTORY` of standard input for each plan (dev/hunt.d/plans.py).
//
// A store is a module whose `open(directory, mode)` each thread calls for itself. It returns an object with
//
//   version                 of the library, a string
//   reads, writes, ranges   lists of names: the ways to read a key, to write one, to read a range ([] if there is none)
//   begin(readOnly)         begins a transaction and returns it; it has
//     get(how, key)         the value, null if absent, or PRESENT if this way tells only that it is there
//     put(how, key, value), delete(key)
//     range(how, low, high) pairs [key, value] in order, both ends included
//     commit(), abort()
//
// Where HUNT_DURABLE is set, what is committed must survive kill -9, and each line of the history is written at once: what is to be
// committed before the commit, as pending.
//
// Each may return a promise. A refusal that leaves no trace of the transaction is a Conflict. Any other error is counted: the
// transaction is aborted, or of unknown outcome if it was committing.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');

const PRESENT = Symbol('present');
class Conflict extends Error {}
const DURABLE = 'HUNT_DURABLE' in process.env;
module.exports = {PRESENT, Conflict, DURABLE};

const SESSIONS = 6;  // of a plan, at most

const now = () => Number(process.hrtime.bigint());
const asleep = new Int32Array(new SharedArrayBuffer(4));
const sleep = (microseconds) => Atomics.wait(asleep, 0, 0, microseconds / 1000);

async function operate(txn, [what, ...words], done) {
  const [how, key, value] = words.map(Number);
  if (what === 'z') return sleep(how);
  if (what === 'w') {
    await txn.put(how, key, value);
    done.push(['w', key, value]);
  } else if (what === 's') {
    done.push(['range', key, value, await txn.range(how, key, value)]);
  } else {
    const seen = await txn.get(how, key);
    done.push(seen === PRESENT ? ['insert', key, 0, false] : ['r', key, seen]);
    if (what === 'r' || seen === null) return;
    await txn.delete(key);
    done.push(['d', key, value]);
  }
}

async function transaction(store, {readOnly, ops, commits}, errors, tell) {
  const done = [];
  let status = 'aborted', txn, first, asked;
  const begin = now();
  try {
    txn = await store.begin(readOnly);
    for (const op of ops) {
      await operate(txn, op, done);
      if (op[0] !== 'z') first = first || now();
    }
    if (DURABLE && commits) tell({status: 'pending', begin: [begin, first || now()], ops: done});
    asked = now();
    await (commits ? txn.commit() : txn.abort());
    if (commits) status = 'committed';
  } catch (error) {
    if (!(error instanceof Conflict)) {
      const text = String(error).slice(0, 200);
      errors[text] = (errors[text] || 0) + 1;
      if (asked && commits) status = 'unknown';
    }
    try {
      if (txn) await txn.abort();
    } catch { /* it was over already */ }
  }
  const ended = now();
  tell({status, begin: [begin, first || ended], end: [asked || ended, status === 'unknown' ? null : ended], ops: done});
  return status;
}

// In a thread: it says when it is ready, and runs the transactions of its session when all are.
async function session() {
  const {module, directory, mode} = workerData;
  const store = await require(module).open(directory, mode);
  parentPort.on('message', async ({name, transactions, gate, sessions, history}) => {
    const arrived = Atomics.add(gate, 0, 1) + 1;
    if (arrived === sessions) Atomics.notify(gate, 0);
    for (let there = arrived; there < sessions; there = Atomics.load(gate, 0)) Atomics.wait(gate, 0, there, 10);
    const lines = [], errors = {}, counts = {};
    const atOnce = DURABLE && fs.openSync(history, 'a');
    for (const [number, one] of transactions.entries()) {
      const status = await transaction(store, one, errors, (record) => {
        const line = JSON.stringify({session: Number(name), txn: `${name}-${number}`, ...record});
        if (DURABLE) fs.writeSync(atOnce, line + '\n');
        else lines.push(line);
      });
      counts[status] = (counts[status] || 0) + 1;
    }
    if (DURABLE) fs.closeSync(atOnce);
    parentPort.postMessage({lines, errors, counts});
  });
  parentPort.postMessage({version: store.version, reads: store.reads, writes: store.writes, ranges: store.ranges});
}

// The next message of a worker. One that fails ends the process.
const answer = (worker) => new Promise((resolve) => worker.once('message', resolve));

function planned(file) {
  const sessions = new Map();
  for (const line of fs.readFileSync(file, 'utf8').trim().split('\n')) {
    const words = line.split(' ');
    if (!sessions.has(words[0])) sessions.set(words[0], []);
    sessions.get(words[0]).push(
        {readOnly: words[1] === 'q', ops: words.slice(2, -1).map((word) => word.split(':')), commits: words.at(-1) === 'c'});
  }
  return sessions;
}

function add(to, from) {
  for (const [name, count] of Object.entries(from)) to[name] = (to[name] || 0) + count;
}

async function main() {
  const [module, directory, mode] = process.argv.slice(2);
  const workers = [];
  let hello;
  const start = async () => {
    workers.push(new Worker(__filename, {workerData: {module: path.resolve(module), directory, mode}}));
    workers.at(-1).once('error', (error) => {
      console.error(error);
      process.exit(1);
    });
    hello = await answer(workers.at(-1));
  };
  while (workers.length < SESSIONS) await start();  // the first makes the tables before the others look for them
  console.log(JSON.stringify(hello));
  for await (const words of readline.createInterface({input: process.stdin})) {
    const [plan, history] = words.split(' ');
    const sessions = [...planned(plan)], gate = new Int32Array(new SharedArrayBuffer(4));
    fs.writeFileSync(history, '{"assay":1}\n');
    const results = sessions.map(([name, transactions], i) => {
      const result = answer(workers[i]);
      workers[i].postMessage({name, transactions, gate, sessions: sessions.length, history});
      return result;
    });
    const counts = {}, errors = {}, lines = [];
    for (const result of await Promise.all(results)) {
      add(counts, result.counts);
      add(errors, result.errors);
      for (const line of result.lines) lines.push(line + '\n');
    }
    fs.appendFileSync(history, lines.join(''));
    console.log(JSON.stringify({...counts, errors}));
  }
  process.exit(0);
}

if (isMainThread && require.main === module) main();
else if (!isMainThread && workerData) session();
