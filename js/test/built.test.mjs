// The built client, whose private names are shortened, makes the same messages as the source.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hex } from "../src/bytes.js";
import { SeededCoins } from "../src/seeded.js";
import * as built from "../../packages/deniable/src/deniable/collector/web/deniable.js";
import { explain } from "../../packages/deniable/src/deniable/collector/web/reports.js";
import { answersTo, bytes, file, lawText, SURVEYS } from "./shared.mjs";

class Coins extends built.Coins {
  #source;

  constructor(seed) {
    super();
    this.#source = new SeededCoins(seed);
  }

  draw(size) {
    return this.#source.draw(size);
  }
}

for (const { name, survey: text, seed, now, id, message, answers } of SURVEYS) {
  test(`built, survey: ${name}`, () => {
    const survey = built.Survey.parse(text, { law: lawText(name) });
    const coins = new Coins(seed);
    const made = survey.randomize(answers, { coins, part: survey.drawPart(coins), now, id: bytes(id) });
    assert.equal(hex(made), message);
    assert.ok(explain(survey, made).every(({ text }) => text.startsWith("The report ")));
  });
}

test("built, permanent answers", () => {
  for (const { spec, seed, answers, reports, odds, ever, ...law } of file("memory")) {
    const mechanism = built.mechanismFromSpec(spec, law);
    assert.deepEqual([mechanism.loss.odds, mechanism.lifetimeLoss.odds], [odds, ever]);
    const [coins, memory] = [new Coins(seed), {}];
    answers.forEach((answer, day) => assert.equal(hex(mechanism.pack(mechanism.perturb([answer], coins, memory))), reports[day]));
  }
});

test("built, a device answers, keeps and marks", async () => {
  const { survey: text } = SURVEYS.find(({ name }) => name === "kinds");
  const survey = built.Survey.parse(text, { law: lawText("kinds") });
  const device = new built.Device(survey, { ledger: await built.openLedger() });
  const message = await device.answer(answersTo("kinds"));
  const fetch = async () => Response.json({ survey: survey.fingerprint, counted: 1, duplicates: 0 });
  assert.equal((await device.send("", { fetch })).state, "sent");
  assert.deepEqual([(await device.entry()).state, await device.message()], ["sent", message]);
});
