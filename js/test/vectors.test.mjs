// The client agrees with the Python code to the byte, on good input and bad: its laws are those that the collector serves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprint, hex } from "../src/bytes.js";
import { estimate, estimates, tally } from "../src/estimate.js";
import { packMessage, unpackMessage } from "../src/files.js";
import * as deniable from "../src/index.js";
import { read } from "../src/reports.js";
import { SeededCoins } from "../src/seeded.js";
import { BAD, BAD_SURVEYS, bytes, file, GOOD, lawOf, lawText, SURVEYS, surveyOf, surveyText } from "./shared.mjs";

// Domains that no question of a survey has, and published laws that exceed their epsilon.
const LEFT_OUT = "bitrand bitrand-latent published-uLH published-uLH-uneven published-uWheel".split(" ");
const leftOut = ({ name }) => LEFT_OUT.includes(name);
const nameOf = (text) => ["open", "kinds", "commute"].find((each) => text.includes(JSON.parse(surveyText(each)).survey.id)) ?? "kinds";
const made = (vector) => deniable.mechanismFromSpec(vector.spec, lawOf(vector));

const near = (found, wanted, what) => {
  assert.equal(found.length, wanted.length, what);
  found.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) <= 1e-11 * Math.max(1, Math.abs(wanted[i])), what));
};

for (const vector of GOOD.filter((each) => !leftOut(each))) {
  test(`good: ${vector.name}`, () => {
    const mechanism = made(vector);
    assert.equal(mechanism.bits, vector.report_bits);
    assert.equal(mechanism.loss.odds, vector.odds);
    const coins = new SeededCoins(vector.seed);
    const reports = vector.answers.map((answer, i) => {
      const before = coins.drawn;
      const [report] = mechanism.perturb([answer], coins);
      assert.equal(hex(mechanism.pack([report])), vector.reports[i]);
      assert.equal(coins.drawn - before, vector.random_bytes[i]);
      return report;
    });
    assert.equal(hex(packMessage(mechanism, vector.fingerprint, reports)), vector.message);
    assert.deepEqual(unpackMessage(mechanism, vector.fingerprint, bytes(vector.message)), reports);
    if (estimates(mechanism)) {
      const counted = tally(mechanism, reports);
      assert.deepEqual(counted, { n: reports.length, counts: vector.counts });
      const found = estimate(mechanism, counted);
      near(found.values, vector.values, "values");
      near(
        found.variance.map((each) => Math.sqrt(Math.max(each, 0))),
        vector.standard_errors,
        "standard errors",
      );
    }
  });
}

test("categories and numbers are estimated here too", () => {
  const estimated = GOOD.filter((each) => !leftOut(each) && estimates(made(each)));
  const wires = new Set(estimated.map(({ spec }) => spec.mechanism));
  const families = "direct unary subset hadamard hashing wheel design weighted-design utility duchi three-outputs piecewise hybrid";
  for (const wire of families.split(" ")) assert.ok(wires.has(`${wire}-1`), wire);
});

test("what this device cannot prove is refused", () => {
  for (const vector of GOOD.filter(leftOut)) assert.throws(() => made(vector), deniable.InvalidParameter);
});

test("a law that no rule of proof reaches is refused", () => {
  const vector = GOOD.find(({ spec }) => spec.mechanism.startsWith("direct"));
  const { law, ...about } = lawOf(vector);
  const nodes = [law.nodes.find(([op]) => op === "code"), ["below", [], 2 ** 40], ["div", [1], 2 ** 39], ["min", [0, 2]]];
  const report = [[law.report[0][0], 3]];
  const refused = { name: "InvalidLaw", message: /^No rule of proof/ };
  assert.throws(() => deniable.mechanismFromSpec(vector.spec, { ...about, law: { nodes, report } }), refused);
});

for (const vector of BAD) {
  const good = GOOD.find((each) => each.name === vector.name);
  if (leftOut(good)) continue;
  test(`bad: ${vector.name}, ${vector.why}`, () => {
    assert.throws(() => unpackMessage(made(good), good.fingerprint, bytes(vector.message)), { name: vector.error });
  });
}

for (const vector of SURVEYS) {
  test(`survey: ${vector.name}`, () => {
    const survey = surveyOf(vector.name);
    assert.equal(survey.fingerprint, vector.fingerprint);
    assert.equal(survey.loss.odds, vector.odds);
    const coins = new SeededCoins(vector.seed);
    const part = survey.drawPart(coins);
    assert.equal(String(part), vector.part);
    const message = survey.randomize(vector.answers, { coins, part, now: vector.now, id: bytes(vector.id) });
    assert.equal(coins.drawn, vector.random_bytes);
    assert.equal(hex(message), vector.message);
    const { id, reports } = read(survey, message);
    assert.equal(id, vector.id);
    assert.equal(reports.size, survey.part(part).length);
  });
}

for (const { name, spec, seed, answers, random_bytes: drawn, reports, distinct, odds, ever, ...law } of file("memory")) {
  test(`permanent answers: ${name}`, () => {
    const mechanism = deniable.mechanismFromSpec(spec, law);
    assert.deepEqual([mechanism.loss.odds, mechanism.lifetimeLoss.odds], [odds, ever]);
    const coins = new SeededCoins(seed);
    let memory = {};
    answers.forEach((answer, day) => {
      const before = coins.drawn;
      assert.equal(hex(mechanism.pack(mechanism.perturb([answer], coins, memory))), reports[day]);
      assert.equal(coins.drawn - before, drawn[day]);
      memory = JSON.parse(JSON.stringify(memory)); // as a ledger keeps it
    });
    assert.equal(Object.keys(memory.answers).length, distinct);
  });
}

for (const vector of BAD_SURVEYS) {
  test(`bad: ${vector.name}`, () => {
    const attempt = () => {
      if (vector.answers) surveyOf(vector.survey).randomize(vector.answers);
      else if (vector.message !== undefined) read(surveyOf(vector.survey), bytes(vector.message));
      else {
        const name = nameOf(vector.survey);
        deniable.Survey.parse(vector.survey, { law: lawText(name) });
      }
    };
    assert.throws(attempt, (error) => error.name === vector.error || error.name === "InvalidLaw");
  });
}

test("surveys that were changed are refused for what they say, where somebody makes a law that fits them", () => {
  // What a page asks comes from the domain of the mechanism, and what runs is the law: the kind is for the page to know, and the
  // name and the odds of the mechanism mean nothing here.
  const left = ["an unknown kind", "an unknown mechanism", "other odds"];
  for (const vector of BAD_SURVEYS.filter(({ answers, message, name }) => !answers && message === undefined && !left.includes(name))) {
    const name = nameOf(vector.survey);
    const law = JSON.stringify({ ...JSON.parse(lawText(name)), survey: fingerprint(vector.survey) });
    assert.throws(() => deniable.Survey.parse(vector.survey, { law }), { name: /InvalidSurvey|InvalidLaw/ }, vector.name);
  }
});
