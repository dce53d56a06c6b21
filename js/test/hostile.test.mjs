// Surveys, laws and ledgers from somebody who knows JavaScript: names that every object has, values of other types where a number is
// expected, numbers beyond all limits. Each is refused with an error of this client, at once, or changes nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { logUp, ratio, times, within } from "../src/fraction.js";
import { DeniableError, Device, NoRandomness, openLedger, Program, SecureCoins, Survey } from "../src/index.js";
import { proved } from "../src/prove.js";
import { RepeatedDevice } from "../src/repeated.js";
import { answersTo, file, lawText, surveyOf, surveyText } from "./shared.mjs";

const OWN = Object.getOwnPropertyNames(Object.prototype).sort().join();

/** A survey of the vectors, changed before it is parsed; its laws too. */
function changed(edit, name = "kinds", law = (each) => each) {
  const tree = JSON.parse(surveyText(name));
  const text = JSON.stringify(edit(tree.survey, tree) ?? tree);
  return Survey.parse(text, { law: lawText(name, text, law) });
}

/** Under another name, with the law under that name too. */
function renamed(id, to) {
  const tree = JSON.parse(surveyText("kinds"));
  tree.question.find((each) => each.id === id).id = to;
  const text = JSON.stringify(tree);
  const laws = JSON.parse(lawText("kinds", text));
  const entries = Object.entries(laws.questions).map(([key, law]) => [key === id ? to : key, law]);
  return Survey.parse(text, { law: JSON.stringify({ ...laws, questions: Object.fromEntries(entries) }) });
}

for (const [what, make] of [
  ["epsilon is text", () => changed((about) => (about.epsilon = String(about.epsilon)) && null)],
  ["epsilon is a list", () => changed((about) => (about.epsilon = [about.epsilon]) && null)],
  ["epsilon is true", () => changed((about) => (about.epsilon = true) && null)],
  ["the epsilon of a question is text", () => changed((_, tree) => void (tree.question[0].mechanism.epsilon = "2"))],
  ["questions are an object", () => changed((_, tree) => void (tree.question = { length: 1 }))],
  ["questions are text", () => changed((_, tree) => void (tree.question = "question"))],
  ["there are no questions", () => changed((_, tree) => void (tree.question = []))],
  ["a question is nothing", () => changed((_, tree) => void (tree.question = [null]))],
  ["the name of the survey is a list", () => changed((about) => void (about.id = ["kinds"]))],
  ["the name of a question is a list", () => renamed("often", ["often"])],
  ["a question is called __proto__", () => renamed("often", "__proto__")],
  ["a sample is text", () => changed((about) => void Object.assign(about, { budget: "sampled", sample: "2" }))],
  ["a sample is no whole number", () => changed((about) => void Object.assign(about, { budget: "sampled", sample: 1.5 }))],
  ["a round is text", () => changed((about) => void (about.round = "1"))],
  ["the end is an object", () => changed((about) => void (about.closes = {}))],
  ["a window takes no time", () => changed((about) => void Object.assign(about, { opens: 1, window: 0 }))],
  ["a law is an array", () => changed(() => {}, "kinds", (law) => ({ ...law, law: [] }))],
  ["a subset would be drawn for ever", () => new Program({ nodes: [["const", [], 0], ["subset", [0], 2 ** 20, 2 ** 20]], report: [["x", 1]] })],
  ["a subset is too wide", () => new Program({ nodes: [["const", [], 0], ["subset", [0], 2 ** 21, 1]], report: [["x", 1]] })],
]) {
  test(`refused: ${what}`, () => assert.throws(make, DeniableError));
}

test("a survey cannot change what all objects have", () => {
  const text = surveyText("kinds").replace("{", '{"__proto__": {"lifetime": 1, "proved": true}, ');
  const survey = Survey.parse(text, { law: lawText("kinds", text) });
  assert.equal(Survey.parse(text).proved, false);
  survey.randomize(answersTo("kinds"));
  assert.equal(Object.getOwnPropertyNames(Object.prototype).sort().join(), OWN);
  assert.equal({}.lifetime, undefined);
});

test("a question that is called constructor can be skipped, and what others have under that name is no answer", () => {
  const tree = JSON.parse(surveyText("silence"));
  const { id } = tree.question.find((each) => each.optional);
  const text = JSON.stringify(tree, (key, value) => (key === "id" && value === id ? "constructor" : value));
  const laws = JSON.parse(lawText("silence", text));
  const questions = Object.fromEntries(Object.entries(laws.questions).map(([key, law]) => [key === id ? "constructor" : key, law]));
  const survey = Survey.parse(text, { law: JSON.stringify({ ...laws, questions }) });
  const { [id]: _, ...others } = answersTo("silence");
  assert.ok(survey.randomize(others).length);
  assert.ok(!Object.hasOwn(Object, "answers") && !Object.hasOwn(Object, "part"));
});

test("an epsilon that is text does not get past a limit for a lifetime", async () => {
  const ledger = await openLedger({ lifetime: 5 });
  await new Device(surveyOf("kinds"), { ledger }).answer(answersTo("kinds"));
  assert.equal(await ledger.spent(), 4);
  const again = () => changed((about) => void Object.assign(about, { id: "again", epsilon: "4" }));
  assert.throws(again, DeniableError);
});

