// A small store: a file that each transaction reads when it begins and writes when it commits. Mode locked: one transaction at a time.
// Mode broken: without the lock, so that of two that write at once one is lost.
'use strict';
const fs = require('fs');
const {threadId} = require('worker_threads');

exports.open = (directory, mode) => {
  const file = `${directory}/store.json`, lock = `${directory}/lock`;
  if (!fs.existsSync(file)) fs.writeFileSync(file, '[]');
  const locked = mode === 'locked';
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  let values, open = false;
  const end = () => {
    if (open && locked) fs.rmdirSync(lock);
    open = false;
  };
  const acquire = () => {
    while (true) {
      try {
        return fs.mkdirSync(lock);
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
        Atomics.wait(asleep, 0, 0, 0.1);
      }
    }
  };
  const txn = {
    get: (how, key) => values.get(key) ?? null,
    put: (how, key, value) => values.set(key, value),
    delete: (key) => values.delete(key),
    range: (how, low, high) => [...values].filter(([key]) => low <= key && key <= high).sort(([a], [b]) => a - b),
    commit: () => {
      fs.writeFileSync(`${file}.${threadId}`, JSON.stringify([...values]));
      fs.renameSync(`${file}.${threadId}`, file);
      end();
    },
    abort: end,
  };
  return {
    version: '1', reads: ['get'], writes: ['set'], ranges: ['filter'],
    begin: () => {
      if (locked) acquire();
      open = true;
      values = new Map(JSON.parse(fs.readFileSync(file, 'utf8')));
      return txn;
    },
  };
};
