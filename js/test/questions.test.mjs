// The laws of questions: they give what the mechanisms' own code gives, and a device runs those that it has proved.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hex } from "../src/bytes.js";
import { mechanismFromSpec, Survey } from "../src/index.js";
import { lawFor, perturbed } from "../src/law.js";
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
  assert.ok(new Set(proved).size > 15, String(proved));
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
