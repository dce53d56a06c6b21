// What runs with the coins that people get is what was tested with all others: secure coins bring bytes, and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hex } from "../src/bytes.js";
import { Coins, SecureCoins } from "../src/coins.js";
import { reportText } from "../src/enumerate.js";
import { HALF, ratio } from "../src/fraction.js";
import * as deniable from "../src/index.js";
import { Program } from "../src/program.js";
import { run } from "../src/run.js";
import { SeededCoins } from "../src/seeded.js";
import { answersTo, file, GOOD, lawOf, surveyOf } from "./shared.mjs";

const POOL = 4096; // bytes that secure coins take at once; what is left of them is not used for a draw that needs more

/** A WebCrypto that gives the stream of a seed. */
function streaming(seed) {
  const stream = new SeededCoins(seed);
  return { getRandomValues: (array) => array.set(stream.draw(array.length)) };
}

test("secure coins have no draw of their own", () => {
  assert.deepEqual(Object.getOwnPropertyNames(SecureCoins.prototype).sort(), ["constructor", "draw"]);
  assert.deepEqual(Object.keys(new SecureCoins()), []);
  assert.equal(Object.getPrototypeOf(SecureCoins.prototype), Coins.prototype);
});

test("from the same bytes, secure coins give the reports of the vectors", () => {
  let many = 0;
  for (const vector of GOOD) {
    if (vector.random_bytes.reduce((a, b) => a + b, 0) > POOL) continue;
    const law = lawOf(vector);
    let mechanism;
    try {
      mechanism = deniable.mechanismFromSpec(vector.spec, law);
    } catch {
      continue; // what this device does not prove is in vectors.test.mjs
    }
    const coins = new SecureCoins(streaming(vector.seed));
    const reports = vector.answers.map((answer) => hex(mechanism.pack(mechanism.perturb([answer], coins))));
    assert.deepEqual(reports, vector.reports, vector.name);
    many++;
  }
  assert.ok(many > 50, String(many));
});

test("from the same bytes, secure coins run every law as Python does", () => {
  let many = 0;
  for (const { law, cases } of file("laws")) {
    const program = new Program(law);
    for (const { seed, codes, report } of cases) {
      const seeded = new SeededCoins(seed);
      const given = codes.map((code) => (Array.isArray(code) ? code.map(BigInt) : BigInt(code)));
      const wanted = reportText(program, run(program, given, seeded));
      if (seeded.drawn > POOL) continue;
      assert.equal(reportText(program, run(program, given, new SecureCoins(streaming(seed)))), wanted, JSON.stringify(report));
      many++;
    }
  }
  assert.ok(many > 300, String(many));
});

// With the randomness of the system, which has no seed: some hundred comparisons, each of which fails by chance with a probability below 1e-9.

/** How many of n draws were each of `size` values must be near the chances. */
function near(n, chances, draw) {
  const counts = chances.map(() => 0);
  for (let i = 0; i < n; i++) counts[draw()]++;
  chances.forEach((p, place) => {
    const off = Math.abs(counts[place] - n * p) / Math.sqrt(n * p * (1 - p) || 1);
    assert.ok(off < 6.5, `${counts} of ${n}, not ${chances}`);
  });
}

test("every draw of secure coins has its probability", () => {
  const coins = new SecureCoins();
  const third = ratio(1, 3);
  near(20_000, [2 / 3, 1 / 3], () => Number(coins.flip(third)));
  near(20_000, [1 / 2, 1 / 2], () => Number(coins.flip(HALF)));
  near(20_000, [2 / 3, 1 / 3], () => Number(coins.toss(third, 7)[6]));
  near(20_000, [1 / 5, 1 / 5, 1 / 5, 1 / 5, 1 / 5], () => coins.below(5));
  near(20_000, [1 / 6, 1 / 6, 1 / 3, 1 / 3], () => coins.split(third, 2, 2));
  near(20_000, [1 / 4, 0, 3 / 4], () => coins.pick([1n, 0n, 3n]));
  near(20_000, [3 / 4, 1 / 4], () => Number(coins.tossAll([1], 4)[0]));
  near(20_000, [3 / 4, 1 / 4], () => Number(coins.tossAll([2 ** 51], 2 ** 53)[0]));
  near(20_000, [1 / 3, 1 / 3, 1 / 3], () => coins.subset(3, 1).indexOf(true));
  near(20_000, [1 / 4, 3 / 4], () => Number(coins.majority(3)[0]));
});

test("reports that people send have the probabilities of their law", () => {
  for (const name of ["direct", "unary", "duchi"]) {
    const vector = GOOD.find((each) => each.name === name);
    const mechanism = deniable.mechanismFromSpec(vector.spec, lawOf(vector));
    const [answer] = vector.answers;
    const seen = new Map();
    const count = (coins) => {
      const found = hex(mechanism.pack(mechanism.perturb([answer], coins)));
      if (!seen.has(found)) seen.set(found, [0, 0]);
      return seen.get(found);
    };
    const [n, seeded] = [4000, new SeededCoins(`secure ${name}`)];
    for (let i = 0; i < n; i++) {
      count()[0]++; // with its own coins, as a device does
      count(seeded)[1]++;
    }
    assert.ok(seen.size > 1);
    for (const [secure, other] of seen.values()) assert.ok(Math.abs(secure - other) < 6.5 * Math.sqrt(secure + other) + 1, name);
  }
});

test("two messages on the same answers differ in their noise", () => {
  const survey = surveyOf("kinds");
  const sent = new Set(Array.from({ length: 20 }, () => hex(survey.randomize(answersTo("kinds"), { id: new Uint8Array(16) }))));
  assert.ok(sent.size > 15, String(sent.size));
});
