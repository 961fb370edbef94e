#!/usr/bin/env node
// The program of this package, or the one on the PATH.
const { spawn } = require("node:child_process");
const { program } = require("./index.js");

const assay = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
assay.on("error", (error) => { console.error(`assay: ${error.message}`); process.exitCode = 4; });
assay.on("exit", (code, signal) => { process.exitCode = code ?? 128 + require("node:os").constants.signals[signal]; });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => assay.kill(signal));
