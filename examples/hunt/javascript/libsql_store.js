// libSQL, a fork of SQLite: a connection for each thread. Modes: wal and delete, the journal; wal-deferred begins without a lock.
'use strict';
const fs = require('fs');
const path = require('path');
const Database = require('libsql');
const {Conflict, DURABLE} = require('./hunt.js');

// Nothing of a statement that met a lock remains.
function attempt(work) {
  try {
    return work();
  } catch (error) {
    if (/^SQLITE_BUSY|^SQLITE_LOCKED/.test(error.code || '') || /database is locked/.test(error.message)) throw new Conflict(error.message);
    throw error;
  }
}

exports.open = (directory, mode) => {
  const db = new Database(`${directory}/hunt.db`, {timeout: 50});
  db.exec('PRAGMA busy_timeout = 50');
  db.exec(`PRAGMA journal_mode = ${mode.split('-')[0]}`);
  db.exec(`PRAGMA synchronous = ${DURABLE ? 'FULL' : 'OFF'}`);
  db.exec('CREATE TABLE IF NOT EXISTS kv (k INTEGER PRIMARY KEY, v INTEGER NOT NULL)');
  const prepared = {
    point: db.prepare('SELECT v FROM kv WHERE k = ?'),
    scan: db.prepare('SELECT max(v) AS v FROM kv WHERE k + 0 = ?'),
    put: db.prepare('INSERT OR REPLACE INTO kv VALUES (?, ?)'),
    upsert: db.prepare('INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v'),
    remove: db.prepare('DELETE FROM kv WHERE k = ?'),
    up: db.prepare('SELECT k, v FROM kv WHERE k BETWEEN ? AND ? ORDER BY k'),
    down: db.prepare('SELECT k, v FROM kv WHERE k BETWEEN ? AND ? ORDER BY k DESC'),
  };
  const txn = {
    get: (how, key) => attempt(() => {
      const row = prepared[how === 0 ? 'point' : 'scan'].get(key);
      return row === undefined || row.v === null ? null : row.v;
    }),
    put: (how, key, value) => attempt(() => prepared[how === 0 ? 'put' : 'upsert'].run(key, value)),
    delete: (key) => attempt(() => prepared.remove.run(key)),
    range: (how, low, high) => attempt(() => {
      const rows = prepared[how === 0 ? 'up' : 'down'].all(low, high).map(({k, v}) => [k, v]);
      return how === 0 ? rows : rows.reverse();
    }),
    commit: () => attempt(() => db.exec('COMMIT')),
    abort: () => {
      if (db.inTransaction) db.exec('ROLLBACK');
    },
  };
  return {
    version: JSON.parse(fs.readFileSync(path.join(path.dirname(require.resolve('libsql')), 'package.json'))).version,
    reads: ['point', 'scan'], writes: ['replace', 'upsert'], ranges: ['up', 'down'],
    begin: (readOnly) => {
      attempt(() => db.exec(readOnly || mode.endsWith('deferred') ? 'BEGIN' : 'BEGIN IMMEDIATE'));
      return txn;
    },
  };
};
