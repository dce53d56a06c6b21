// Surveys: what they say, who may answer when, and what is refused.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as deniable from "../src/index.js";
import { SeededCoins } from "../src/seeded.js";
import { estimate, tally } from "../src/estimate.js";
import { read } from "../src/reports.js";
import { answersTo, GOOD, lawOf, surveyOf, surveyText } from "./shared.mjs";

const { mechanismFromSpec, Survey } = deniable;

test("what a person is asked", () => {
  const survey = surveyOf("kinds");
  assert.deepEqual(
    [survey.id, survey.title, survey.epsilon, survey.budget, survey.minimumReports],
    ["kinds", "kinds", 4, "equal", 10],
  );
  const [mood, often, films, apps, home, taste] = survey.questions;
  assert.deepEqual(
    [mood.kind, mood.choices, mood.ask],
    ["ordered", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "How are you, from 0 to 10?"],
  );
  assert.deepEqual(often.choices, ["never", "sometimes", "often"]);
  assert.deepEqual([films.items, films.low, films.high, films.atMost], [["Alien", "Brazil", "Casablanca"], 0.5, 5, 2]);
  assert.deepEqual([apps.items, apps.atMost, apps.choices], [["chat", "map", "game", "bank"], 3, undefined]);
  assert.deepEqual(
    [home.choices, home.points[0]],
    [
      ["Lyon", "Paris", "Nice"],
      [45.76, 4.84],
    ],
  );
  assert.deepEqual([taste.dimensions, taste.low, taste.high], [4, -1, 1]);
  const [sick] = surveyOf("open").questions;
  assert.deepEqual([sick.choices.length, sick.sensitive, sick.optional], [5, ["burn", "none"], true]);
  assert.equal(sick.mechanism.labels.at(-1), "(no answer)");
});

test("a survey is open between its dates, for clocks that are a little behind too", () => {
  const survey = surveyOf("sampled");
  assert.deepEqual(
    [-601, -599, 0, 864_000 - 1, 864_000].map((past) => survey.isOpen(survey.opens + past)),
    [false, true, true, true, false],
  );
  assert.deepEqual(
    [-5, 0, 86_400, 3 * 86_400].map((past) => survey.period(survey.opens + past)),
    [0, 0, 1, 3],
  );
  assert.ok(surveyOf("kinds").isOpen());
});

test("the text must be the one that was promised", () => {
  const text = surveyText("kinds");
  const { fingerprint } = Survey.parse(text);
  assert.equal(Survey.parse(text, fingerprint).fingerprint, fingerprint);
  assert.throws(() => Survey.parse(text.replace("How are you", "How old are you"), fingerprint), { name: "SurveyMismatch" });
  for (const none of [JSON.parse(text), undefined, null, 7, "", "null", "7", '{"format":"deniable survey 1"}']) {
    assert.throws(() => Survey.parse(none), { name: "InvalidSurvey" });
  }
});

test("no answer is in an error", () => {
  const survey = surveyOf("kinds");
  for (const wrong of [
    "SECRET",
    { SECRET: 3 },
    ["SECRET"],
    [5],
    [null],
    { Alien: "SECRET" },
    true,
    () => 1,
    Symbol.iterator,
  ]) {
    for (const { id } of survey.questions) {
      const answers = { ...answersTo("kinds"), [id]: wrong };
      assert.throws(
        () => survey.randomize(answers),
        (error) => error.name === "OutsideDomain" && !/SECRET/.test(error.message),
        id,
      );
    }
  }
});

test("ratings may come as a Map, and silence as nothing", () => {
  const survey = surveyOf("kinds");
  const made = (films) =>
    Buffer.from(survey.randomize({ ...answersTo("kinds"), films }, { coins: new SeededCoins(1), id: new Uint8Array(16) }));
  assert.deepEqual(
    made({ Alien: 2, Brazil: 3 }),
    made(
      new Map([
        ["Brazil", 3],
        ["Alien", 2],
      ]),
    ),
  );
  assert.deepEqual(made([["Alien", 2]]), made({ Alien: 2 }));
  const silent = surveyOf("silence");
  const both = [{}, { q0: null }].map((answers) =>
    Buffer.from(silent.randomize(answers, { coins: new SeededCoins(1), id: new Uint8Array(16) })),
  );
  assert.deepEqual(both[0], both[1]);
});

