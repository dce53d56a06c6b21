// Sending through a relay: the RFC's vector, the same bytes as in Python, and nothing that is ever sent another way.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { test } from "node:test";
import { hex } from "../src/bytes.js";
import { Device, openLedger } from "../src/index.js";
import { canSeal, MixedDevice, seal, sealBase, termsFingerprint } from "../src/mix.js";
import * as built from "../../packages/deniable/src/deniable/collector/web/mix.js";
import * as client from "../../packages/deniable/src/deniable/collector/web/deniable.js";
import { answersTo, bytes, file, lawText, surveyOf, surveyText } from "./shared.mjs";

const { rfc, message: given } = file("mix");
const TERMS = { format: "deniable-mix-1", ...given.terms };
const SIZE = 16 + 32 + TERMS.size + 16;

/** A pair of keys from the bytes of the private one: PKCS #8 is a fixed prefix before them. */
async function pairOf(text) {
  const der = Buffer.concat([Buffer.from("302e020100300506032b656e04220420", "hex"), Buffer.from(text, "hex")]);
  const privateKey = await webcrypto.subtle.importKey("pkcs8", der, { name: "X25519" }, true, ["deriveBits"]);
  const { x } = await webcrypto.subtle.exportKey("jwk", privateKey);
  const publicKey = await webcrypto.subtle.importKey("raw", Buffer.from(x, "base64url"), { name: "X25519" }, true, []);
  return { privateKey, publicKey };
}

for (const [name, make] of [["source", { sealBase, seal, termsFingerprint }], ["built", built]]) {
  test(`${name}: it seals as RFC 9180, A.1.1, does`, async () => {
    const options = { ephemeral: await pairOf(rfc.ephemeral), associated: bytes(rfc.associated) };
    assert.equal(hex(await make.sealBase(bytes(rfc.public), bytes(rfc.info), bytes(rfc.plain), options)), rfc.sealed);
  });

  test(`${name}: it seals a message as Python does`, async () => {
    assert.equal(hex(await make.seal(TERMS, bytes(given.message), { ephemeral: await pairOf(given.ephemeral) })), given.sealed);
    assert.equal(make.termsFingerprint(TERMS), given.fingerprint);
  });
}

test("every sealing has keys of its own, the same ticket and the same length", async () => {
  const [one, two] = await Promise.all([1, 2].map(() => seal(TERMS, bytes(given.message))));
  assert.deepEqual([one.length, two.length], [SIZE, SIZE]);
  assert.deepEqual(one.slice(0, 16), two.slice(0, 16));
  assert.notDeepEqual(one.slice(16, 48), two.slice(16, 48));
  await assert.rejects(seal(TERMS, new Uint8Array(TERMS.size - 3)), { name: "InvalidReport" });
  assert.equal((await seal(TERMS, new Uint8Array(TERMS.size - 4))).length, SIZE);
});

test("a key that gives everybody the same secret is refused", async () => {
  for (const key of ["00".repeat(32), `01${"00".repeat(31)}`]) await assert.rejects(seal({ ...TERMS, key }, bytes(given.message)));
});

/** A relay that remembers what it got, and answers as it is told. */
function relay() {
  const state = { requests: [], answer: null };
  const fetch = async (url, options) => {
    state.requests.push({ url, ...options });
    return state.answer ? state.answer() : Response.json({ stored: 1, survey: TERMS.survey }, { status: 202 });
  };
  return { state, options: { fetch, attempts: 1, sleep: async () => {} } };
}

const mixed = async (ledger) => new MixedDevice(surveyOf("kinds"), TERMS, { ledger: ledger ?? (await openLedger()) });

test("a report goes to the relay only, sealed, and 202 counts as arrived", async () => {
  const device = await mixed();
  const { state, options } = relay();
  const message = await device.answer(answersTo("kinds"));
  const receipt = await device.send("", { ...options, token: "secret" });
  assert.deepEqual([receipt.state, receipt.status, receipt.id], ["sent", 202, hex(message.slice(24, 40))]);
  const [{ url, body, headers, credentials, redirect, method }] = state.requests;
  assert.deepEqual([url, method, credentials, redirect], ["https://mix.example/v1/mix", "POST", "omit", "error"]);
  assert.deepEqual(headers, { "Content-Type": `application/vnd.deniable.sealed; terms=${given.fingerprint}` });
  assert.equal(body.length, SIZE);
  assert.ok(!hex(body).includes(hex(message.slice(24, 40))));
  assert.equal((await device.send("", options)).state, "sent");
  assert.equal(state.requests.length, 1); // it knows that it has arrived
});

