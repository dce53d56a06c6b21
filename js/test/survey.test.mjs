// Surveys: what they say, who may answer when, and what is refused.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as deniable from "../src/index.js";
import { SeededCoins } from "../src/seeded.js";
import { answersTo, GOOD, surveyText } from "./shared.mjs";

const { mechanismFromSpec, Survey } = deniable;

test("what a person is asked", () => {
  const survey = Survey.parse(surveyText("kinds"));
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
  const [sick] = Survey.parse(surveyText("open")).questions;
  assert.deepEqual([sick.choices.length, sick.sensitive, sick.optional], [5, ["burn", "none"], true]);
  assert.equal(sick.mechanism.labels.at(-1), "(no answer)");
});

test("a survey is open between its dates, for clocks that are a little behind too", () => {
  const survey = Survey.parse(surveyText("sampled"));
  assert.deepEqual(
    [-601, -599, 0, 864_000 - 1, 864_000].map((past) => survey.isOpen(survey.opens + past)),
    [false, true, true, true, false],
  );
  assert.deepEqual(
    [-5, 0, 86_400, 3 * 86_400].map((past) => survey.period(survey.opens + past)),
    [0, 0, 1, 3],
  );
  assert.ok(Survey.parse(surveyText("kinds")).isOpen());
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
  const survey = Survey.parse(surveyText("kinds"));
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
  const survey = Survey.parse(surveyText("kinds"));
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
  const silent = Survey.parse(surveyText("silence"));
  const both = [{}, { q0: null }].map((answers) =>
    Buffer.from(silent.randomize(answers, { coins: new SeededCoins(1), id: new Uint8Array(16) })),
  );
  assert.deepEqual(both[0], both[1]);
});

test("reports have fresh ids and secure coins unless others are given", () => {
  const survey = Survey.parse(surveyText("kinds"));
  const [one, two] = [1, 2].map(() => survey.read(survey.randomize(answersTo("kinds"))).id);
  assert.notEqual(one, two);
});

test("descriptions that were changed are refused", () => {
  const spec = (name) => structuredClone(GOOD.find((each) => each.name === name).spec);
  const changes = [
    ["direct", { odds: "4" }],
    ["direct", { epsilon: 1000 }],
    ["direct", { epsilon: "1" }],
    ["direct", { odds: undefined }],
    ["direct", { odds: "3/0" }],
    ["direct", { domain: { kind: "categories", size: 1 } }],
    ["direct", { domain: { kind: "sets" } }],
    ["direct", { domain: null }],
    ["unary", { p: "1/4" }],
    ["unary", { q: "0" }],
    ["unary", { p: "0.5" }],
    ["subset", { size: 5 }],
    ["subset", { size: 0 }],
    ["subset", { size: 2.5 }],
    ["hashing", { prime: 6 }],
    ["hashing", { buckets: 1 }],
    ["wheel", { arc: 5 }],
    ["wheel", { prime: 7 }],
    ["design", { design: { family: "singer", v: 7, k: 4, lambda: 1, q: 2, t: 3, polynomial: [1, 1, 0] } }],
    ["design", { design: { family: "magic", v: 7, k: 3, lambda: 1 } }],
    ["utility-direct", { sensitive: [] }],
    ["utility-direct", { sensitive: ["AIDS", "plague"] }],
    ["utility-direct", { base: undefined }],
    ["utility-direct", { sensitive: ["cancer", "AIDS", "none", "other"] }],
    ["three-outputs", { a: "1" }],
    ["piecewise", { window: 0 }],
    ["piecewise", { stride: 2 ** 20 }],
    ["hybrid", { alpha: "x" }],
    ["feature-vector", { coordinates: 4 }],
    ["feature-vector", { scalar: "magic-1" }],
    ["duchi-vector", { tie: "0" }],
    ["pckv-unary", { kept: "1" }],
    ["pckv-direct", { a: "3/2" }],
    ["key-sampling", { p1: "2" }],
    ["key-sampling-fakes", { fakes: [1] }],
    ["bipartite", { near: 12 }],
    ["coarsened", { representatives: [] }],
    ["coarsened", { representatives: [3, 3] }],
    ["duchi", { domain: { kind: "interval", low: 1, high: 0, steps: 4 } }],
    ["duchi", { domain: { kind: "interval", low: 0, high: 1, steps: 0 } }],
    ["duchi", { domain: { kind: "categories", size: 5 } }],
    ["pckv-unary", { domain: { kind: "categories", size: 5 } }],
  ];
  for (const [name, change] of changes) {
    mechanismFromSpec(spec(name));
    assert.throws(
      () => mechanismFromSpec({ ...spec(name), ...change }).perturb([0]),
      { name: "InvalidParameter" },
      `${name} ${JSON.stringify(change)}`,
    );
  }
  for (const none of [null, {}, { mechanism: "constructor" }, { mechanism: "direct-2" }]) {
    assert.throws(() => mechanismFromSpec(none), { name: "InvalidParameter" });
  }
});

test("tallies that cannot be are refused", () => {
  const mechanism = mechanismFromSpec(GOOD.find((each) => each.name === "direct").spec);
  for (const tally of [
    { n: 0, counts: [0, 0, 0, 0, 0] },
    { n: 3, counts: [1, 2] },
    { n: 3, counts: [4, 0, 0, 0, 0] },
    { n: 3, counts: [-1, 0, 0, 0, 0] },
  ]) {
    assert.throws(() => mechanism.estimate(tally), { name: "InvalidReport" });
  }
  assert.throws(() => mechanism.tally([]), { name: "EmptyBatch" });
  assert.throws(() => mechanism.tally([{ value: 5 }]), { name: "InvalidReport" });
  assert.throws(() => mechanism.perturb([]), { name: "EmptyBatch" });
  assert.throws(() => mechanism.perturb(3), { name: "OutsideDomain" });
  const keys = mechanismFromSpec(GOOD.find((each) => each.name === "pckv-direct").spec);
  assert.throws(() => keys.tally(keys.perturb([{}])), { name: "InvalidParameter" });
});

test("the source has one source of randomness, no dependencies, and types for all that it exports", () => {
  const folder = new URL("../src/", import.meta.url);
  for (const name of readdirSync(folder)) {
    const source = readFileSync(new URL(name, folder), "utf8");
    assert.ok(!/Math\s*\.\s*random/.test(source), name);
    for (const [, from] of source.matchAll(/from "([^"]+)"/g)) assert.ok(from.startsWith("./"), `${name} imports ${from}`);
    assert.ok(source.split("\n").length < 400, name);
  }
  const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(about.dependencies, undefined);
  const types = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8");
  const typed = [...types.matchAll(/^export (?:abstract )?(?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(typed.sort(), Object.keys(deniable).sort());
});
