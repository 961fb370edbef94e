// The lines that assay exchanges with a driver in JavaScript; docs/formats/exec-protocol.md. One process a session.
'use strict';
const readline = require('readline');

// Integers have 64 bits and JavaScript's numbers 53, so a long one travels as an object that holds its digits.
const parse = (line) => JSON.parse(
    line.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}/g, (t) => t[0] === '"' ? t : `{"$":"${t}"}`));
const print = (reply) => JSON.stringify(reply).replace(/\{"\$":"(-?\d+)"\}/g, '$1');

// Replies to each line of standard input with what `answer` returns for it, or, where that throws, with what
// `failure` makes of the error and the message: by default that the transaction is aborted.
exports.serve = async (answer, failure = (error) => ({aborted: String(error)})) => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const message = parse(line);
    let reply;
    try {
      reply = {ok: true, ...await answer(message)};
    } catch (error) {
      reply = failure(error, message);
    }
    if (!reply.ok) delete reply.ok;
    console.log(print(reply));
  }
  process.exit(0);
};
