// Invitations: the RFC's vectors, the browser's own RSA-PSS, and issuers that lie.

import assert from "node:assert/strict";
import { constants, createPublicKey, generateKeyPairSync, privateEncrypt, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openLedger } from "../src/index.js";
import { Invitation, blind, codeOf, finalize, publicKey, withToken } from "../src/invitation.js";
import { hex, unhex } from "../src/bytes.js";

const VECTORS = JSON.parse(readFileSync(new URL("../../vectors/blind_rsa.json", import.meta.url)));
const FINGERPRINT = "00112233445566778899aabbccddeeff";
const pair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
const derOf = (key) => new Uint8Array(createPublicKey(key).export({ type: "spki", format: "der" }));
// RSA without padding: what an issuer does
const signed = (key, blinded) => new Uint8Array(privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, blinded));

for (const { variant, prefix, blinded } of VECTORS.cases) {
  test(`it blinds as the RFC does: ${variant}`, async () => {
    const [n, inv] = [VECTORS.n, VECTORS.inv].map((text) => BigInt(`0x${text}`));
    const made = await blind({ n, size: 512 }, unhex(prefix + VECTORS.msg), { salt: unhex(VECTORS.salt), inv });
    assert.ok(hex(made.blinded).startsWith(blinded));
  });
}

test("a blind signature becomes an ordinary one, and a wrong one is refused", async () => {
  const { privateKey } = pair();
  const key = await publicKey(derOf(privateKey));
  const message = new TextEncoder().encode("message");
  const { blinded, inv } = await blind(key, message);
  const signature = await finalize(key, message, signed(privateKey, blinded), inv);
  assert.equal(signature.length, 256);
  await assert.rejects(finalize(key, message, signed(pair().privateKey, new Uint8Array(256).fill(1)), inv), /not valid/);
  await assert.rejects(finalize(key, message, new Uint8Array(256), inv), /not valid/);
});

test("weak keys are refused", async () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const odd = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 });
  for (const { privateKey } of [short, odd]) await assert.rejects(publicKey(derOf(privateKey)), /2,048 bits/);
  await assert.rejects(publicKey(new Uint8Array(10)), /2,048 bits/);
});

/** An issuer of one survey, which remembers what it was asked. */
async function issuer(delay = 0) {
  const { privateKey } = pair();
  const der = derOf(privateKey);
  const id = hex(new Uint8Array(await webcrypto.subtle.digest("SHA-256", der)));
  const survey = { id: "s", fingerprint: FINGERPRINT, invitations: { keys: [id], delay } };
  const state = { requests: [], answer: null, keys: [hex(der)] };
  const fetch = async (url, { body }) => {
    if (url.endsWith("/v1/issuer")) return Response.json({ survey: FINGERPRINT, current: 0, keys: state.keys });
    state.requests.push(JSON.parse(body));
    if (state.answer) return state.answer();
    return Response.json({ survey: FINGERPRINT, signature: hex(signed(privateKey, unhex(JSON.parse(body).blinded))) });
  };
  return { survey, fetch, state };
}

test("a lost answer costs nothing, and the code is forgotten", async () => {
  const { survey, fetch, state } = await issuer();
  const ledger = await openLedger();
  state.answer = () => Promise.reject(new TypeError("lost"));
  assert.equal((await new Invitation(survey, ledger).right("", "code", { fetch })).status, 0);
  state.answer = () => new Response("<p>Log in</p>");
  assert.equal((await new Invitation(survey, ledger).right("", "code", { fetch })).status, 0);
  state.answer = null;
  const { token, after } = await new Invitation(survey, ledger).right("", null, { fetch }); // the ledger has the code
  assert.equal(new Set(state.requests.map((each) => JSON.stringify(each))).size, 1);
  assert.equal(token.length, 289);
  assert.ok(after <= Date.now());
  assert.ok(!JSON.stringify(await new Invitation(survey, ledger).state()).includes("code"));
  assert.deepEqual((await new Invitation(survey, ledger).right("", null, { fetch })).token, token);
  assert.equal(state.requests.length, 3);
});

test("two pages make one token", async () => {
  const { survey, fetch } = await issuer(1000);
  const ledger = await openLedger();
  const [one, two] = await Promise.all([1, 2].map(() => new Invitation(survey, ledger).right("", "code", { fetch })));
  assert.deepEqual(one, two);
  assert.ok(one.after > Date.now() - 1000 && one.after <= Date.now() + 1_000_000);
});

test("a key that the survey does not name is not used", async () => {
  const { survey, fetch, state } = await issuer();
  state.keys = [hex(derOf(pair().privateKey))];
  await assert.rejects(new Invitation(survey, await openLedger()).right("", "code", { fetch }), /recognize you/);
  assert.equal(state.requests.length, 0);
});

test("refusals and wrong signatures give no token", async () => {
  const { survey, fetch, state } = await issuer();
  const ledger = await openLedger();
  const problem = { type: "urn:deniable:problem:exchanged", status: 409, title: "x", detail: "used" };
  state.answer = () => Response.json(problem, { status: 409 });
  const found = await new Invitation(survey, ledger).right("", "code", { fetch });
  assert.deepEqual(found, { status: 409, detail: "used", reason: "exchanged" });
  state.answer = () => Response.json({ survey: FINGERPRINT, signature: "00".repeat(256) });
  await assert.rejects(new Invitation(survey, ledger).right("", "code", { fetch }), /not valid/);
  await assert.rejects(new Invitation(survey, await openLedger()).right("", null, { fetch }), /invited people/);
});

test("codes and sealed messages", () => {
  assert.equal(codeOf("https://x.example/s/#invitation=abc_-1"), "abc_-1");
  assert.equal(codeOf("#invitation=abc"), "abc");
  for (const none of ["#", "#token=abc", "", "\u00e4", "x".repeat(101)]) assert.equal(codeOf(none), null);
  const message = new Uint8Array(60);
  const made = withToken(message, new Uint8Array(289).fill(7));
  assert.equal(made.length, 60 + 289);
  assert.equal(made[6] + 256 * made[7], 289);
});

test("a survey with so many keys that each person could have their own is refused", async () => {
  const { survey, fetch, state } = await issuer();
  const keys = (many) => Array.from({ length: many }, (_, i) => hex(Uint8Array.of(i >> 8, i & 255)).padStart(64, "0"));
  const wrong = [{ keys: keys(17) }, { keys: keys(1000) }, { keys: [] }, { keys: "0".repeat(10) }, { keys: [...keys(1), ...keys(1)] }];
  for (const terms of [...wrong, { delay: -1 }, { delay: 1e9 }, { delay: "60" }, { delay: null }]) {
    const changed = { ...survey, invitations: { ...survey.invitations, ...terms } };
    await assert.rejects(new Invitation(changed, await openLedger()).right("", "code", { fetch }), /recogni[sz]ed?/);
  }
  assert.equal(state.requests.length, 0);
  const many = { keys: [...survey.invitations.keys, ...keys(15)], delay: 60 };
  assert.ok((await new Invitation({ ...survey, invitations: many }, await openLedger()).right("", "code", { fetch })).token);
});
