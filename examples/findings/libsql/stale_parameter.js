// libSQL for JavaScript: after get() has met a lock (SQLITE_BUSY), the next get() of that statement gives the row of the key before.
//
//     npm install libsql@0.5.29 && node stale_parameter.js
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const Database = require('libsql');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'libsql-'));
const open = () => new Database(path.join(folder, 'x.db'));
const writer = open(), reader = open();
writer.exec('PRAGMA journal_mode = delete');
writer.exec('CREATE TABLE kv (k INTEGER PRIMARY KEY, v INTEGER)');
writer.exec('INSERT INTO kv VALUES (1, 100), (2, 200)');

const get = reader.prepare('SELECT k, v FROM kv WHERE k = ?');
writer.exec('BEGIN EXCLUSIVE');
try {
  get.get(1);
} catch (error) {
  console.log(`key 1, while another connection writes: ${error.code}`);
}
writer.exec('COMMIT');

const ask = (statement, how) => {
  const {k, v} = statement.get(2);
  console.log(`key 2, ${how}: the row of key ${k}, ${v}`);
  return k;
};
ask(reader.prepare('SELECT k, v FROM kv WHERE k = ?'), 'by a new statement');
const found = ask(get, 'by the statement that was refused');
ask(get, 'by the same, once more');
fs.rmSync(folder, {recursive: true});
process.exit(found === 2 ? 0 : 1);
