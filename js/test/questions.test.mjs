// A law comes from a server and may be anything: a device runs it only after it has proved that it keeps the promise.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mechanismFromSpec, Survey } from "../src/index.js";
import { read } from "../src/reports.js";
import { SeededCoins } from "../src/seeded.js";
import { file, GOOD, lawOf, lawText, SURVEYS, surveyOf, surveyText } from "./shared.mjs";

const direct = GOOD.find(({ name }) => name === "direct");
const LAW = lawOf(direct);
const [code, split, ...others] = LAW.law.nodes;
const size = code[4] + 1;
const changed = (...nodes) => ({ nodes, report: [["value", nodes.length - 1]] });

for (const [what, law, message] of [
  ["discloses the truth", changed(code), /discloses more/],
  ["has larger odds", changed(code, ["split", [], "99/100", 1, size - 1], ...others), /discloses more/],
  ["leaks now and then", changed(...LAW.law.nodes, ["toss", [], "1/1000"], ["where", [4, 0, 3]]), /discloses more|No rule/],
  ["is for fewer answers", changed(["code", [], "answer", 0, size - 2], split, ...others), /other answers/],
  ["asks for something else", changed(["code", [], "constructor", 0, size - 1], split, ...others), /other answers/],
  ["asks for more than one number", changed(["code", [], "answer", 0, size - 1, 2], split, ["at", [0, 1]]), /other answers|not given/],
  ["has another field", { ...LAW.law, report: [["other", 3]] }, /other reports/],
  ["has another width", changed(code, split, ["add", [0, 1]]), /other reports/],
  ["has an operation of a later release", changed(code, split, ["magic", [0, 1]]), /no operation "magic"/],
  ["has a table that is too large", changed(code, ["table", [0], new Array(70_000).fill(1)]), /too large/],
  ["has too many operations", changed(...new Array(20_001).fill(code)), /too large/],
  ["has odds that are no fraction", changed(code, ["split", [], "0.5", 1, size - 1], ...others), /not a law/],
  ["is text", "law", /not a law/],
  ["is missing", undefined, /not a law/],
]) {
  test(`a law that ${what} is not run`, () => {
    assert.throws(() => mechanismFromSpec(direct.spec, { ...LAW, law }), { name: "InvalidLaw", message });
  });
}

test("there is no other code that could run", () => {
  for (const law of [undefined, null]) {
    assert.throws(() => mechanismFromSpec(direct.spec, law), { name: "InvalidLaw", message: /no law to run/ });
  }
  for (const law of [{}, { law: LAW.law }, { ...LAW, fields: 3 }, { ...LAW, fields: [{ name: "value" }] }, 7]) {
    assert.throws(() => mechanismFromSpec(direct.spec, law), { name: /InvalidLaw|InvalidParameter/ });
  }
});

test("a smaller epsilon than the law needs is refused, and a wrong one too", () => {
  mechanismFromSpec(direct.spec, LAW);
  for (const epsilon of [direct.spec.epsilon - 1e-9, 0.1]) {
    assert.throws(() => mechanismFromSpec({ ...direct.spec, epsilon }, LAW), { name: "InvalidLaw", message: /discloses more/ });
  }
  for (const epsilon of [0, -1, NaN, 1000, "x", null]) {
    assert.throws(() => mechanismFromSpec({ ...direct.spec, epsilon }, LAW), { name: "InvalidParameter" });
  }
});

test("answers that are not marked as sensitive are the only ones that a law may disclose", () => {
  for (const vector of GOOD.filter(({ name }) => name.startsWith("utility-"))) {
    const law = lawOf(vector);
    mechanismFromSpec(vector.spec, law);
    const { sensitive, ...spec } = vector.spec;
    const every = vector.spec.domain.labels ?? Array.from({ length: vector.spec.domain.size }, (_, place) => place);
    const open = every.find((label) => !sensitive.includes(label));
    const refused = { name: "InvalidLaw" };
    assert.throws(() => mechanismFromSpec(spec, law), refused, vector.name); // all are sensitive
    assert.throws(() => mechanismFromSpec({ ...spec, sensitive: [...sensitive, open] }, law), refused, vector.name);
    const [field, from] = law.opens;
    for (const opens of [undefined, [field, 0], [field, from - 1], ["other", from]]) {
      assert.throws(() => mechanismFromSpec(vector.spec, { ...law, opens }), refused, `${vector.name} ${opens}`);
    }
  }
});

