// A device randomizes once, remembers it, and sends the same report until it arrives.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprint } from "../src/bytes.js";
import { Device, openLedger, Survey } from "../src/index.js";
import { explain } from "../src/reports.js";
import { SeededCoins } from "../src/seeded.js";
import { answersTo, file, lawText, surveyText } from "./shared.mjs";

const TEXT = surveyText("commute");
const MEMORY = file("memory");
const ANSWERS = { mode: "bus", minutes: 25 };

/** A storage that keeps what it is given, as localStorage does. */
const storage = () => {
  const kept = new Map();
  return { kept, getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
};

/** As much of IndexedDB as the ledger uses: one store, and transactions one after the other. */
function database() {
  const kept = new Map();
  let last = Promise.resolve();
  const later = (request, value, event = "onsuccess") => (
    queueMicrotask(() => ((request.result = value), request[event]?.())),
    request
  );
  const transaction = (store, mode) => {
    const written = [];
    const made = { error: null };
    made.objectStore = () => ({
      get: (key) => later({}, structuredClone(kept.get(key))),
      put: (value, key) => written.push([key, structuredClone(value)]),
    });
    setTimeout(() => (written.forEach(([key, value]) => kept.set(key, value)), made.oncomplete?.()), 1);
    return made;
  };
  return {
    kept,
    open: () =>
      later(later({}, { createObjectStore() {}, transaction }, "onupgradeneeded"), { createObjectStore() {}, transaction }),
    last,
  };
}

/** What a collector answers when it has counted a message: it names the survey. */
const counted = (message, survey = Buffer.from(message).toString("hex", 8, 24)) =>
  new Response(JSON.stringify({ counted: 1, duplicates: 0, refused: [], survey }), { status: 200 });

const refusal = (status) =>
  new Response(JSON.stringify({ type: "urn:deniable:problem:some", status, detail: `said ${status}` }), {
    status,
    headers: status === 429 ? { "Retry-After": "7" } : {},
  });

/** A collector that answers as the test says, and remembers what it got. */
function collector(...statuses) {
  const got = [];
  const fetch = async (url, { body, headers, method }) => {
    got.push({
      url,
      method,
      type: headers["Content-Type"],
      token: headers.Authorization,
      body: Buffer.from(body).toString("hex"),
    });
    const status = statuses.shift() ?? 200;
    if (!status) throw new TypeError("fetch failed");
    return status === 200 ? counted(body) : refusal(status);
  };
  return { got, fetch };
}

const device = (ledger, name = "commute", coins = undefined, text = surveyText(name)) =>
  new Device(Survey.parse(text, { law: lawText(name, text) }), { ledger, coins });

for (const [name, open] of Object.entries({
  indexeddb: async (kept) => openLedger({ indexedDB: (kept.database ??= database()), localStorage: null }),
  localstorage: async (kept) => openLedger({ indexedDB: null, localStorage: (kept.storage ??= storage()) }),
})) {
  test(`it answers once, with a ledger in ${name}`, async () => {
    const kept = {};
    const first = device(await open(kept));
    assert.equal(first.ledger.kind, name);
    assert.deepEqual([first.ledger.lasting, first.ledger.warning], [true, null]);
    assert.equal(await first.message(), null);
    assert.equal(await first.message(), null);
    const message = await first.answer(ANSWERS);
    for (const again of [first, device(await open(kept))]) {
      await assert.rejects(again.answer({ mode: "car", minutes: 3 }), { name: "BudgetSpent" });
      assert.deepEqual(await again.message(), message);
    }
    const ledger = await open(kept);
    assert.equal(await ledger.spent(), 2);
    assert.equal((await ledger.entry("commute-2026")).state, "kept");
    const stored = JSON.stringify([...(kept.database ?? kept.storage).kept]);
    assert.ok(!stored.includes("bus") && !stored.includes("25,"), "a ledger holds reports and no answers");
  });
}

test("two pages at once cannot both answer", async () => {
  const [indexedDB, localStorage] = [null, storage()];
  const pages = await Promise.all([1, 2].map(async () => device(await openLedger({ indexedDB, localStorage }))));
  const outcomes = await Promise.allSettled(pages.map((page) => page.answer(ANSWERS)));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const [one, two] = await Promise.all(pages.map((page) => page.message()));
  assert.deepEqual(one, two);
});

test("where nothing can be stored, the ledger says so", async () => {
  const blocked = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException("full", "QuotaExceededError");
    },
  };
  const broken = {
    open: () => {
      throw new DOMException("no", "SecurityError");
    },
  };
  for (const options of [{}, { indexedDB: null, localStorage: null }, { indexedDB: broken, localStorage: blocked }]) {
    const ledger = await openLedger(options);
    assert.equal(ledger.kind, "memory");
    assert.equal(ledger.lasting, false);
    assert.match(ledger.warning, /cannot remember that you answered/);
    const page = device(ledger);
    await page.answer(ANSWERS);
    await assert.rejects(page.answer(ANSWERS), { name: "BudgetSpent" });
  }
  assert.equal((await openLedger({ indexedDB: broken, localStorage: storage() })).kind, "localstorage");
});

