// How long it takes to randomize one survey, and how large the client is: `node bench.mjs survey.json answers.json`.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { SecureCoins, Survey } from "../src/deniable/collector/pages/deniable.js";

const [text, answers] = [process.argv[2], process.argv[3]].map((path) => readFileSync(path, "utf8"));
const given = JSON.parse(answers);
const coins = new SecureCoins();
coins.draw(1); // Node loads its WebCrypto at the first use

const timed = (work) => {
  const start = performance.now();
  work();
  return performance.now() - start;
};
const reading = timed(() => Survey.parse(text));
const survey = Survey.parse(text);
const first = timed(() => survey.randomize(given, { coins }));
const all = Array.from({ length: 1000 }, () => timed(() => survey.randomize(given, { coins }))).sort((a, b) => a - b);
const client = readFileSync(new URL("../src/deniable/collector/pages/deniable.js", import.meta.url));
console.log(JSON.stringify({ reading, first, median: all[500], p99: all[990], bytes: client.length, gzipped: gzipSync(client, { level: 9 }).length }));
