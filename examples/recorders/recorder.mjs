// Records what an application's transactions did and saw, for `assay check`. Copy it into the application.
//
//   const recorder = new Recorder('history.jsonl', {initial: 0});   // the value that every key has at the beginning
//   const session = recorder.session('worker 1');                   // one for each connection
//
//   const txn = session.begin();                                    // before the first statement is sent
//   txn.read('x', value); txn.write('x', 7);                        // after each statement has answered
//   txn.committing();                                               // before COMMIT is sent
//   txn.committed();                                                // it was acknowledged
//   txn.aborted(); txn.unknown();                                   // or: the database says it had no effect; nobody knows
//
//   session.end();                                                  // nothing more of it: whoever watches the file need not wait
//
// Write each value to a key once only, so that a value that is read tells who wrote it. A line with the transaction is
// on its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is true. Times are
// nanoseconds of the machine's monotonic clock; docs/formats/assay.md has every field. Integers beyond 53 bits are BigInts.
import {closeSync, openSync, writeSync} from 'node:fs';

const now = () => process.hrtime.bigint();
const json = (value) => typeof value === 'bigint' ? String(value) :
    Array.isArray(value) ? `[${value.map(json).join(',')}]` : JSON.stringify(value ?? null);

export class Recorder {
  constructor(path, {initial = null, meta = {}} = {}) {
    this.file = openSync(path, 'wx');
    this.line(`{"assay":1,"meta":${JSON.stringify(meta)},"initial":${json(initial)}}`);
  }
  // What this key holds before anything is written, if not `initial`.
  holds(key, value) {
    this.line(`{"key":${json(key)},"initial":${json(value)}}`);
  }
  session(name) {
    return new Session(this, name);
  }
  close() {
    closeSync(this.file);
  }
  line(text) {
    writeSync(this.file, text + '\n');
  }
}

// Transactions of one session follow one another.
class Session {
  count = 0;
  constructor(recorder, name) {
    Object.assign(this, {recorder, name});
  }
  begin() {
    return new Txn(this.recorder, this.name, `${this.name}-${++this.count}`);
  }
  end() {
    this.recorder.line(`{"event":"end","session":${json(this.name)}}`);
  }
}

class Txn {
  ops = [];
  first = [now(), null];
  last = null;
  constructor(recorder, session, name) {
    Object.assign(this, {recorder, session, name});
  }
  read(key, value) { // null: there is no such row
    this.op('r', key, value);
  }
  write(key, value) {
    this.op('w', key, value);
  }
  delete(key) { // the third names this deletion
    this.op('d', key, `deleted ${this.name}.${this.ops.length}`);
  }
  append(key, element) {
    this.op('append', key, element);
  }
  readList(key, elements) {
    this.op('r', key, elements);
  }
  committing() {
    this.last = [now(), null];
    this.line('pending');
  }
  committed() {
    this.end('committed');
  }
  aborted() {
    this.end('aborted');
  }
  unknown() {
    this.end('unknown');
  }

  op(...op) {
    this.first[1] ??= now(); // the first statement has answered
    this.ops.push(op);
  }
  end(status) {
    this.last ??= [now(), null];
    if (status !== 'unknown') this.last[1] = now();
    this.line(status);
  }
  line(status) {
    const end = this.last ? `"end":${json(this.last)},` : '';
    this.recorder.line(`{"session":${json(this.session)},"txn":${json(this.name)},"status":"${status}",` +
        `"begin":${json(this.first)},${end}"ops":${json(this.ops)}}`);
  }
}