test("a damaged ledger is not overwritten, and nothing is answered without it", async () => {
  for (const damaged of ["{", "[1]", '{"format":"deniable ledger 2","surveys":{},"parts":{}}']) {
    const localStorage = storage();
    localStorage.setItem("deniable.ledger", damaged);
    await assert.rejects(openLedger({ indexedDB: null, localStorage }), {
      name: "InvalidParameter",
      message: /ledger cannot be read/,
    });
    assert.equal(localStorage.getItem("deniable.ledger"), damaged);
  }
});

test("the store that was used first is the only one", async () => {
  const broken = {
    open: () => {
      throw new DOMException("no", "SecurityError");
    },
  };
  const [one, two] = [storage(), storage()];
  // IndexedDB first: where it is out of reach later, nothing is answered.
  assert.equal((await openLedger({ indexedDB: database(), localStorage: one })).kind, "indexeddb");
  for (const indexedDB of [broken, null]) {
    await assert.rejects(openLedger({ indexedDB, localStorage: one }), {
      name: "InvalidParameter",
      message: /ledger cannot be read/,
    });
  }
  // localStorage first: IndexedDB that works later is left alone.
  await device(await openLedger({ indexedDB: broken, localStorage: two })).answer(ANSWERS);
  const later = await openLedger({ indexedDB: database(), localStorage: two });
  assert.equal(later.kind, "localstorage");
  await assert.rejects(device(later).answer(ANSWERS), { name: "BudgetSpent" });
});

test("a budget for a lifetime", async () => {
  const ledger = await openLedger({ lifetime: 3 });
  await device(ledger).answer(ANSWERS);
  await assert.rejects(device(ledger, "kinds").answer(answersTo("kinds")), {
    name: "BudgetSpent",
    message: /lifetime/,
  });
  assert.equal(await ledger.spent(), 2);
});

test("the limit for a lifetime is kept, and the smallest one holds", async () => {
  const localStorage = storage();
  const open = (lifetime) => openLedger({ indexedDB: null, localStorage, lifetime });
  assert.equal((await open(5)).lifetime, 5);
  assert.equal((await open(3)).lifetime, 3);
  await assert.rejects(open(4), { name: "InvalidParameter", message: /limit of 3 cannot be raised to 4/ });
  const ledger = await open(); // whoever opens it without a limit has that one
  assert.equal(ledger.lifetime, 3);
  await device(ledger).answer(ANSWERS);
  await assert.rejects(device(await open(), "kinds").answer(answersTo("kinds")), { name: "BudgetSpent", message: /limit of 3/ });
  for (const wrong of [0, -1, NaN, "3"]) await assert.rejects(open(wrong), { name: "InvalidParameter" });
  localStorage.setItem("deniable.ledger", localStorage.getItem("deniable.ledger").replace('"lifetime":3', '"lifetime":"x"'));
  await assert.rejects(open(), { name: "InvalidParameter", message: /ledger cannot be read/ });
});

