// assay from JavaScript, through `assay check --json`: Node cannot call C by itself, and a check is one call, so the program
// serves as well. ASSAY names it if it is not on the path.
//
//   import { check } from "./check.mjs";
//   const { levels } = await check({ path: "run.jsonl", levels: ["serializable"] });
//   assert.equal(levels.serializable.verdict, "satisfied");
//
//   node check.mjs run.jsonl serializable "SNAPSHOT ISOLATION"
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

// Decides the levels of the history at `path`, or of `history`: the text of a file, or the transactions of one as objects
// { session, ops: [["w", "x", 1], …] } (docs/formats/assay.md). Returns what docs/schemas/check.schema.json describes; throws what
// assay says of a history that it cannot read.
export async function check({ path = "-", history, levels = [], time }) {
  const flags = ["check", path, "--json", ...levels.flatMap((level) => ["--level", level])];
  if (time !== undefined) flags.push("--time", `${time}s`);
  const assay = spawn(process.env.ASSAY ?? "assay", flags);
  const failed = new Promise((_, reject) => assay.on("error", reject));
  const ended = new Promise((resolve) => assay.on("close", resolve));
  assay.stdin.on("error", () => {}); // it reads no further than it must
  assay.stdin.end(typeof history === "object" ? lines(history) : history);
  const [output, said, code] = await Promise.race([Promise.all([all(assay.stdout), all(assay.stderr), ended]), failed]);
  if (code > 2) throw new Error(said.trim() || `assay ended with ${code}`);
  return JSON.parse(output);
}

// The text of a history file in the native format.
export function lines(transactions) {
  return [{ assay: 1 }, ...transactions].map((line) => JSON.stringify(line) + "\n").join("");
}

async function all(stream) {
  let text = "";
  for await (const part of stream.setEncoding("utf8")) text += part;
  return text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path, ...levels] = process.argv.slice(2);
  try {
    const result = await check({ path, levels });
    for (const [level, { verdict, anomaly, explanation }] of Object.entries(result.levels)) {
      console.log(level, verdict, anomaly ?? "");
      if (explanation) console.log(" ", explanation);
    }
  } catch (error) {
    console.error(error.message);
    process.exitCode = 3;
  }
}