test("the epsilon of any odds is found at once, and is at least their logarithm", () => {
  for (const bits of [1n, 20n, 50n, 60n, 199n, 255n, 300n, 5000n]) {
    const odds = ratio(2n ** bits + 1n, 2n ** bits);
    const before = process.cpuUsage();
    const epsilon = logUp(odds);
    assert.ok(process.cpuUsage(before).user < 1e6);
    assert.ok(within(odds, epsilon) && epsilon < Math.max(2 ** (1 - Number(bits)), 2 ** -200));
    if (bits < 200n) assert.ok(!within(odds, epsilon * (1 - 2e-15)));
  }
  assert.equal(logUp(ratio(1)), 0);
});

test("a law whose odds are hardly above 1 is proved and stated at once", () => {
  const law = new Program({
    nodes: [["code", [], "x", 0, 1], ["split", [], `${2n ** 200n + 1n}/${2n ** 201n}`, 1, 1], ["add", [0, 1]], ["mod", [2], 2]],
    report: [["y", 3]],
  });
  const { odds } = proved(law);
  assert.deepEqual(odds, ratio(2n ** 200n + 1n, 2n ** 200n - 1n));
  assert.ok(logUp(odds) < 1e-59);
});

test("fractions that are too long are not put into lowest terms", () => {
  const long = 3n * 2n ** 100_000n;
  assert.deepEqual(ratio(long, 3n), { n: long, d: 3n });
  const [chance, before] = [{ n: 3n ** 200_000n, d: 2n ** 317_000n }, process.cpuUsage()];
  times(chance, chance);
  assert.ok(process.cpuUsage(before).user < 1e6);
});

test("no epsilon takes for ever", () => {
  for (const epsilon of [-1, -1e300, -Infinity, Infinity, NaN, 1e300, 1e3, "x", {}, null, undefined, "1"]) assert.equal(within(ratio(2), epsilon), false);
  assert.ok(within(ratio(2), 1) && within(ratio(1), 1e-6) && !within(ratio(3), 1));
});

test("a lifetime without end, or with reports without end, is refused at once", () => {
  const known = file("../js/test/repeated");
  for (const [name, { survey, law }] of Object.entries(known)) {
    for (const edit of [{ lifetime_epsilon: 1e999 }, { lifetime_epsilon: "x" }, { lifetime_epsilon: -1e300 }, { closes: 2 ** 52, window: 1, lifetime_epsilon: 100 }]) {
      const tree = JSON.parse(survey);
      Object.assign(tree.survey, edit);
      const text = JSON.stringify(tree).replace('"lifetime_epsilon":null', '"lifetime_epsilon":1e999');
      const made = Survey.parse(text, { law: JSON.stringify({ ...JSON.parse(law), survey: Survey.parse(text).fingerprint }) });
      const permanent = tree.question.every(({ repeat }) => repeat !== "windows");
      if (permanent && edit.closes) continue; // answers that are kept cost once, however often they are asked for
      assert.throws(() => new RepeatedDevice(made), DeniableError, `${name} ${JSON.stringify(edit)}`);
    }
  }
});

test("a survey that is called constructor is asked again like any other", async () => {
  const { survey, law } = Object.values(file("../js/test/repeated"))[0];
  const tree = JSON.parse(survey);
  tree.survey.id = "constructor";
  const text = JSON.stringify(tree);
  const made = Survey.parse(text, { law: JSON.stringify({ ...JSON.parse(law), survey: Survey.parse(text).fingerprint }) });
  const device = new RepeatedDevice(made, { ledger: await openLedger(), now: () => 345_600 + 20_000 * 86_400 });
  assert.equal(await device.due(), true);
  assert.deepEqual(await device.spent(), { epsilon: 0, reports: 0 });
});

test("one draw does not hide the numbers of a vector, and a draw that takes one of them does no harm", () => {
  const law = (...nodes) => new Program({ nodes, report: [["y", nodes.length - 1]] });
  for (const noise of [["below", [], 4], ["split", [], "1/2", 1, 3]]) {
    const leak = law(["code", [], "x", 0, 3, 2], noise, ["add", [0, 1]], ["mod", [2], 4], ["cells", [3], 0]);
    assert.ok(!proved(leak)?.odds);
  }
  const flip = ["split", [], "3/4", 1, 1];
  const taken = law(["code", [], "x", 0, 1, 5], ["below", [], 5], ["at", [0, 1]], flip, ["add", [2, 3]], ["mod", [4], 2]);
  assert.deepEqual(proved(taken).odds, ratio(3));
  const both = law(["code", [], "x", 0, 1, 2], ["below", [], 2], ["at", [0, 1]], ["eq", [2, 1]]); // which tells whether x is 0 1
  assert.ok(!proved(both)?.odds);
});

test("nothing but WebCrypto draws", () => {
  const { random } = Math;
  Math.random = () => assert.fail("Math.random was asked");
  try {
    assert.ok(surveyOf("kinds").randomize(answersTo("kinds")).length);
  } finally {
    Math.random = random;
  }
  assert.throws(() => new SecureCoins({ getRandomValues: 1 }), NoRandomness);
  const broken = new SecureCoins({ getRandomValues: () => assert.fail("no entropy") });
  assert.throws(() => surveyOf("kinds").randomize(answersTo("kinds"), { coins: broken }), /no entropy/);
});

test("a lone surrogate is text like any other in a survey", () => {
  const text = surveyText("kinds").replace('"title":"', '"title":"\\ud800 ');
  assert.ok(Survey.parse(text, { law: lawText("kinds", text) }).proved);
});
