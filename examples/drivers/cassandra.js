#!/usr/bin/env node
// A driver for assay in JavaScript: Apache Cassandra through its own client (cassandra-driver of npm, in
// the folder of this file).
//
//     assay run --database 'exec:node examples/drivers/cassandra.js cassandra://127.0.0.1:9042/assay' \
//               --isolation serial --workload lwt --level linearizable
//
// The URL names one node, and only that one is spoken to, and a keyspace; with ?writetime each commit tells when its cells were
// written, for --version-order. docs/databases/cassandra.md has the
// isolations, docs/formats/exec-protocol.md the lines, and lines.js reads and writes them.
'use strict';
const cassandra = require('cassandra-driver');
const {serve} = require('./lines.js');
const {consistencies, responseErrorCodes: codes} = cassandra.types;
const policies = cassandra.policies;

// `read`, `write`: the consistencies. `guarded`: a commit is conditional on everything that was read. `partition`:
// where a key lies; what is conditional must lie in one partition, unless `send` is Cassandra 6's transaction. `times`: the
// cells tell when they were written, as nothing is written again as it was.
const isolations = {
  serial: {read: consistencies.serial, write: consistencies.quorum, guarded: true, partition: (key) => key, times: true},
  partition: {read: consistencies.serial, write: consistencies.quorum, guarded: true, partition: () => 'all'},
  accord: {read: consistencies.serial, write: consistencies.quorum, guarded: true, partition: (key) => key,
           table: "WITH transactional_mode = 'full'", send: transact},
  quorum: {read: consistencies.quorum, write: consistencies.quorum, partition: (key) => key, times: true},
  one: {read: consistencies.one, write: consistencies.one, partition: (key) => key, times: true},
};

const url = new URL(process.argv[2]);
const keyspace = url.pathname.slice(1) || 'assay';
const table = `${keyspace}.assay_kv`;
const tellsTime = url.searchParams.has('writetime');

// Keys and values are kept as JSON.
const store = (value) => value === null ? null : JSON.stringify(value);
const load = (text) => text === null ? null : JSON.parse(text);

let client, isolation;
let seen, writes, expected;  // of the transaction, by stored key; what the commit is conditional on

async function connect({isolation: name, timeout_ms: timeout}) {
  isolation = isolations[name.toLowerCase() || 'serial'];
  if (!isolation) throw new Error(`unknown isolation '${name}'; expected one of ${Object.keys(isolations).join(', ')}`);
  const node = `${url.hostname}:${url.port || 9042}`;
  client = new cassandra.Client({
    contactPoints: [node],
    policies: {
      loadBalancing: new policies.loadBalancing.AllowListPolicy(
          new policies.loadBalancing.RoundRobinPolicy(), [node]),
      reconnection: new policies.reconnection.ConstantReconnectionPolicy(200),
      retry: new policies.retry.FallthroughRetryPolicy(),
    },
    queryOptions: {prepare: true, serialConsistency: consistencies.serial},
    socketOptions: {readTimeout: timeout, connectTimeout: timeout},
  });
  await client.connect();
  const {rows} = await client.execute('SELECT release_version FROM system.local');
  return {name: 'Cassandra', version: rows[0].release_version, kinds: ['r', 'w', 'd', 'cas', 'insert']};
}

