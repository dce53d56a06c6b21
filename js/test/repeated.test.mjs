// A survey that is asked again: one report in a period, from answers that are kept in the ledger with the report.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fingerprint } from "../src/bytes.js";
import { BudgetSpent, openLedger, Survey, SurveyMismatch } from "../src/index.js";
import { isRepeated, RepeatedDevice } from "../src/repeated.js";

const KNOWN = JSON.parse(readFileSync(new URL("repeated.json", import.meta.url), "utf8"));
const DAY = 86_400;
const FIRST = 345_600 + 20_000 * DAY;
const ANSWERS = { mood: "good", pain: 2, screen: 5.5, symptoms: ["cough"], sex: "f" };
const LATER = { mood: "good", pain: 2, screen: 5.5, symptoms: ["cough"] };

const survey = (name) => Survey.parse(KNOWN[name].survey, { law: KNOWN[name].law });

/** A storage that keeps what it is given, as localStorage does; `writes` counts how often. */
function storage() {
  const kept = new Map();
  const made = { kept, writes: 0, getItem: (key) => kept.get(key) ?? null };
  made.setItem = (key, value) => ((made.writes += 1), kept.set(key, value));
  return made;
}

async function person(name, localStorage = storage()) {
  const clock = { now: FIRST };
  const ledger = await openLedger({ indexedDB: null, localStorage });
  const device = new RepeatedDevice(survey(name), { ledger, now: () => clock.now });
  return { clock, ledger, device, localStorage };
}

const read = (message) => {
  const view = new DataView(message.buffer, message.byteOffset);
  return { part: view.getBigUint64(40, true), period: view.getUint32(48, true) };
};

test("the device proves both losses of a survey that asks again", () => {
  const found = survey("wellbeing");
  assert.ok(isRepeated(found));
  assert.ok(found.loss.epsilon <= 2 && found.loss.epsilon > 1.99);
  const ever = found.questions.map(({ mechanism }) => (mechanism.lifetimeLoss ?? mechanism.loss).epsilon);
  assert.ok(Math.abs(ever.reduce((a, b) => a + b) - 4) < 1e-9);
});

test("one report in a period; the cost does not grow while nothing changes", async () => {
  const { clock, device, localStorage } = await person("wellbeing");
  for (let day = 0; day < 6; day++) {
    assert.ok(await device.due());
    const before = localStorage.writes;
    const message = await device.answer(day ? LATER : ANSWERS);
    assert.equal(localStorage.writes - before, 1); // what is kept and the report are written together
    assert.deepEqual(read(message), { part: day ? 15n : 31n, period: 20_000 + day });
    assert.deepEqual(await device.message(), message);
    assert.equal(await device.due(), false);
    await assert.rejects(device.answer(LATER), BudgetSpent);
    const { epsilon, reports } = await device.spent();
    assert.ok(Math.abs(epsilon - 4) < 1e-9 && reports === day + 1);
    assert.equal(await device.nextDue(), FIRST + (day + 1) * DAY);
    clock.now += DAY;
  }
});

test("a changed answer is kept anew and paid again; a pair of bits at most twice", async () => {
  const { clock, device } = await person("wellbeing");
  await device.answer(ANSWERS);
  for (const screen of [0, 16, 3, 9, 12, 1]) {
    clock.now += DAY;
    await device.answer({ ...LATER, screen });
  }
  const { epsilon } = await device.spent();
  assert.ok(epsilon <= 4.9 + 1e-9 && epsilon > 4.8); // both ends occurred: the other bit was paid too
  clock.now += DAY;
  await device.answer({ ...LATER, mood: "bad" });
  assert.ok(Math.abs((await device.spent()).epsilon - 5.8) < 1e-9);
});

test("a lost memory pays again, and the ledger says so", async () => {
  const { clock, device, ledger } = await person("wellbeing");
  await device.answer(ANSWERS);
  await ledger.change((data) => (data.memories = {}));
  clock.now += DAY;
  await device.answer(LATER);
  assert.ok((await ledger.spent()) > 7.5);
});

test("of any seven periods a person reports in one, whatever the clock does", async () => {
  const { clock, device } = await person("weekly");
  const days = [];
  for (let day = 0; day < 28; day++, clock.now += DAY) {
    if (await device.due()) {
      await device.answer({ mood: "bad" });
      days.push(day);
    } else await assert.rejects(device.answer({ mood: "bad" }), BudgetSpent);
  }
  assert.equal(days.length, 4);
  assert.ok(days.every((day, place) => !place || day - days[place - 1] === 7));
  clock.now -= 20 * DAY;
  for (let day = 8; day < 28; day++, clock.now += DAY) assert.equal(await device.due(), false);
});

test("reports of earlier periods that did not arrive are sent first", async () => {
  const { clock, device } = await person("wellbeing");
  const got = [];
  let up = false;
  const fetch = async (url, { body }) => {
    if (!up) throw new TypeError("fetch failed");
    got.push(read(new Uint8Array(body)).period);
    const named = Buffer.from(body).toString("hex", 8, 24);
    return new Response(JSON.stringify({ counted: 1, duplicates: 0, refused: [], survey: named }), { status: 200 });
  };
  await device.answer(ANSWERS);
  assert.equal((await device.send("", { fetch, attempts: 1 })).state, "kept");
  clock.now += DAY;
  await device.answer(LATER);
  up = true;
  assert.equal((await device.send("", { fetch, attempts: 1 })).state, "sent");
  assert.deepEqual(got, [20_000, 20_001]);
  await device.send("", { fetch, attempts: 1 });
  assert.deepEqual(got, [20_000, 20_001]);
});

