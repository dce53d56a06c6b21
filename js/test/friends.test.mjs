// Rounds about friends: the same bytes as Python, and what a device refuses before it answers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { hex, unhex } from "../src/bytes.js";
import { BudgetSpent, DeniableError, InvalidLaw, openLedger, OutsideDomain, SurveyMismatch } from "../src/index.js";
import { sha256 } from "../src/sha256.js";
import { asksForFriends, FriendsDevice, FriendsSurvey, hashedName, memberOf, signed } from "../src/friends.js";
import { SeededCoins } from "../src/seeded.js";
import * as client from "../../packages/deniable/src/deniable/collector/web/deniable.js";
import * as built from "../../packages/deniable/src/deniable/collector/web/friends.js";

const CASES = JSON.parse(readFileSync(new URL("friends.json", import.meta.url), "utf8"));

for (const rounds of CASES) {
  for (const [place, { survey: text, law, made }] of rounds.entries()) {
    const { survey: { id } } = JSON.parse(text);
    test(`friends, ${id}, round ${place + 1}: the bytes that Python makes`, async () => {
      const survey = FriendsSurvey.parse(text, { law });
      for (const { seed, id, answer, message } of made) {
        const found = await survey.made({ friends: answer }, { coins: new SeededCoins(seed), id: unhex(id) });
        assert.equal(hex(found), message, seed);
        const source = new SeededCoins(seed);
        const coins = new (class extends client.Coins {
          draw = (size) => source.draw(size);
        })();
        assert.equal(hex(await built.FriendsSurvey.parse(text, { law }).made({ friends: answer }, { coins, id: unhex(id) })), message);
      }
    });
  }
}

const [few, named, hashed] = [1, 3, 4].map((place) => CASES[place]);
const changed = ({ survey, law }, edit) => {
  const [tree, terms] = [JSON.parse(survey), JSON.parse(law)];
  edit(tree.question[0].mechanism, terms.theorems.friends, tree);
  const text = JSON.stringify(tree);
  return [text, { law: JSON.stringify({ ...terms, survey: fingerprintOf(text) }) }];
};
const fingerprintOf = (text) => hex(sha256(new TextEncoder().encode(text))).slice(0, 32);

test("friends: rounds that cost more than epsilon, or lie about it, are refused", () => {
  const lies = [
    (mechanism) => (mechanism.shares[1] += 0.01),
    (mechanism) => (mechanism.shares[2] += 0.01),
    (mechanism) => (mechanism.shares[4] += 0.01),
    (mechanism) => (mechanism.shares[5] += 0.01),
    (mechanism) => (mechanism.shares[6] = 2),
    (mechanism) => (mechanism.shares[0] = 1.5),
    (mechanism) => (mechanism.shares[0] = "20"),
    (mechanism) => mechanism.shares.pop(),
    (mechanism) => (mechanism.shares = []),
    (mechanism) => (mechanism.epsilon *= 2),
    (mechanism) => (mechanism.epsilon = "3"),
    (mechanism) => (mechanism.alpha = 1),
    (mechanism) => (mechanism.mechanism = "friends-2"),
    (mechanism) => (mechanism.degrees = ""),
    (mechanism) => (mechanism.lists = 3),
    (mechanism) => (mechanism.lists = "AAAA"), // the third round, asked as the second
    (mechanism) => (mechanism.domain.size += 1),
    (_, terms) => (terms.weights[0] += 1),
    (_, terms) => (terms.weights = [65536]),
    (_, terms) => (terms.load = 0),
    (_, terms) => (terms.least = "1"),
    (_, terms) => delete terms.margin,
    (_, __, tree) => (tree.survey.rounds = 4),
    (_, __, tree) => (tree.survey.round = 3),
    (_, __, tree) => (tree.survey.epsilon = 0.5),
    (_, __, tree) => tree.question.push({ ...tree.question[0], id: "again" }),
  ];
  FriendsSurvey.parse(...changed(few[1], () => {})); // as it is, it may be asked
  for (const lie of lies) assert.throws(() => FriendsSurvey.parse(...changed(few[1], lie)), DeniableError, String(lie));
  assert.throws(() => FriendsSurvey.parse(few[1].survey, { law: few[0].law }), InvalidLaw);
  assert.throws(() => FriendsSurvey.parse(few[1].survey), InvalidLaw);
});

