// Judges the transactions that an application does on PostgreSQL during a test.
//
//   test("withdrawals", recorded(process.env.DATABASE_URL, "serializable", async (url) => { …the application connects to url… }));
//
// `recorded` works with node:test, and with every runner in which a test that throws has failed.
const { spawn } = require("node:child_process");
const { constants, accessSync, mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { delimiter, join } = require("node:path");

// What ASSAY_PROGRAM names, the program of this package, or one on the PATH.
function program() {
  if (process.env.ASSAY_PROGRAM) return process.env.ASSAY_PROGRAM;
  const onPath = process.env.PATH.split(delimiter).filter((folder) => !folder.endsWith(join("node_modules", ".bin")));
  const own = join(__dirname, "program", `${process.platform}-${process.arch}`, "assay", "bin");
  for (const folder of [own, ...onPath]) {
    try {
      accessSync(join(folder, "assay"), constants.X_OK);
      return join(folder, "assay");
    } catch { /* the next one */ }
  }
  throw new Error("no assay program in this package or on the PATH; set ASSAY_PROGRAM to one");
}

function through(database, address) {
  const there = new URL(database);
  there.host = address;
  there.searchParams.set("sslmode", "disable"); // the recorder is on this machine, and speaks no TLS
  return there.href;
}

// "FILE:LINE" of a line of a stack.
function placeOf(frame) {
  const found = frame.match(/(?:file:\/\/|\(|at )(\/[^)]*?):(\d+):\d+\)?$/);
  return found ? `${decodeURI(found[1])}:${found[2]}` : "";
}

// Resolves once the application can connect: to `url`, and to `end`, which resolves to the exit code and what was said.
function start(database, level, history, test) {
  return new Promise((resolve, reject) => {
    const given = ["record", "--history", history, "--listen", "127.0.0.1:0", "--level", level, "--until-input-ends", "--test", test];
    // In the environment, who lists processes does not see a password.
    const recorder = spawn(program(), given, { env: { ...process.env, ASSAY_DATABASE_URL: database } });
    let notes = "", verdict = "";
    recorder.on("error", reject);
    recorder.stdin.on("error", () => {}); // it has ended; its exit code says why
    recorder.stdout.setEncoding("utf8").on("data", (text) => { verdict += text; });
    const ended = new Promise((end) => recorder.on("close", (code) => end({ code, told: verdict + notes })));
    ended.then(({ told }) => reject(new Error(`cannot record\n${told}`)));
    recorder.stderr.setEncoding("utf8").on("data", (text) => {
      notes += text;
      const listening = notes.match(/listening: .*?postgresql:\/\/([^/, ]+)[/,]/);
      if (!listening) return;
      resolve({ url: through(database, listening[1]), end: () => { recorder.stdin.end(); return ended; } });
    });
  });
}

// A test that gets the URL by which its application reaches the database through `assay record`, before its other arguments. It fails
// unless what was recorded satisfies the level, and where nothing was recorded.
function recorded(database, level, test) {
  const place = placeOf(new Error().stack.split("\n")[2] ?? "");
  return async (...context) => {
    const folder = mkdtempSync(join(tmpdir(), "assay-"));
    const recorder = await start(database, level, join(folder, "history.jsonl"), place);
    let failed = null;
    try {
      await test(recorder.url, ...context);
    } catch (error) {
      failed = error;
    }
    const { code, told } = await recorder.end();
    if (code === 0) rmSync(folder, { recursive: true });
    const violated = code === 0 ? null : new Error(`${level} is not confirmed (exit code ${code})\n${told}`);
    if (failed && violated) throw new AggregateError([failed, violated], `${failed}\n${violated.message}`);
    if (failed ?? violated) throw failed ?? violated;
  };
}

module.exports = { program, recorded };
