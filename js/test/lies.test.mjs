// What a server may say that is not so, one line each. The person is promised an epsilon: nothing may be sent that breaks it, and
// what is shown must be what the law takes. Each lie is refused before anything is asked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { domainFrom } from "../src/domains.js";
import { Survey } from "../src/index.js";
import { lawText, surveyText } from "./shared.mjs";

/** The survey of the vectors with a question changed, its law too, or the lines about the whole. */
function told(name, id, { question = () => {}, law = () => {}, survey = () => {} }) {
  const tree = JSON.parse(surveyText(name));
  question(tree.question.find((each) => each.id === id));
  survey(tree.survey, tree);
  const text = JSON.stringify(tree);
  const change = (own, which) => {
    if (which === id) law(own);
    return own;
  };
  return Survey.parse(text, { law: lawText(name, text, change) });
}

const often = (lie) => ["kinds", "often", lie];
const minutes = (lie) => ["commute", "minutes", lie];
const films = (lie) => ["kinds", "films", lie];
const taste = (lie) => ["kinds", "taste", lie];
const swapped = (list) => list.splice(0, 2, list[1], list[0]);
const node = (law, op) => law.law.nodes.find(([own]) => own === op);

for (const [what, [name, id, lie], message] of [
  // programs
  ["the law reports the answer", often({ law: (law) => (law.law = { nodes: law.law.nodes.slice(0, 1), report: [[law.fields[0].name, 0]] }) }), /discloses more/],
  ["the odds are too large", often({ law: (law) => (node(law, "split")[2] = "999/1000") }), /discloses more/],
  ["the odds are a little too large", often({ law: (law) => (node(law, "split")[2] = "493381/1000000") }), /discloses more/],
  ["the odds are no fraction", often({ law: (law) => (node(law, "split")[2] = 0.5) }), /not a law/],
  ["the odds are above one", often({ law: (law) => (node(law, "split")[2] = "3/2") }), /not given/],
  ["an operation is unknown", often({ law: (law) => (node(law, "split")[0] = "leak") }), /no operation "leak"/],
  ["an operation is a name of objects", often({ law: (law) => (node(law, "split")[0] = "constructor") }), /no operation/],
  ["a table is too large", often({ law: (law) => law.law.nodes.push(["table", [0], new Array(70_000).fill(1)]) }), /too large/],
  ["tables are too large together", often({ law: (law) => law.law.nodes.push(...new Array(5).fill(["table", [0], new Array(15_000).fill(1)])) }), /too large/],
  ["a node uses itself", often({ law: (law) => law.law.nodes.push(["add", [law.law.nodes.length, 0]]) }), /not given/],
  ["there are too many nodes", often({ law: (law) => law.law.nodes.push(...new Array(20_000).fill(["const", [], 1])) }), /too large/],
  ["the numbers overflow", often({ law: (law) => law.law.nodes.push(["const", [], String(2n ** 62n)], ["mul", [law.law.nodes.length, 0]]) }), /not given/],
  ["the law is that of another question", often({ law: (law) => Object.assign(law, JSON.parse(lawText("commute")).questions.minutes) }), /other answers/],
  // what a law may ask of an answer
  ["the law asks for fewer answers", often({ law: (law) => (node(law, "code")[4] -= 1) }), /other answers/],
  ["the law asks for more answers", often({ law: (law) => (node(law, "code")[4] += 1) }), /other/],
  ["the law asks for something else", often({ law: (law) => (node(law, "code")[2] = "name") }), /other answers/],
  ["the law falls silent if two coordinates are the same", taste({ law: (law) => (node(law, "code")[6] = 1) }), /other answers/],
  ["the law falls silent if two ratings are the same", ["ratings-direct", "q0", { law: (law) => (law.law.nodes.find(([, , of]) => of === "highs")[6] = 1) }], /other answers/],
  // what is sent
  ["a field has room for more", often({ law: (law) => (law.fields[0].below *= 2) }), null],
  ["a field has less room", often({ law: (law) => (law.fields[0].below -= 1) }), /other reports/],
  ["a field has another name", often({ law: (law) => (law.fields[0].name = "other") }), /other reports/],
  ["a field is sent that is not stated", often({ law: (law) => law.law.report.push(["more", 0]) }), /other reports/],
  // what is shown
  ["choices are shown in another order than the law has them", often({ question: (own) => swapped(own.choices) }), /another domain/],
  ["a choice is shown under another name", often({ question: (own) => (own.choices[0] = "always") }), /another domain/],
  ["a choice is not shown", often({ question: (own) => own.choices.pop() }), /another domain/],
  ["a number has other bounds", minutes({ question: (own) => (own.high *= 2) }), /another domain/],
  ["a set is larger", films({ question: (own) => (own.at_most = 1) }), /another domain/],
  ["answers are unprotected without a word", ["open", "q0", { question: (own) => delete own.sensitive }], /sensitive/],
  ["more answers are unprotected than is said", ["open", "q0", { question: (own) => own.mechanism.sensitive.pop() }], /sensitive/],
  ["all answers are unprotected", ["open", "q0", { question: (own) => (own.sensitive = own.mechanism.sensitive = []) }], /No rule/],
  // kinds
  ["the kind of answers is unknown", often({ question: (own) => (own.mechanism.domain.kind = "thoughts") }), /description was changed/],
  ["the kind of answers is a name of objects", often({ question: (own) => (own.mechanism.domain.kind = "toString") }), /description was changed/],
  ["the kind of answers is another", often({ question: (own) => (own.mechanism.domain = JSON.parse(surveyText("commute")).question[1].mechanism.domain) }), /other answers/],
  ["the question has no kind", often({ question: (own) => delete own.kind }), /incomplete/],
  // the whole
  ["the survey's epsilon is smaller than that of its laws", often({ survey: (about) => (about.epsilon /= 2) }), /together/],
  ["the survey has no epsilon", often({ survey: (about) => delete about.epsilon }), /format/],
  ["the survey's epsilon is any number", often({ survey: (about) => (about.epsilon = 1e6) }), /format/],
  ["a question has more than its share", often({ question: (own) => (own.mechanism.epsilon = 2), law: (law) => (node(law, "split")[2] = "7/10") }), /together/],
  ["a question is asked twice under one budget", often({ survey: (_, tree) => tree.question.push(tree.question[0]) }), /format/],
  ["a part is smaller than what is asked", often({ survey: (about) => Object.assign(about, { budget: "sampled", sample: 0 }) }), /format/],
]) {
  test(`a lie: ${what}`, () => {
    assert.ok(told(name, id, {}).proved);
    if (!message) return assert.ok(told(name, id, lie).proved); // harmless: the same reports with bits that are always zero
    return assert.throws(
      () => told(name, id, lie),
      (error) => /^Invalid(Law|Survey)$/.test(error.name) && message.test(error.message),
    );
  });
}

