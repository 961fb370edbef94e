#!/usr/bin/env node
// A driver for assay in JavaScript: etcd over HTTP, nothing but Node's own fetch.
//
//     assay run --database 'exec:node examples/drivers/etcd.js http://127.0.0.1:2379'
//
// docs/formats/exec-protocol.md has the lines, and lines.js reads and writes them.
'use strict';
const {serve} = require('./lines.js');

const base = process.argv[2] + '/v3/kv/';
const prefix = 'exec/';
const encode = (text) => Buffer.from(text).toString('base64');
const decode = (text) => Buffer.from(text, 'base64').toString();
const keyOf = (key) => encode(prefix + JSON.stringify(key));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

let timeout = 5000;
let seen, writes, revision;  // of the transaction

async function post(method, body) {
  const reply = await fetch(base + method, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeout),
  });
  if (!reply.ok) throw new Error(`HTTP ${reply.status} ${await reply.text()}`);
  return reply.json();
}

async function read(key) {
  if (writes.has(key)) return writes.get(key);
  if (!seen.has(key)) {
    const found = await post('range', revision ? {key, revision} : {key});
    revision = revision || found.header.revision;
    const row = (found.kvs || [])[0];
    seen.set(key, row ? {mod: row.mod_revision, value: JSON.parse(decode(row.value))}
                      : {mod: '0', value: null});
  }
  return seen.get(key).value;
}

async function operate([kind, name, ...rest]) {
  const key = keyOf(name);
  if (kind === 'r') return {value: await read(key)};
  if (kind === 'w') return void writes.set(key, rest[0]) || {};
  if (kind !== 'cas' && kind !== 'insert') return {ok: false, fatal: `no operation ${kind}`};
  // Compare and set, or insert if absent.
  const effect = same(await read(key), kind === 'cas' ? rest[0] : null);
  if (effect) writes.set(key, rest[rest.length - 1]);
  return {effect};
}

// All of it if nothing that was read has changed.
async function commit() {
  if (writes.size === 0) return {};
  const compare = [...seen].map(([key, {mod}]) => ({key, target: 'MOD', mod_revision: mod}));
  const success = [...writes].map(
      ([key, value]) => ({request_put: {key, value: encode(JSON.stringify(value))}}));
  let reply;
  try {
    reply = await post('txn', {compare, success});
  } catch (error) {
    return {ok: false, unknown: String(error)};  // it may have happened
  }
  return reply.succeeded ? {} : {ok: false, aborted: 'a key that was read has changed'};
}

async function answer(message) {
  switch (message.do) {
    case 'hello':
      timeout = message.timeout_ms;
      return {name: 'etcd', kinds: ['r', 'w', 'cas', 'insert']};
    case 'prepare':
      await post('deleterange', {key: encode(prefix), range_end: encode('exec0')});
      return {};
    case 'op':
      return operate(message.op);
    case 'commit':
      return commit();
    case 'begin': case 'abort':
      seen = new Map();
      writes = new Map();
      revision = undefined;
      return {};
    default:
      return {ok: false, fatal: `no request ${message.do}`};
  }
}

serve(answer);  // nothing is sent to etcd before the commit, which handles its errors itself