/** A survey with one question that is asked again and again; every time it has another id. */
function daily(day, { name = "hashing", ask = "How are you?" } = {}) {
  const { spec, ...law } = MEMORY.find((each) => each.name === name);
  const question = [{ id: "well", ask, kind: "category", choices: spec.domain.labels, mechanism: spec }];
  const text = JSON.stringify({ format: "deniable survey 1", survey: { id: `day-${day}`, epsilon: 1 }, question });
  const questions = { well: law };
  return Survey.parse(text, { law: JSON.stringify({ format: "deniable law 1", survey: fingerprint(text), questions }) });
}

test("a permanent answer is kept with the ledger, and later reports are made from it", async () => {
  for (const name of ["direct", "optimized", "hashing"]) {
    const localStorage = storage();
    const kept = async () => JSON.parse((await openLedger({ indexedDB: null, localStorage })) && localStorage.getItem("deniable.ledger")).memories ?? {};
    for (let day = 0; day < 6; day++) {
      const ledger = await openLedger({ indexedDB: null, localStorage });
      await new Device(daily(day, { name }), { ledger }).answer({ well: day < 3 ? "ill" : "well" });
    }
    const [memory, ...none] = Object.values(await kept()).map((text) => JSON.parse(text));
    assert.deepEqual(none, []);
    assert.ok([1, 2].includes(Object.keys(memory.answers).length)); // two values may share a bucket
    const ledger = await openLedger({ indexedDB: null, localStorage });
    await new Device(daily("other", { name, ask: "Are you ill?" }), { ledger }).answer({ well: "ill" });
    assert.equal(Object.keys(await kept()).length, 2); // no two questions share one
  }
});

test("two pages at once keep one permanent answer", async () => {
  const localStorage = storage();
  const pages = await Promise.all(
    [1, 2, 3].map(async (day) => new Device(daily(day, { name: "direct" }), { ledger: await openLedger({ indexedDB: null, localStorage }) })),
  );
  await Promise.all(pages.map((page) => page.answer({ well: "ill" })));
  const { memories } = JSON.parse(localStorage.getItem("deniable.ledger"));
  assert.equal(Object.values(memories).length, 1);
  assert.equal(Object.keys(JSON.parse(Object.values(memories)[0]).answers).length, 1);
});

test("another survey under the same id is not answered", async () => {
  const ledger = await openLedger();
  await device(ledger).answer(ANSWERS);
  const other = device(ledger, "commute", undefined, TEXT.replace("How did you travel today?", "How did you travel yesterday?"));
  for (const attempt of [() => other.answer(ANSWERS), () => other.message(), () => other.send("")]) {
    await assert.rejects(attempt, { name: "SurveyMismatch" });
  }
});

test("the report is in the ledger before it is sent, and a wrong answer leaves nothing there", async () => {
  const ledger = await openLedger();
  const page = device(ledger);
  await assert.rejects(
    page.answer({ mode: "teleport", minutes: 25 }),
    (error) => error.name === "OutsideDomain" && !/teleport/.test(error.message),
  );
  assert.equal(await ledger.entry("commute-2026"), null);
  await assert.rejects(page.send(""), { message: /Answer first/ });
  const message = await page.answer(ANSWERS);
  await page.send("https://survey.example/", {
    fetch: async (_, { body }) => {
      assert.equal((await ledger.entry("commute-2026")).message, Buffer.from(message).toString("hex"));
      return counted(body);
    },
  });
});