test("a survey is refused if the law of one question is bad, with the reason and a sentence for people", () => {
  const worse = (law, question) => {
    if (question === "often") law.law.nodes[1] = ["split", [], "9/10", 1, 2];
    return law;
  };
  const text = surveyText("kinds");
  assert.throws(
    () => Survey.parse(text, { law: lawText("kinds", text, worse) }),
    (error) =>
      error.name === "InvalidLaw" &&
      /^Question 2: The law discloses more/.test(error.message) &&
      /could not verify that this survey protects your answers/.test(error.notice),
  );
});

test("laws that together disclose more than the survey says are refused", () => {
  const text = surveyText("commute").replace('"epsilon":2.0,', '"epsilon":1.99,');
  assert.notEqual(text, surveyText("commute"));
  assert.throws(() => Survey.parse(text, { law: lawText("commute", text) }), { name: "InvalidLaw", message: /together/ });
});

test("the law must be that of the survey", () => {
  const text = surveyText("commute");
  const other = JSON.stringify({ ...JSON.parse(lawText("commute")), survey: "0".repeat(32) });
  for (const [law, message] of [
    [other, /another survey/],
    [lawText("kinds"), /another survey/],
    ["{}", /format/],
    ["null", /format/],
    ["[", /format/],
    [{}, /format/],
    [lawText("commute").replace("deniable law 1", "deniable law 2"), /format/],
    [lawText("commute", text, () => null), /theorem/],
    [lawText("commute", text, () => undefined), /theorem/],
    [lawText("commute", text, () => 7), /./],
  ]) {
    assert.throws(() => Survey.parse(text, { law }), { name: /InvalidLaw|InvalidSurvey/, message });
  }
});

test("without a law a survey can be read, and not answered", () => {
  const survey = Survey.parse(surveyText("commute"));
  assert.deepEqual([survey.proved, survey.loss, survey.questions[0].choices.length], [false, null, 5]);
  assert.throws(() => survey.randomize({ mode: "bus", minutes: 3 }), { name: "InvalidLaw", message: /\/v1\/law/ });
  assert.throws(() => read(survey, new Uint8Array(80)), { name: "InvalidLaw", message: /\/v1\/law/ });
  assert.equal(surveyOf("commute").proved, true);
});

test("a survey and its law are fetched together", async () => {
  const served = { "/v1/survey": surveyText("commute"), "/v1/law": lawText("commute") };
  const asked = [];
  const fetch = async (url) => {
    asked.push(url);
    return new Response(served[url.slice("https://survey.example".length)]);
  };
  const survey = await Survey.fetch("https://survey.example/", { fetch });
  assert.deepEqual([survey.proved, asked.sort()], [true, ["https://survey.example/v1/law", "https://survey.example/v1/survey"]]);
  await assert.rejects(Survey.fetch("https://survey.example", { fetch, expected: "0".repeat(32) }), { name: "SurveyMismatch" });
  const away = async () => new Response("", { status: 503 });
  await assert.rejects(Survey.fetch("", { fetch: away }), { name: "Unavailable", message: /503/ });
});

test("a mechanism that this client has never heard of runs by its law", () => {
  const spec = { ...direct.spec, mechanism: "half-honest-1" };
  const [report] = mechanismFromSpec(spec, LAW).perturb([3], new SeededCoins(1));
  assert.deepEqual(report, mechanismFromSpec(direct.spec, LAW).perturb([3], new SeededCoins(1))[0]);
});

const [KEPT] = file("memory").filter(({ name }) => name === "hashing");
for (const [what, change] of [
  ["keeps less than later reports look at", (law) => (law.kept.report = law.kept.report.slice(0, 2))],
  ["looks at the answer again", (law) => (law.law.nodes.at(-2)[1] = [law.law.nodes.length - 3, 0])],
  ["looks at a draw that is not kept", (law) => (law.law.nodes.at(-2)[1] = [law.law.nodes.length - 3, 11])],
  ["draws anew what an answer is kept under", (law) => (law.kept.under = 11)],
  ["keeps an answer under what comes later", (law) => (law.kept.under = law.law.nodes.length - 1)],
  ["keeps nothing", (law) => (law.kept.nodes = 0)],
]) {
  test(`a law that ${what} is refused`, () => {
    const { spec, ...law } = structuredClone(KEPT);
    mechanismFromSpec(spec, law);
    change(law);
    assert.throws(() => mechanismFromSpec(spec, law), { name: /InvalidLaw|InvalidParameter/ });
  });
}

test("proving a typical survey takes a moment", () => {
  const typical = SURVEYS.filter(({ name }) => ["commute", "kinds", "sampled", "open"].includes(name));
  for (const { name } of typical) assert.ok(surveyOf(name).proved);
});