test("what has not been stored is kept, and sent again with the same ticket", async () => {
  const ledger = await openLedger();
  const { state, options } = relay();
  await (await mixed(ledger)).answer(answersTo("kinds"));
  const nobody = [
    () => Promise.reject(new TypeError("no network")),
    () => new Response("<p>Log in</p>"),
    () => Response.json({ counted: 1, duplicates: 0, survey: TERMS.survey }), // no relay
    () => Response.json({ stored: 1, survey: "00".repeat(16) }, { status: 202 }),
    () => Response.json({ stored: 1, survey: TERMS.survey }),
    () => new Response("", { status: 202 }),
    () => Response.json({ type: "urn:deniable:problem:full", detail: "full" }, { status: 503 }),
  ];
  for (const answer of nobody) {
    state.answer = answer;
    assert.equal((await (await mixed(ledger)).send("", options)).state, "kept");
  }
  state.answer = () => Response.json({ type: "urn:deniable:problem:other-terms", detail: "other" }, { status: 409 });
  const refused = await (await mixed(ledger)).send("", options);
  assert.deepEqual([refused.state, refused.status, refused.detail], ["refused", 409, "other"]);
  state.answer = null;
  assert.equal((await (await mixed(ledger)).keepSending(undefined, options)).state, "sent");
  assert.equal(state.requests.length, nobody.length + 2);
  assert.equal(new Set(state.requests.map(({ body }) => hex(body.slice(0, 16)))).size, 1);
  assert.equal(new Set(state.requests.map(({ body }) => hex(body.slice(16)))).size, nobody.length + 2);
});

test("without X25519 nothing is answered and nothing is sent", async (context) => {
  const ledger = await openLedger();
  const device = await mixed(ledger);
  const { state, options } = relay();
  await device.answer(answersTo("kinds"));
  assert.equal(await canSeal(), true);
  const missing = async () => {
    throw new DOMException("Unrecognized name.", "NotSupportedError");
  };
  context.mock.method(webcrypto.subtle, "generateKey", missing);
  assert.equal(await canSeal(), false);
  await assert.rejects(device.send("", options), { name: "NoRandomness", message: /Nothing was sent/ });
  await assert.rejects((await mixed()).answer(answersTo("kinds")), { name: "NoRandomness" });
  assert.equal(state.requests.length, 0);
  assert.equal((await device.entry()).state, "kept");
});

test("a mixed device sends nowhere else", async () => {
  const device = await mixed();
  const { state, options } = relay();
  await device.answer(answersTo("kinds"));
  await assert.rejects(device.send("https://survey.example", options), /nowhere else/);
  await assert.rejects(device.keepSending("https://survey.example", options), /nowhere else/);
  assert.equal(state.requests.length, 0);
  assert.equal((await device.send(TERMS.relay, options)).state, "sent");
});

test("terms of another survey, damaged ones, and surveys that cannot be mixed are refused", () => {
  const survey = surveyOf("kinds");
  const changes = [
    { format: "deniable-mix-2" }, { survey: "00".repeat(16) }, { key: "ab" }, { key: 5 }, { people: 1 }, { people: "1000" }, { size: 8 },
    { size: 1e9 }, { relay: "mix.example" }, { relay: "javascript:alert(1)" }, { relay: "https://me@mix.example" },
    { relay: "https://mix.example/?a" }, { relay: "https://mix.example/#" }, { relay: ["https://mix.example"] },
  ];
  for (const change of changes) {
    assert.throws(() => new MixedDevice(survey, { ...TERMS, ...change }), { name: "InvalidParameter" }, JSON.stringify(change));
  }
  for (const none of [null, undefined, "", 7]) assert.throws(() => new MixedDevice(survey, none), { name: "InvalidParameter" });
  const daily = surveyOf("sampled");
  assert.throws(() => new MixedDevice(daily, { ...TERMS, survey: daily.fingerprint }), /cannot be mixed/);
});

test("built: a device answers and sends through a relay", async () => {
  const survey = client.Survey.parse(surveyText("kinds"), { law: lawText("kinds") });
  const device = new built.MixedDevice(survey, TERMS, { ledger: await client.openLedger() });
  assert.ok(device instanceof client.Device && !(device instanceof Device));
  await device.answer(answersTo("kinds"));
  const { state, options } = relay();
  assert.equal((await device.send("", options)).state, "sent");
  assert.equal(state.requests[0].body.length, SIZE);
});
