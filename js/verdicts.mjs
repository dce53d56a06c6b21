// What this client makes of programs from a file, for a comparison with other implementations: `node verdicts.mjs programs.json`. The
// file is a list of {law, runs}, a text and seeded runs; for each a line has whether it is a law, its reports, and the odds proved.

import { readFileSync } from "node:fs";
import { reportText } from "./src/enumerate.js";
import { InvalidLaw } from "./src/errors.js";
import { written } from "./src/fraction.js";
import { Program } from "./src/program.js";
import { proved } from "./src/prove.js";
import { run } from "./src/run.js";
import { SeededCoins } from "./src/seeded.js";

function accepted(text) {
  try {
    return new Program(JSON.parse(text));
  } catch (error) {
    if (error instanceof InvalidLaw || error instanceof SyntaxError) return null;
    throw error;
  }
}

const exact = (code) => (Array.isArray(code) ? code.map(BigInt) : BigInt(code));
const verdict = (found) => (found ? (found.odds ? written(found.odds) : "unbounded") : "not proved");

for (const { law, runs } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const program = accepted(law);
  const reports = program && runs?.map(({ seed, codes }) => reportText(program, run(program, codes.map(exact), new SeededCoins(seed))));
  console.log(JSON.stringify(program ? { reports, odds: verdict(proved(program)) } : null));
}
