// How long it takes to read and to randomize one survey, and to prove the laws of a survey of six questions of different kinds, for
// the first time and again, in milliseconds of the processor: `node bench.mjs survey law answers`.

import { readFileSync } from "node:fs";
import { Program } from "./src/program.js";
import { proved } from "./src/prove.js";
import { SecureCoins, Survey } from "../packages/deniable/src/deniable/collector/web/deniable.js";

const [text, law, answers] = process.argv.slice(2, 5).map((path) => readFileSync(path, "utf8"));
const given = JSON.parse(answers);
const coins = new SecureCoins();
coins.draw(1); // Node loads its WebCrypto at the first use

const spent = (work, times = 1) => {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
};
const reading = spent(() => Survey.parse(text, { law }));
const survey = Survey.parse(text, { law });
const first = spent(() => survey.randomize(given, { coins }));
const each = spent(() => survey.randomize(given, { coins }), Number(process.argv[5] ?? 2000));
const vectors = JSON.parse(readFileSync(new URL("../vectors/question_laws.json", import.meta.url), "utf8"));
const laws = vectors.filter((vector) => vector.survey === "kinds").map(({ law }) => law);
const verify = () => laws.forEach((law) => proved(new Program(law)));
const [proving, again] = [spent(verify), spent(verify, 20)];
console.log(JSON.stringify({ reading, first, each, questions: laws.length, proving, again }));