for (const [what, domain] of [
  ["categories", { kind: "categories", size: 1e9 }],
  ["numbers in order", { kind: "ordered", range: [0, 1e9, 1] }],
  ["keys", { kind: "key-value", size: 1e9, low: 0, high: 1, at_most: 1 }],
  ["combinations", { kind: "product", parts: new Array(40).fill({ kind: "categories", size: 2 }) }],
  ["combinations of two answers each", { kind: "product", parts: new Array(22).fill({ kind: "categories", size: 2 }) }],
  ["keys that each may have", { kind: "key-value", size: 2 ** 20, low: 0, high: 1, at_most: 2 ** 19 }],
  ["answers of all parts together", { kind: "vectors", parts: new Array(1000).fill({ kind: "categories", size: 1000 }) }],
  ["parts of parts", { kind: "vectors", parts: new Array(1000).fill({ kind: "vectors", parts: [{ kind: "ordered", range: [0, 1000, 1] }] }) }],
  ["steps", { kind: "interval", low: 0, high: 1, steps: 1e9 }],
  ["dimensions", { kind: "features", dimensions: 1e9, low: 0, high: 1, steps: 4 }],
]) {
  test(`a description of a few bytes with too many ${what} is refused at once`, () => {
    const size = (own) => Object.assign(own.mechanism, { domain });
    const before = process.memoryUsage().heapUsed;
    assert.throws(() => told("kinds", "often", { question: size }), { name: "InvalidSurvey" });
    assert.ok(process.memoryUsage().heapUsed - before < 2e8);
  });
}

test("combinations of long answers are named only where somebody looks", () => {
  const part = { kind: "categories", labels: ["a".repeat(20_000), "b".repeat(20_000)] };
  const domain = domainFrom({ kind: "product", parts: new Array(16).fill(part) });
  assert.equal(domain.size, 2 ** 16);
  assert.equal(domain.place(new Array(16).fill(part.labels[1])), 2 ** 16 - 1);
  assert.deepEqual(domainFrom({ kind: "product", parts: [{ kind: "categories", size: 2 }, { kind: "categories", labels: ["x", "y"] }] }).labels, ["0, x", "0, y", "1, x", "1, y"]);
});

test("every question has its own room for answers, whatever was asked before", () => {
  const large = { kind: "categories", size: 2 ** 17 };
  for (let times = 0; times < 2; times++) assert.equal(domainFrom(large).size, 2 ** 17);
  assert.throws(() => domainFrom({ kind: "vectors", parts: [large, { kind: "categories", size: 2 }] }), { name: "InvalidParameter" });
  assert.equal(domainFrom({ kind: "vectors", parts: [{ kind: "categories", size: 2 ** 16 }, { kind: "categories", size: 2 ** 16 }] }).parts.length, 2);
});