test("it sends the same report until it arrives", async () => {
  const { got, fetch } = collector(0, 503, 429, 500, 200);
  const waits = [];
  const page = device(await openLedger());
  const message = await page.answer(ANSWERS);
  const options = { fetch, token: "secret", sleep: async (wait) => waits.push(wait) };
  const receipt = await page.send("https://survey.example/", options);
  assert.equal(receipt.state, "sent");
  assert.equal(receipt.id, Buffer.from(message.subarray(24, 40)).toString("hex"));
  assert.ok(Math.abs(receipt.sentAt - Date.now()) < 60_000);
  assert.equal(new Set(got.map(({ body }) => body)).size, 1);
  assert.deepEqual(got[0], {
    url: "https://survey.example/v1/reports",
    method: "POST",
    type: "application/vnd.deniable.reports",
    token: "Bearer secret",
    body: Buffer.from(message).toString("hex"),
  });
  assert.equal(waits.length, 4);
  [500, 1000, 0, 4000].forEach((most, i) => i === 2 || assert.ok(waits[i] >= most / 2 && waits[i] <= most));
  assert.equal(waits[2], 7000); // as the collector asked
  assert.equal((await page.send("https://survey.example", options)).state, "sent");
  assert.equal(got.length, 5); // it is known to have arrived
});

test("what did not arrive is kept and sent the next time; what is refused is not sent again", async () => {
  const ledger = await openLedger();
  const down = collector(0, 0);
  const page = device(ledger);
  await page.answer(ANSWERS);
  const kept = await page.send("", { fetch: down.fetch, attempts: 2, sleep: async () => {} });
  assert.deepEqual([kept.state, kept.status, kept.sentAt], ["kept", 0, null]);
  const refusing = collector(422);
  const refused = await device(ledger).send("", { fetch: refusing.fetch });
  assert.deepEqual([refused.state, refused.detail, refusing.got[0].url], ["refused", "said 422", "/v1/reports"]);
  assert.equal(refusing.got[0].body, down.got[0].body);
});

test("only the collector of the survey is believed, and no redirect is followed", async () => {
  const strangers = {
    "a page that wants a login": () => new Response("<html>Log in</html>", { status: 200 }),
    "nothing at all": () => new Response(null, { status: 204 }),
    "another survey": ({ body }) => counted(body, "00".repeat(16)),
    "something in JSON": () => new Response('{"counted": 1}', { status: 200 }),
    "nothing counted": () => new Response('{"counted": 0, "duplicates": 0}', { status: 200 }),
    "a page that forbids": () => new Response("<html>Forbidden</html>", { status: 403 }),
    "a page that is gone": () => new Response('{"detail": "gone"}', { status: 410 }),
  };
  for (const [who, answer] of Object.entries(strangers)) {
    const ledger = await openLedger();
    const page = device(ledger);
    await page.answer(ANSWERS);
    const fetch = async (_, request) => (assert.equal(request.redirect, "error"), answer(request));
    const receipt = await page.send("", { fetch, attempts: 1 });
    assert.deepEqual([receipt.state, receipt.sentAt], ["kept", null], who);
    assert.equal((await ledger.entry("commute-2026")).state, "kept", who);
    assert.equal((await page.send("", { fetch: collector().fetch })).state, "sent", who);
  }
});

test("a storage that fills up after the answer loses nothing", async () => {
  const localStorage = storage();
  const page = device(await openLedger({ indexedDB: null, localStorage }));
  const message = await page.answer(ANSWERS);
  localStorage.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  const { got, fetch } = collector();
  for (const state of ["sent", "sent"]) assert.equal((await page.send("", { fetch })).state, state);
  assert.deepEqual(
    got.map(({ body }) => body),
    [1, 2].map(() => Buffer.from(message).toString("hex")),
  );
});

