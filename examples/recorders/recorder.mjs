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
// Values may repeat, as balances do; where each is written to a key once only, a value that is read always tells who wrote it. A line
// with the transaction is on its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is
// true. Times are nanoseconds of the machine's monotonic clock; docs/formats/assay.md has every field.
//
// Keys and values are integers, strings, null, and what can be told as one of them so that what is equal stays equal: 1.5 is "1.5",
// true is 1, a Date its ISO text. Integers beyond 53 bits are BigInts. No call on a transaction throws: one with anything else is
// recorded as of unknown outcome, with the reason. A file that cannot be written any more is told by close().
import {closeSync, openSync, writeSync} from 'node:fs';

const now = () => process.hrtime.bigint();
const json = (value) => typeof value === 'bigint' ? String(value) :
    Array.isArray(value) ? `[${value.map(json).join(',')}]` : JSON.stringify(value ?? null);

const told = (value) => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number' && Number.isInteger(value)) value = BigInt(value);
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : String(value);
  if (typeof value === 'number') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return '\\x' + Buffer.from(value).toString('hex');
  if (typeof value === 'string' && !/\p{Surrogate}/u.test(value)) return value; // half of a pair is no text
  throw new TypeError(`a ${typeof value} cannot be recorded`);
};

export class Recorder {
  constructor(path, {initial = null, meta = {}} = {}) {
    this.file = openSync(path, 'wx');
    this.line(`{"assay":1,"meta":${JSON.stringify(meta)},"initial":${json(told(initial))}}`);
  }
  // What this key holds before anything is written, if not `initial`.
  holds(key, value) {
    this.line(`{"key":${json(key)},"initial":${json(value)}}`);
  }
  session(name) {
    return new Session(this, String(name));
  }
  close() {
    closeSync(this.file);
    if (this.error) throw this.error;
  }
  line(text) {
    if (this.error) return; // a line without its end must be the last
    try {
      writeSync(this.file, text + '\n');
    } catch (error) {
      this.error = error;
    }
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
    this.op('r', key, elements, () => Array.from(elements, told));
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

  op(kind, key, value, tell = () => told(value)) {
    this.first[1] ??= now(); // the first statement has answered
    try {
      if (told(key) === null) throw new TypeError('null is no key');
      this.ops.push([kind, told(key), tell()]);
    } catch (error) { // of whatever the application gave us
      this.fault ??= `${kind}: ${error?.message}`.slice(0, 200);
    }
  }
  end(status) {
    if (status === 'committed' && this.fault) status = 'unknown'; // more than is recorded
    this.last ??= [now(), null];
    if (status !== 'unknown') this.last[1] = now();
    this.line(status);
  }
  line(status) {
    const end = (this.last ? `"end":${json(this.last)},` : '') +
        (this.fault ? `"meta":{"not_recorded":${json(this.fault)}},` : '');
    this.recorder.line(`{"session":${json(this.session)},"txn":${json(this.name)},"status":"${status}",` +
        `"begin":${json(this.first)},${end}"ops":${json(this.ops)}}`);
  }
}