test("friends: what a round publishes is checked when it is opened", async () => {
  for (const damage of [(mechanism) => (mechanism.degrees = "!"), (mechanism) => (mechanism.degrees = mechanism.degrees.slice(8)), (mechanism) => (mechanism.lists = "eJwDAAAAAAE=")]) {
    const survey = FriendsSurvey.parse(...changed(few[2], damage));
    await assert.rejects(survey.made({ friends: { me: 0, knows: [1, 2, 3] } }, { coins: new SeededCoins(1) }), DeniableError);
  }
});

test("friends: answers that are none, and members who are missing", async () => {
  const survey = FriendsSurvey.parse(few[0].survey, few[0]);
  for (const wrong of [3, { me: 3 }, { me: 3, knows: "4" }, { me: 120, knows: [] }, { me: 3, knows: [true] }, { me: 3, knows: ["ann"] }, { me: 3, knows: [3] }, undefined]) {
    await assert.rejects(survey.made({ friends: wrong }), (error) => error instanceof OutsideDomain && !/ann|120/.test(error.message));
  }
  await assert.rejects(survey.made({ friends: { me: 3, knows: [] }, other: 1 }), OutsideDomain);
  const second = FriendsSurvey.parse(few[1].survey, few[1]);
  await assert.rejects(second.made({ friends: { me: 119, knows: [] } }), /did not report in the first round/);
});

test("friends: names, hashed names, and what asks for them", async () => {
  assert.ok(asksForFriends(named[0].survey) && !asksForFriends("{}") && !asksForFriends("x"));
  const [one, other] = [named, hashed].map((rounds) => FriendsSurvey.parse(rounds[0].survey, rounds[0]).rounds.domain);
  assert.equal(one.number("person 03 \u00e9"), 3);
  assert.equal(one.number("nobody"), undefined);
  assert.ok(other.hashed && !one.hashed);
  assert.equal(other.names[other.number(" PERSON 03 \u00c9 ")], hashedName("person 03 \u00e9"));
});

test("friends: a device pays once, keeps the list until the last round, and insists that rounds belong together", async () => {
  const ledger = await openLedger();
  const device = (round) => new FriendsDevice(FriendsSurvey.parse(round.survey, round), { ledger, coins: new SeededCoins(1) });
  const answer = { me: 5, knows: [1, 2, 3] };
  await device(few[0]).answer({ friends: answer });
  await assert.rejects(device(few[0]).answer({ friends: answer }), BudgetSpent);
  assert.deepEqual((await device(few[1]).remembered()).knows, [1, 2, 3]);
  await assert.rejects(device(few[1]).answer({ friends: { me: 6, knows: [] } }), OutsideDomain);
  await device(few[1]).answer({ friends: answer });
  const [text, { law }] = changed(few[2], (mechanism) => (mechanism.shares[0] += 1));
  await assert.rejects(device({ survey: text, law }).answer({ friends: answer }), SurveyMismatch);
  await device(few[2]).answer({ friends: answer });
  assert.equal((await device(few[2]).remembered()).knows, undefined);
  assert.equal(await ledger.spent(), 3);
  const [other, { law: its }] = changed(few[1], (_, __, tree) => (tree.survey.title = "another"));
  await assert.rejects(device({ survey: other, law: its }).answer({ friends: answer }), SurveyMismatch);
});

test("friends: a list can be forgotten, and a device that answers later rounds only pays too", async () => {
  const ledger = await openLedger();
  const device = new FriendsDevice(FriendsSurvey.parse(few[1].survey, few[1]), { ledger });
  await device.answer({ friends: { me: 4, knows: [1] } });
  await device.forget();
  assert.deepEqual([(await device.remembered()).me, (await device.remembered()).knows], [4, undefined]);
  assert.equal(await ledger.spent(), 3);
  const fetch = async () => Response.json({ survey: device.whole.fingerprint, counted: 1, duplicates: 0 });
  assert.equal((await device.send("", { fetch })).state, "sent");
  assert.equal((await device.entry()).state, "sent");
});

test("friends: links", () => {
  assert.deepEqual(memberOf("#member=12.AAAAAAAAAAAAAAAAAAAAAA"), { member: 12, secret: "AAAAAAAAAAAAAAAAAAAAAA" });
  for (const wrong of ["", "#member=12", "#member=x.AAAAAAAAAAAAAAAAAAAAAA", "#member=1.short"]) assert.equal(memberOf(wrong), null);
  const bytes = unhex(few[0].made[0].message);
  assert.equal(signed(bytes, "AAAAAAAAAAAAAAAAAAAAAA").length, bytes.length + 32);
});
