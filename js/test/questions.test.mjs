// The laws of questions: they give what the mechanisms' own code gives, and a device runs those that it has proved.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hex } from "../src/bytes.js";
import { written } from "../src/fraction.js";
import { mechanismFromSpec, Survey } from "../src/index.js";
import { lawFor, perturbed } from "../src/law.js";
import { Program } from "../src/program.js";
import { provedOdds } from "../src/prove.js";
import { SeededCoins } from "../src/seeded.js";
import { bytes, file, GOOD, SURVEYS } from "./shared.mjs";

const LAWS = file("question_laws");
const known = ({ spec }) => {
  try {
    return mechanismFromSpec(spec);
  } catch {
    return null;
  }
};

test("the laws of mechanisms give the reports of their own code, draw by draw", () => {
  let found = 0;
  for (const vector of GOOD.filter(known)) {
    const mechanism = known(vector);
    const { law } = LAWS.find(({ name }) => name === vector.name);
    const program = lawFor(law, mechanism.domain, mechanism.fields);
    const coins = new SeededCoins(vector.seed);
    vector.answers.forEach((answer, i) => {
      const before = coins.drawn;
      const report = perturbed(program, mechanism.codes(answer), coins);
      assert.equal(hex(mechanism.pack([report])), vector.reports[i], vector.name);
      assert.equal(coins.drawn - before, vector.random_bytes[i], vector.name);
    });
    found++;
  }
  assert.ok(found > 50, String(found));
});

/** The survey of a vector, with the law of every question in it. */
const carrying = ({ name, survey }, change = (law) => law) => {
  const tree = JSON.parse(survey);
  for (const question of tree.question) {
    question.law = change(LAWS.find((each) => each.survey === name && each.question === question.id)?.law);
  }
  return JSON.stringify(tree);
};

test("surveys that carry laws send the same reports", () => {
  const proved = [];
  for (const vector of SURVEYS) {
    const survey = Survey.parse(carrying(vector));
    const coins = new SeededCoins(vector.seed);
    const part = survey.drawPart(coins);
    const message = survey.randomize(vector.answers, { coins, part, now: vector.now, id: bytes(vector.id) });
    assert.equal(coins.drawn, vector.random_bytes, vector.name);
    const [found, wanted] = [hex(message), vector.message];
    assert.equal(found.slice(48, -8), wanted.slice(48, -8), vector.name); // all but the fingerprint and the checksum
    proved.push(...survey.questions.filter(({ mechanism }) => mechanism.proved).map(({ mechanism }) => mechanism.wire));
  }
  assert.ok(new Set(proved).size > 3, String(proved));
});

test("what a device proves of a law is its exact loss", () => {
  const found = [];
  for (const vector of GOOD.filter(known)) {
    const { hiding } = known(vector);
    const sensitive = hiding && ((answer) => hiding.secret[answer] >= 0);
    const odds = provedOdds(new Program(LAWS.find(({ name }) => name === vector.name).law), sensitive);
    if (odds === undefined) continue;
    assert.equal(written(odds), vector.odds, vector.name);
    found.push(vector.name);
  }
  assert.ok(found.length > 15, String(found));
});

const direct = GOOD.find(({ spec }) => spec.mechanism === "direct-1");
const { law: DIRECT } = LAWS.find(({ name }) => name === direct.name);
const [code, split, ...others] = DIRECT.nodes;
const size = code[4] + 1;
const changed = (...nodes) => ({ nodes, report: [["value", nodes.length - 1]] });

for (const [what, law, message] of [
  ["tells the truth", changed(code), /discloses more/],
  ["has larger odds", changed(code, ["split", [], "99/100", 1, size - 1], ...others), /discloses more/],
  ["leaks now and then", changed(...DIRECT.nodes, ["toss", [], "1/1000"], ["where", [4, 0, 3]]), /discloses more/],
  ["is for fewer answers", changed(["code", [], "answer", 0, size - 2], split, ...others), /other answers/],
  ["asks for something else", changed(["code", [], "constructor", 0, size - 1], split, ...others), /other answers/],
  ["has another field", { ...DIRECT, report: [["other", 3]] }, /other reports/],
  ["has another width", changed(code, split, ["add", [0, 1]]), /other reports/],
  ["is no law", { nodes: [["magic", []]], report: [["value", 0]] }, /no operation/],
  ["is text", "law", /not a law/],
  ["is missing a part", null, /not a law/],
]) {
  test(`a law that ${what} is not run`, () => {
    assert.throws(() => mechanismFromSpec(direct.spec, law), { name: "InvalidLaw", message });
  });
}

test("a survey with such a law is refused in one sentence", () => {
  const vector = SURVEYS.find(({ survey }) => JSON.parse(survey).question[0].mechanism.mechanism === "direct-1");
  const text = carrying(vector, (law) => law && { ...law, nodes: law.nodes.map((node) => (node[0] === "split" ? ["below", [], 1] : node)) });
  assert.throws(() => Survey.parse(text), { name: "InvalidSurvey", message: /^Question 1: The law discloses more/ });
});

test("what cannot be followed in a moment is not called proved", () => {
  const program = (...nodes) => new Program({ nodes, report: [["x", nodes.length - 1]] });
  const start = performance.now();
  const answer = ["code", [], "answer", 0, 1];
  const large = [
    program(answer, ["flags", [], "1/2", 2 ** 20], ["toss", [], "1/2"], ["put", [1, 0, 2]]),
    program(["code", [], "answer", 0, 2 ** 40]),
    program(answer, ["const", [], 0], ["subset", [1], 2 ** 20, 5], ["get", [2, 0]]),
    program(answer, ...new Array(19_999).fill(["toss", [], "1/3"])),
    program(["below", [], 3], ["code", [0], "key", 0, 3], ["toss", [], "1/2"], ["mul", [1, 2]]), // a private draw
    program(...new Array(19_999).fill(answer)),
    program(["code", [], "up", 0, 8, 2 ** 20], ["toss_each", [0], 8]),
  ];
  for (const each of large) assert.equal(provedOdds(each), undefined);
  assert.ok(performance.now() - start < 2000);
});

test("a chance is followed at its ends only where the law is linear in it", () => {
  const up = ["code", [], "up", 0, 8];
  const made = (...nodes) => new Program({ nodes: [up, ...nodes], report: [["x", nodes.length]] });
  const noisy = made(["toss_each", [0], 8], ["split", [], "3/4", 1, 1], ["add", [1, 2]], ["mod", [3], 2]);
  assert.equal(written(provedOdds(noisy)), "3");
  assert.equal(provedOdds(made(["toss_each", [0], 8])), null);
  // two tosses of one chance differ only in between, never at its ends: all nine values are followed
  const twice = made(["toss_each", [0], 8], ["toss_each", [0], 8], ["xor", [1, 2]], ["split", [], "3/4", 1, 1], ["add", [3, 4]], ["mod", [5], 2]);
  assert.equal(written(provedOdds(twice)), "2");
});