test("it waits for the network and says what happens", async () => {
  const target = new EventTarget();
  globalThis.addEventListener = target.addEventListener.bind(target);
  globalThis.removeEventListener = target.removeEventListener.bind(target);
  const { got, fetch } = collector(0, 200);
  const page = device(await openLedger());
  await page.answer(ANSWERS);
  const states = [];
  const changed = ({ state }) => (
    states.push(state),
    state === "kept" && setTimeout(() => target.dispatchEvent(new Event("online")))
  );
  const receipt = await page.keepSending("", { fetch, attempts: 1, changed });
  assert.deepEqual([receipt.state, states, got.length], ["sent", ["kept", "sent"], 2]);
  const stop = new AbortController();
  const other = device(await openLedger());
  await other.answer(ANSWERS);
  const stopped = await other.keepSending("", {
    fetch: collector(0).fetch,
    attempts: 1,
    signal: stop.signal,
    changed: () => setTimeout(() => stop.abort()),
  });
  assert.equal(stopped.state, "kept");
});

test("the part of a survey that a person is asked is drawn once", async () => {
  const ledger = await openLedger();
  const asked = await Promise.all(Array.from({ length: 20 }, () => device(ledger, "sampled").questions()));
  assert.equal(new Set(asked.map((questions) => questions.map(({ id }) => id).join())).size, 1);
  const parts = new Set();
  for (let seed = 0; seed < 40; seed++) {
    const questions = await device(await openLedger(), "sampled", new SeededCoins(seed)).questions();
    parts.add(questions.map(({ id }) => id).join());
  }
  assert.deepEqual(parts, new Set(["a,b", "a,c", "b,c"]));
});

test("a person sees what is sent, in plain data and in words", async () => {
  for (const name of [
    "kinds",
    "commute",
    "ratings-unary",
    "ratings-direct",
    "features-signs",
    "release-coarsened",
    "sampled",
    "many",
  ]) {
    const page = device(await openLedger(), name, new SeededCoins(name));
    const message = await page.answer(answersTo(name));
    assert.deepEqual(await page.message(), message);
    const shown = explain(page.survey, message);
    assert.deepEqual(
      shown.map(({ question }) => question),
      (await page.questions()).map(({ id }) => id),
    );
    for (const { text, bits, names, mechanism } of shown) {
      assert.match(text, /^The report (discloses|is|says|names) .*\.$/);
      assert.doesNotMatch(text, /undefined|NaN/);
      assert.match(bits, /^[01]+$/);
      assert.ok(names === null || Array.isArray(names), mechanism);
    }
  }
  const open = device(await openLedger());
  const seen = new Set();
  for (let seed = 0; seed < 60; seed++) {
    const survey = open.survey;
    const [{ disclosed, names, text }] = explain(
      survey,
      survey.randomize({ mode: "car", minutes: 1 }, { coins: new SeededCoins(seed) }),
    );
    seen.add(text);
    assert.deepEqual([disclosed, names], disclosed ? [true, ["car"]] : [false, ["none of these"]]);
  }
  assert.deepEqual(seen, new Set(['The report discloses "car".', 'The report names "none of these".']));
});

test("a person answers once, whichever round", async () => {
  const tree = JSON.parse(TEXT);
  const law = JSON.parse(lawText("commute"));
  const round = (about) => {
    const text = JSON.stringify({ ...tree, survey: { ...tree.survey, opens: undefined, window: undefined, rounds: 3, ...about } });
    return Survey.parse(text, { law: JSON.stringify({ ...law, survey: fingerprint(text) }) });
  };
  const [first, second, changed] = [{}, { round: 2 }, { round: 2, title: "Another" }].map(round);
  assert.notEqual(first.fingerprint, second.fingerprint);
  assert.deepEqual([first.lasting === second.lasting, changed.lasting === second.lasting], [true, false]);
  assert.deepEqual([first.period(), second.period()], [0, 1]);
  const ledger = await openLedger({ indexedDB: null, localStorage: storage() });
  const message = await new Device(first, { ledger }).answer(ANSWERS);
  const later = new Device(second, { ledger });
  assert.deepEqual(await later.message(), message);
  assert.deepEqual(explain(second, message), []); // the law of the first round is not known any more
  await assert.rejects(later.answer(ANSWERS), { name: "BudgetSpent" });
  await assert.rejects(new Device(changed, { ledger }).message(), { name: "SurveyMismatch" });
});