test("reports have fresh ids and secure coins unless others are given", () => {
  const survey = surveyOf("kinds");
  const [one, two] = [1, 2].map(() => read(survey, survey.randomize(answersTo("kinds"))).id);
  assert.notEqual(one, two);
});

test("descriptions that were changed are refused", () => {
  const vector = (name) => GOOD.find((each) => each.name === name);
  const made = ({ spec, ...more }, change) => mechanismFromSpec({ ...structuredClone(spec), ...change }, lawOf(more));
  const changes = [
    ["direct", { epsilon: 1000 }],
    ["direct", { epsilon: 0.1 }],
    ["direct", { domain: { kind: "categories", size: 1 } }],
    ["direct", { domain: { kind: "categories", size: 6 } }],
    ["direct", { domain: { kind: "sets" } }],
    ["direct", { domain: null }],
    ["utility-direct", { sensitive: [] }],
    ["utility-direct", { sensitive: ["AIDS", "plague"] }],
    ["duchi", { domain: { kind: "interval", low: 1, high: 0, steps: 4 } }],
    ["duchi", { domain: { kind: "interval", low: 0, high: 1, steps: 0 } }],
    ["duchi", { domain: { kind: "categories", size: 5 } }],
    ["pckv-unary", { domain: { kind: "categories", size: 5 } }],
    ["feature-vector", { domain: { kind: "features", dimensions: 4, low: -1, high: 1, steps: 1024 } }],
  ];
  for (const [name, change] of changes) {
    made(vector(name), {});
    assert.throws(() => made(vector(name), change), { name: /InvalidParameter|InvalidLaw/ }, `${name} ${JSON.stringify(change)}`);
  }
  for (const none of [null, {}, { mechanism: "constructor" }, { mechanism: "direct-1" }]) {
    assert.throws(() => mechanismFromSpec(none, lawOf(vector("direct"))), { name: "InvalidParameter" });
  }
});

test("tallies that cannot be are refused", () => {
  const of = (name) => GOOD.filter((each) => each.name === name).map((each) => mechanismFromSpec(each.spec, lawOf(each)))[0];
  const mechanism = of("direct");
  for (const counts of [
    { n: 0, counts: [0, 0, 0, 0, 0] },
    { n: 3, counts: [1, 2] },
    { n: 3, counts: [4, 0, 0, 0, 0] },
    { n: 3, counts: [-1, 0, 0, 0, 0] },
  ]) {
    assert.throws(() => estimate(mechanism, counts), { name: "InvalidReport" });
  }
  assert.throws(() => tally(mechanism, []), { name: "EmptyBatch" });
  assert.throws(() => tally(mechanism, [{ value: 5 }]), { name: "InvalidReport" });
  assert.throws(() => mechanism.perturb([]), { name: "EmptyBatch" });
  assert.throws(() => mechanism.perturb(3), { name: "OutsideDomain" });
  const keys = of("pckv-direct");
  assert.throws(() => tally(keys, keys.perturb([{}])), { name: "InvalidParameter" });
});

test("the source has one source of randomness, no dependencies, and types for all that it exports", () => {
  const folder = new URL("../src/", import.meta.url);
  for (const name of readdirSync(folder)) {
    const source = readFileSync(new URL(name, folder), "utf8");
    assert.ok(!/Math\s*\.\s*random/.test(source), name);
    for (const [, from] of source.matchAll(/from "([^"]+)"/g)) assert.ok(from.startsWith("./") || (name === "node.js" && from.startsWith("node:")), `${name} imports ${from}`);
    assert.ok(source.split("\n").length < 400, name);
  }
  const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(about.dependencies, undefined);
  const types = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8");
  const typed = [...types.matchAll(/^export (?:abstract )?(?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(typed.sort(), Object.keys(deniable).sort());
});