// A new table: one that is only emptied keeps the unfinished lightweight transactions of the run before.
async function prepare() {
  const peers = await client.execute('SELECT peer FROM system.peers');
  const patient = {prepare: false, readTimeout: 25000};
  for (const statement of [
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication =
         {'class': 'SimpleStrategy', 'replication_factor': ${Math.min(3, 1 + peers.rowLength)}}`,
    `DROP TABLE IF EXISTS ${table}`,
    `CREATE TABLE ${table} (part text, key text, value text, PRIMARY KEY (part, key)) ${isolation.table || ''}`,
  ]) {
    const {info} = await client.execute(statement, [], patient);
    if (!info.isSchemaInAgreement) throw new Error('the nodes do not agree on the tables');
  }
  return {};
}

async function read(key) {
  if (writes.has(key)) return writes.get(key);
  if (isolation.guarded && seen.has(key)) return seen.get(key);
  const {rows} = await client.execute(`SELECT value FROM ${table} WHERE part = ? AND key = ?`,
                                      [isolation.partition(key), key], {consistency: isolation.read});
  const value = rows.length ? rows[0].value : null;
  seen.set(key, value);
  if (isolation.guarded) expected.set(key, value);
  return value;
}

async function operate([kind, name, ...rest]) {
  const key = store(name);
  if (kind === 'r') return {value: load(await read(key))};
  if (kind === 'w') return void writes.set(key, store(rest[0])) || {};
  if (!['d', 'cas', 'insert'].includes(kind)) return {ok: false, fatal: `no operation ${kind}`};
  // Removal, compare and set, or insert if absent.
  const was = await read(key);
  const effect = kind === 'd' ? was !== null : was === (kind === 'cas' ? store(rest[0]) : null);
  if (effect && kind !== 'd' && !writes.has(key)) expected.set(key, was);
  if (effect) writes.set(key, kind === 'd' ? null : store(rest[rest.length - 1]));
  return {effect};
}

// One batch. What was only read is written again as it was, which makes its value a condition.
async function sendBatch(guarded) {
  const batch = [...new Map([...expected, ...writes])].map(([key, value]) => {
    const condition = expected.has(key) ? 'IF value = ?' : guarded ? "IF value != ''" : '';
    return {
      query: `UPDATE ${table} SET value = ? WHERE part = ? AND key = ? ${condition}`,
      params: [value, isolation.partition(key), key, ...(expected.has(key) ? [expected.get(key)] : [])],
    };
  });
  return (await client.batch(batch, {consistency: isolation.write, timestamp: plainTime})).wasApplied();
}

// The time of a plain write is the client's, in microseconds, and it decides which of two writes stays.
let plainTime, lastTime = 0;
const nextTime = () => lastTime = Math.max(lastTime + 1, Math.round((performance.timeOrigin + performance.now()) * 1000));

// That of a lightweight transaction is of its ballot, which only the cells tell. They may have been overwritten by now.
async function timeOfCells() {
  for (const [key, value] of writes) {
    if (value === null) continue;
    const {rows} = await client.execute(`SELECT value, WRITETIME(value) AS time FROM ${table} WHERE part = ? AND key = ?`,
                                        [isolation.partition(key), key], {consistency: isolation.read});
    if (rows.length && rows[0].value === value) return Number(rows[0].time);
  }
}

// A transaction of Cassandra 6, which answers with what the keys held.
async function transact() {
  const conditions = [...expected];
  const each = (text) => conditions.map(([, was], i) => text(i, was));
  const lets = each((i) => `LET r${i} = (SELECT value FROM ${table} WHERE part = ? AND key = ?);`).join(' ');
  const held = conditions.length ? `SELECT ${each((i) => `r${i}.value`)};` : '';
  const tests = each((i, was) => was === null ? `r${i}.value IS NULL` : `r${i}.value = ?`).join(' AND ');
  const updates = `UPDATE ${table} SET value = ? WHERE part = ? AND key = ?; `.repeat(writes.size);
  const body = tests && updates ? `IF ${tests} THEN ${updates} END IF` : updates;
  const params = conditions.flatMap(([key]) => [isolation.partition(key), key]);
  if (updates) params.push(...conditions.map(([, was]) => was).filter((was) => was !== null));
  for (const [key, value] of writes) params.push(value, isolation.partition(key), key);
  const {rows} = await client.execute(`BEGIN TRANSACTION ${lets} ${held} ${body} COMMIT TRANSACTION`, params,
                                      {consistency: isolation.write});
  return conditions.every(([, was], i) => rows[0][`r${i}.value`] === was);
}

// All of it, or nothing if it depends on something that has changed.
async function commit() {
  const guarded = isolation.guarded || expected.size > 0;
  if (writes.size === 0 && (!isolation.guarded || seen.size < 2)) return {};
  plainTime = tellsTime && !guarded ? nextTime() : undefined;
  try {
    const applied = await (isolation.send || sendBatch)(guarded);
    if (!applied) return {ok: false, aborted: 'a key that was read has changed'};
  } catch (error) {
    return {ok: false, [outcome(error, guarded)]: String(error)};
  }
  if (!tellsTime || !isolation.times || writes.size === 0) return {};
  // It is committed, whatever becomes of this.
  const time = plainTime ?? await timeOfCells().catch(() => undefined);
  return time === undefined ? {} : {commit_ts: time};
}

// What a failed commit leaves. Only that is called aborted which no node can have been told of: too few nodes for a
// plain write, or no connection to send it over. A lightweight transaction that had been agreed on can also end in
// "unavailable", when it is to be made visible.
function outcome(error, guarded) {
  if (error instanceof cassandra.errors.NoHostAvailableError) return 'aborted';
  switch (error.code) {
    case codes.unavailableException: return guarded ? 'unknown' : 'aborted';
    case codes.isBootstrapping: return 'aborted';
    case codes.invalid: case codes.syntaxError: case codes.unauthorized: case codes.configError: return 'fatal';
    default: return 'unknown';
  }
}

async function answer(message) {
  switch (message.do) {
    case 'hello':
      return connect(message);
    case 'prepare':
      return prepare();
    case 'op':
      return operate(message.op);
    case 'commit':
      return commit();
    case 'begin': case 'abort':
      seen = new Map();
      writes = new Map();
      expected = new Map();
      return {};
    default:
      return {ok: false, fatal: `no request ${message.do}`};
  }
}

// Nothing is written before the commit.
serve(answer, (error, {do: asked}) => {
  const fatal = asked === 'hello' || asked === 'prepare' || outcome(error) === 'fatal';
  return {[fatal ? 'fatal' : 'aborted']: String(error)};
});