test("a law whose reports disclose more over time than the survey says is not answered", async () => {
  const found = survey("wellbeing");
  found.tree.survey.lifetime_epsilon = 3.9;
  assert.throws(() => new RepeatedDevice(found, {}), /disclose more/);
});

test("with windows, a lifetime is checked by how often a person reports until the survey closes", async () => {
  const found = survey("weekly");
  found.tree.survey.lifetime_epsilon = 2.9;
  assert.throws(() => new RepeatedDevice(found, {}), /disclose more/); // it never closes
  found.closes = found.opens + 21 * DAY;
  assert.throws(() => new RepeatedDevice(found, {}), /disclose more/); // three reports
  found.closes = found.opens + 14 * DAY;
  assert.ok(new RepeatedDevice(found, {}));
});

// What a server may say that is not so: none of it gets a fresh report where one was promised to be made from a kept answer.

/** A survey that asks again, with its lines changed, and its laws. */
function told(name, { about = () => {}, laws = () => {} }) {
  const tree = JSON.parse(KNOWN[name].survey);
  about(tree.survey, tree.question);
  const text = JSON.stringify(tree);
  const law = JSON.parse(KNOWN[name].law);
  law.survey = fingerprint(text);
  laws(law.questions);
  return Survey.parse(text, { law: JSON.stringify(law) });
}

const unkept = (laws) => Object.values(laws).forEach((law) => delete law.kept);

for (const [what, name, lie, message] of [
  ["permanent answers are not kept", "wellbeing", { laws: unkept }, /repeats/],
  ["permanent answers are not kept, and the survey closes", "wellbeing", { laws: unkept, about: (own) => (own.closes = own.opens + DAY) }, /repeats/],
  ["permanent answers have no budget for all reports", "wellbeing", { about: (own) => delete own.lifetime_epsilon }, /repeats/],
  ["the budget for all reports is no number", "wellbeing", { about: (own) => (own.lifetime_epsilon = "all") }, /repeats/],
  ["the way to repeat is unknown", "weekly", { about: (_, [question]) => (question.repeat = "sometimes") }, /repeats/],
  ["permanent answers that are windows", "wellbeing", { about: (_, [question]) => Object.assign(question, { repeat: "windows", span: 7 }) }, /repeats/],
  ["windows without a span", "weekly", { about: (_, [question]) => delete question.span }, /repeats/],
  ...[0, 1, -7, 0.5, "7", true, null, 1e300].map((span) => [`windows of ${span} periods`, "weekly", { about: (_, [question]) => Object.assign(question, { span }) }, /repeats/]),
  ["periods without a beginning", "weekly", { about: (own) => delete own.opens }, /repeats/],
  ["periods of no time", "weekly", { about: (own) => (own.window = 0.001) }, /format/],
  ["periods that a server counts as rounds", "weekly", { about: (own) => Object.assign(own, { rounds: 9, round: 4 }) }, /repeats/],
]) {
  test(`a lie: ${what}`, () => {
    assert.ok(new RepeatedDevice(told(name, {}), {}));
    assert.throws(() => new RepeatedDevice(told(name, lie), {}), message);
  });
}

test("a law that changes gets no other permanent answer", async () => {
  const { ledger } = await person("wellbeing");
  await new RepeatedDevice(told("wellbeing", {}), { ledger, now: () => FIRST }).answer(ANSWERS);
  const later = (laws) => new RepeatedDevice(told("wellbeing", { laws }), { ledger, now: () => FIRST + DAY });
  const kept = await ledger.change();
  const noisier = ({ mood: { law } }) => {
    const draw = law.nodes.find(([op]) => op === "split");
    draw[2] = draw[2].replace(/\d+$/, (whole) => String(BigInt(whole) + 1n)); // which loses less, and is proved
  };
  await assert.rejects(later(noisier).answer(LATER), /does not keep/);
  await later((laws) => Object.values(laws).forEach((law) => (law.remark = "new"))).answer(LATER);
  assert.deepEqual((await ledger.change()).memories, kept.memories);
});

test("a changed survey with the same id is not answered, sampled or not; nor is one that is closed", async () => {
  for (const budget of ["equal", "sampled"]) {
    const { ledger } = await person("wellbeing");
    const own = (title, closes) => ({ about: (about) => Object.assign(about, { title, budget, sample: 5, closes }) });
    const device = (day, ...lines) => new RepeatedDevice(told("wellbeing", own(...lines)), { ledger, now: () => FIRST + day * DAY });
    const closing = FIRST + 2 * DAY;
    await device(0, "one", closing).answer(ANSWERS);
    await assert.rejects(device(1, "two", closing).answer(LATER), SurveyMismatch);
    await assert.rejects(device(2, "one", closing).answer(LATER), /closed/);
  }
});
