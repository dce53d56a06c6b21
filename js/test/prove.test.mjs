// What a device proves of laws: as much as Python, for all families at all sizes, in bounded time; and never less than the
// exact loss, whatever the program is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, less, ONE, read, written } from "../src/fraction.js";
import { Program } from "../src/program.js";
import { proved } from "../src/prove.js";
import { SeededCoins } from "../src/seeded.js";
import { exactLoss, unpacked } from "./exact.mjs";
import { file } from "./shared.mjs";

const [LAWS, QUESTIONS] = ["laws", "question_laws"].map(file);
const lawOf = (name) => LAWS.find((each) => each.name === name).law;

function programOf({ law, survey, question, program, mutant, at, node }) {
  if (law) return new Program(lawOf(law));
  if (survey) return new Program(QUESTIONS.find((each) => each.survey === survey && each.question === question).law);
  if (program) return new Program(unpacked(program));
  const { nodes, report } = lawOf(mutant);
  return new Program({ nodes: nodes.with(at, unpacked(node)), report });
}

const BOUNDS = file("law_bounds").map((each) => {
  const open = each.open && { ...each.open, secret: new Set(unpacked(each.open.secret)) };
  const name = each.law ?? each.larger ?? (each.survey ? `${each.survey} ${each.question}` : each.leak ?? `${each.mutant} ${each.at}`);
  return { ...each, name, open, program: programOf(each) };
});
const honest = BOUNDS.filter(({ leak, mutant }) => !leak && !mutant);

/** What is proved of a program, which is never less than what is true. */
function checked(program, open, what, most) {
  const found = proved(program, open);
  const exact = found?.odds ? exactLoss(program, open, most) : undefined;
  if (exact !== undefined) assert.ok(exact && !less(found.odds, exact), `${what}: ${written(found.odds)} below ${exact && written(exact)}`);
  return found && { ...found, isExact: exact && equal(exact, found.odds) };
}

test("devices prove what Python proves, of all laws and surveys, and of larger ones", () => {
  for (const { name, program, open, odds } of honest) {
    const found = checked(program, open, name);
    const isAsGood = found?.odds && odds && (equal(found.odds, read(odds)) || (found.isExact && less(found.odds, read(odds))));
    if (odds) assert.ok(isAsGood, `${name}: ${found?.odds && written(found.odds)}, not ${odds}`);
    if (found) assert.ok(found.rules.length || equal(found.odds, ONE), name);
  }
  assert.ok(honest.length > 250, String(honest.length));
});

test("planted leaks are refused, or get the loss that Python gives them, or their exact one", () => {
  const leaks = BOUNDS.filter(({ leak }) => leak);
  for (const { name, program, open, odds } of leaks) {
    const found = checked(program, open, name, 20_000);
    if (!odds) assert.ok(!found?.odds || found.isExact, name);
    else if (found?.odds) assert.ok(found.isExact || !less(found.odds, read(odds)), name);
  }
  assert.ok(leaks.length > 40, String(leaks.length));
});

test("mutants of all families: never less than the exact loss, and bounded where Python bounds them", () => {
  const mutants = BOUNDS.filter(({ mutant }) => mutant);
  const many = { same: 0, other: 0, none: 0 };
  for (const { name, program, odds } of mutants) {
    const found = checked(program, undefined, name);
    many[!odds && !found?.odds ? "none" : odds && found?.odds && equal(found.odds, read(odds)) ? "same" : "other"]++;
  }
  assert.ok(mutants.length > 200 && many.same + many.none >= mutants.length - 5, JSON.stringify(many));
});

test("noise that is taken away again, or that is no noise, bounds nothing", () => {
  const [answer, split, one] = [["code", [], "x", 0, 99], ["split", [], "1/2", 1, 99], ["const", [], 1]];
  const [even, many] = [["below", [], 100], ["const", [], 99]];
  const programs = {
    "added once and 99 times more": [answer, even, one, ["add", [1, 2]], many, ["mul", [3, 4]], ["add", [3, 5]], ["add", [6, 0]], ["mod", [7], 100]],
    "added twice, by way of one sum": [answer, even, one, ["add", [1, 2]], ["add", [3, 3]], ["add", [4, 0]], ["mod", [5], 100]],
    "taken away with the answer": [answer, split, one, ["add", [1, 2]], many, ["add", [3, 0]], ["mul", [5, 4]], ["add", [3, 6]], ["mod", [7], 100]],
    "a row and the bit in it": [["code", [], "x", 0, 19], ["flags", [], "2/3", 20], ["toss", [], "1/2"], ["put", [1, 0, 2]], ["pack", [2], 1], ["join", [3, 4]]],
  };
  for (const [name, nodes] of Object.entries(programs)) {
    const found = proved(new Program({ nodes, report: [["y", nodes.length - 1]] }));
    assert.ok(!found?.odds, name);
  }
});

test("what is public is not taken for how many bits are set", () => {
  const nodes = [["code", [], "x", 0, 19], ["toss", [], "1/3"], ["subset", [1], 19, 5], ["widen", [2], 20], ["const", [], 19], ["public", [], 2], ["xor", [1, 5]], ["put", [3, 4, 6]], ["swap", [7, 0, 4]]];
  const found = proved(new Program({ nodes, report: [["y", 8]] }));
  assert.ok(found === undefined || found.odds === null || found.odds.n > found.odds.d);
});

test("samples whose cell another code names, and of which few are plain, lose what they lose", () => {
  const taken = (size, width) => [["code", [], "x", 0, size - 1, width, 1], ["below", [], width], ["at", [0, 1]]];
  const named = [...taken(2, 2), ["code", [], "z", 0, 29], ["const", [], 0], ["eq", [2, 4]], ["toss", [], "9/10"], ["toss", [], "9/10"], ["where", [5, 6, 7]], ["flags", [], "1/2", 30], ["put", [9, 3, 8]]];
  const few = [...taken(5, 3), ["const", [], 4], ["eq", [2, 3]], ["flags", [], "1/3", 5], ["get", [5, 2]], ["toss", [], "2/3"], ["where", [4, 6, 7]], ["put", [5, 2, 8]]];
  for (const [nodes, odds] of [[named, "9/1"], [few, "5/2"]]) {
    const found = proved(new Program({ nodes, report: [["y", nodes.length - 1]] }));
    assert.ok(!found?.odds || !less(found.odds, read(odds)), found?.odds && written(found.odds));
  }
});

test("rows of so many bits do not hide an answer, whether or not it is asked if they are empty", () => {
  const nodes = [["code", [], "x", 0, 3], ["table", [0], [0, 0, 1, 1]], ["const", [], 0], ["subset", [2], 24, 3], ["subset", [2], 24, 2], ["where", [1, 4, 3]], ["ones", [5]], ["eq", [6, 2]], ["and", [1, 7]], ["const", [], 2], ["add", [0, 9]], ["xor", [7, 7]], ["where", [8, 10, 11]]];
  const found = proved(new Program({ nodes, report: [["open", 12], ["y", 5]] }), { field: "open", from: 2, secret: new Set([0, 1]) });
  assert.ok(!found?.odds);
});

// Programs at random: FUZZ_SEED=7 node --test test/prove.test.mjs

const coins = new SeededCoins(process.env.FUZZ_SEED ?? "proofs");
const any = (list) => list[coins.below(list.length)];
const ODDS = ["1/2", "1/3", "3/4", "2/5", "1/1", "0/1"];
const numbers = (size, values) => Array.from({ length: size }, () => any(values));
const NODES = {
  ...Object.fromEntries(["add", "sub", "mul", "min", "max", "lt", "eq", "and", "or", "xor", "shr", "get", "turn", "at"].map((op) => [op, [2]])),
  ...Object.fromEntries(["abs", "not", "ones"].map((op) => [op, [1]])),
  ...Object.fromEntries(["where", "aim", "put", "swap"].map((op) => [op, [3]])),
  const: [0, () => any([0, 1, 2, 3, -1])],
  table: [1, () => numbers(any([2, 3, 4, 5]), [0, 1, 2, 3])],
  toss: [0, () => any(ODDS)],
  split: [0, () => any(ODDS), () => any([1, 1, 2]), () => any([1, 2, 3])],
  pick: [0, () => numbers(any([1, 2, 3]), [1, 2, 3])],
  pick_each: [1, () => [[1, 2], [2, 1], [1, 2], [3, 0]].slice(0, any([1, 2, 3, 4]))],
  toss_each: [1, () => any([1, 2, 3, 4])],
  flags: [0, () => any(ODDS), () => any([1, 2, 3])],
  subset: [1, () => any([2, 3]), () => any([1, 2])],
  around: [2, () => any([1, 2]), () => any([2, 3, 4])],
  widen: [1, () => any([2, 3, 4])],
  pack: [2, () => any([1, 2])],
  cells: [1, () => 0],
  ...Object.fromEntries(["below", "public", "majority"].map((op) => [op, [0, () => any([1, 2, 3, 4])]])),
  ...Object.fromEntries(["div", "mod"].map((op) => [op, [1, () => any([1, 2, 3, 4])]])),
  code: [1, () => "z", () => 0, () => 1],
};

const isLaw = (law) => {
  try {
    return new Program(law);
  } catch {
    return null;
  }
};

/** A law of one or two codes, in half of the cases randomized first, and then whatever fits. */
function grown() {
  const size = any([2, 2, 3, 4]);
  const nodes = [["code", [], "x", 0, size - 1]];
  if (any([0, 1])) nodes.push(["split", [], any(["3/4", "1/2", "2/3"]), 1, size - 1], ["add", [0, 1]], ["mod", [2], size]);
  for (let left = 2 + coins.below(8); left; left--) {
    for (let tries = 0; tries < 40; tries++) {
      const op = any(Object.keys(NODES));
      const [arity, ...params] = NODES[op];
      const node = [op, numbers(arity, nodes.map((_, place) => place)), ...params.map((make) => make())];
      if ((op === "code" && any([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])) || (op !== "code" && isLaw({ nodes: [...nodes, node], report: [["x", 0]] }))) {
        nodes.push(node);
        break;
      }
    }
  }
  const places = nodes.map((_, place) => place);
  return { nodes, report: [["last", nodes.length - 1], ...(any([0, 1]) ? [["other", any(places)]] : [])] };
}

test("no bound of a random law is below its exact loss", () => {
  let bounded = 0;
  for (let i = 0; i < 1500; i++) {
    const law = grown();
    if (checked(isLaw(law), undefined, JSON.stringify(law))?.odds) bounded++;
  }
  assert.ok(bounded > 400, String(bounded));
});

const program = (...nodes) => new Program({ nodes, report: [["x", nodes.length - 1]] });
const chain = (first, times, next) => program(...first, ...Array.from({ length: times }, (_, i) => next(first.length + i)));
const ANSWER = ["code", [], "answer", 0, 1];
const BIG = `${"9".repeat(4299)}/1${"0".repeat(4299)}`;
const HOSTILE = {
  "a wide row": program(ANSWER, ["flags", [], "1/2", 2 ** 20], ["toss", [], "1/2"], ["put", [1, 0, 2]], ["turn", [3, 2]]),
  "many codes": program(...new Array(20_000).fill(ANSWER)),
  "many draws": program(ANSWER, ...new Array(19_998).fill(["toss", [], "1/3"]), ["add", [0, 19_998]]),
  "a long sum": chain([ANSWER, ["toss", [], "1/3"]], 19_998, (i) => (i % 2 ? ["toss", [], "1/3"] : ["max", [i - 1, i - 2]])),
  "a sum of many draws": new Program({
    nodes: [["code", [], "x", 0, 9], ...Array.from({ length: 9000 }, (_, i) => [["split", [], "1/2", 1, 9], ["add", [2 * i, 2 * i + 1]]]).flat(), ["mod", [18_000], 10]],
    report: [["x", 18_001]],
  }),
  "large fractions": chain([ANSWER], 2000, (i) => (i % 2 ? ["toss", [], BIG] : ["xor", [i - 1, i - 2]])),
  "many conditions": chain([ANSWER, ["toss", [], "1/2"], ["toss", [], "1/3"]], 6000, (i) => (i % 2 ? ["toss", [], "2/3"] : ["where", [i - 1, i - 2, 1]])),
  "a large subset": program(["code", [], "x", 0, 2 ** 16 - 1], ["toss", [], "1/3"], ["subset", [1], 2 ** 16 - 1, 2 ** 15], ["widen", [2], 2 ** 16], ["const", [], 2 ** 16 - 1], ["put", [3, 4, 1]], ["swap", [5, 0, 4]]),
  "a large majority": program(ANSWER, ["majority", [], 2 ** 20], ["flags", [], "1/2", 2 ** 20], ["put", [2, 0, 0]], ["xor", [1, 3]]),
  "many bits": program(["code", [], "up", 0, 255, 2 ** 20], ["cells", [0], 0], ["flags", [], "1/3", 2 ** 20], ["xor", [1, 2]]),
  "a large table": program(["code", [], "x", 0, 255], ["const", [], 256], ["mul", [0, 1]], ["below", [], 256], ["add", [2, 3]], ["table", [4], Array.from({ length: 2 ** 16 }, (_, i) => (i * 7) % 256)]),
  "many fields": new Program({
    nodes: [ANSWER, ...Array.from({ length: 9000 }, (_, i) => [["toss", [], "1/3"], ["xor", [0, 2 * i + 1]]]).flat()],
    report: Array.from({ length: 9000 }, (_, i) => [`f${i}`, 2 * i + 2]),
  }),
  "a packed row": program(ANSWER, ["toss", [], "1/2"], ["pack", new Array(2 ** 20).fill(1), 1], ["ones", [2]], ["div", [3], 2 ** 20], ["xor", [0, 4]]),
  "rows of sixteen": program(ANSWER, ["subset", [0], 16, 8], ["subset", [0], 16, 7], ["xor", [1, 2]], ["majority", [], 16], ["and", [3, 4]], ["ones", [5]]),
  "a sum of draws with long fractions of their own": new Program({
    nodes: [["code", [], "x", 0, 9], ...Array.from({ length: 700 }, (_, i) => [["split", [], `${2n ** 254n + BigInt(i)}/${2n ** 256n - BigInt(2 * i + 1)}`, 1, 9], ["add", [2 * i, 2 * i + 1]]]).flat(), ["mod", [1400], 10]],
    report: [["x", 1401]],
  }),
  "rows joined again and again": program(
    ...[["code", [], "x", 0, 999], ["flags", [], "1/1", 1000], ...Array.from({ length: 3000 }, (_, i) => ["join", [i + 1]])],
    ...[["flags", [], "1/3", 1000], ["toss", [], "1/2"], ["put", [3002, 0, 3003]], ["xor", [3004, 3001]]],
  ),
  "many views of one sum": new Program({
    nodes: [
      ...[["code", [], "x", 0, 9], ["toss", [], "1/3"], ...Array.from({ length: 699 }, (_, i) => [["toss", [], "1/3"], ["add", [i && 2 * i + 1, 2 * i + 2]]]).flat()],
      ...Array.from({ length: 700 }, (_, i) => [["const", [], i + 1], ["mul", [0, 1400 + 4 * i]], ["add", [1401 + 4 * i, 1399]], ["mod", [1402 + 4 * i], 100 + i]]).flat(),
    ],
    report: Array.from({ length: 700 }, (_, i) => [`f${i}`, 1403 + 4 * i]),
  }),
  "wide numbers": program(["code", [], "x", 0, String(2n ** 61n)], ["below", [], String(2n ** 61n)], ["add", [0, 1]]),
};

for (const [name, law] of Object.entries(HOSTILE)) {
  test(`a proof is given up in time: ${name}`, () => {
    for (const open of [undefined, { field: "x", from: 1, secret: new Set([0]) }]) {
      const before = process.cpuUsage();
      proved(law, open);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 5e6, `${(user + system) / 1000} ms`); // steps are counted, so it is far less on any machine
    }
  });
}

test("what tells the truth is unbounded, and what no rule reaches is not called proved", () => {
  assert.deepEqual(proved(program(["code", [], "x", 0, 9999])), { odds: null, rules: ["counterexample"] });
  const leaky = program(["code", [], "x", 0, 99], ["split", [], "1/2", 1, 99], ["add", [0, 1]], ["mod", [2], 100], ["eq", [0, 3]], ["const", [], 100], ["mul", [4, 5]], ["add", [6, 3]]);
  assert.ok(!proved(leaky)?.odds);
  assert.equal(proved(program(["code", [], "up", 0, 8, 2 ** 20], ["toss_each", [0], 8])), undefined);
});

test("leaks too large to be followed, which rules that are a little wider would bound", () => {
  const [ORDER, TAKEN, KEYS] = [["code", [], "order", 0, 29, 30, 1], ["below", [], 3], ["code", [], "keys", 0, 2999, 3, 1]];
  const noise = ["split", [], "1/2", 1, 2999];
  const laws = {
    // a vector whose bits are drawn with a toss that is used again
    bits: program(["code", [], "v", 0, 1, 20], ["code", [], "x", 0, 19], ["toss", [], "1/2"], ["add", [0, 2]], ["cells", [3], 0], ["get", [4, 1]], ["xor", [5, 2]], ["flags", [], "1/2", 20], ["put", [7, 1, 6]]),
    // a vector of different numbers, or one of any
    either: program(ORDER, ["code", [], "any", 0, 29, 30], ["code", [], "which", 0, 1], ["where", [2, 0, 1]], ["split", [], "1/2", 1, 29], ["at", [3, 4]]),
    // more numbers than places, places that are even, and an order that is shown in part
    wide: program(["code", [], "order", 0, 999, 30, 1], ["split", [], "1/2", 1, 29], ["at", [0, 1]]),
    even: program(ORDER, ["below", [], 15], ["const", [], 2], ["mul", [1, 2]], ["at", [0, 3]]),
    // one of three keys, where it is always the first, where the noise is used again, or where a key is
    first: program(KEYS, ["const", [], 0], ["at", [0, 1]], noise, ["min", [2, 3]]),
    noise: program(TAKEN, KEYS, ["at", [1, 0]], noise, ["add", [2, 3]], ["mod", [4], 3000], ["const", [], 1], ["lt", [3, 6]], ["const", [], 3000], ["mul", [7, 8]], ["add", [9, 5]]),
    shared: program(TAKEN, KEYS, ["at", [1, 0]], ["const", [], 0], ["at", [1, 3]], noise, ["add", [2, 5]], ["mod", [6], 3000], ["eq", [4, 7]], ["const", [], 3000], ["mul", [8, 9]], ["add", [10, 7]]),
  };
  for (const [name, law] of Object.entries(laws)) assert.ok(!proved(law)?.odds, name);
});

test("one of two different cells is marked: two sets may have none in common", () => {
  const keys = (size) => ["code", [], "keys", 0, size - 1, 2, 1];
  const marks = (size) => program(keys(size), ["below", [], 2], ["at", [0, 1]], ["flags", [], "2/5", size], ["toss", [], "3/4"], ["put", [3, 2, 4]]);
  assert.equal(written(proved(marks(4)).odds), "9/2"); // one set has both its bits set, the other none
  assert.equal(written(proved(marks(2)).odds), "1"); // there is one set only
});

test("an encoder that is given draws proves nothing of which answers are sensitive", () => {
  const { nodes, report } = lawOf("open-direct");
  const open = BOUNDS.find(({ law }) => law === "open-direct").open;
  assert.ok(proved(new Program({ nodes, report }), open)?.odds);
  const later = nodes.map(([op, args, ...params]) => [op, op === "code" ? [0] : args.map((arg) => arg + 1), ...params]);
  const given = new Program({ nodes: [["below", [], 2], ...later], report: report.map(([name, place]) => [name, place + 1]) });
  assert.equal(proved(given, open), undefined);
});

test("a chance is followed at its ends only where the law is linear in it", () => {
  const made = (...nodes) => program(["code", [], "up", 0, 8], ...nodes);
  const noise = (bit, place) => [["split", [], "3/4", 1, 1], ["add", [bit, place]], ["mod", [place + 1], 2]];
  assert.equal(written(proved(made(["toss_each", [0], 8], ...noise(1, 2))).odds), "3");
  assert.equal(proved(made(["toss_each", [0], 8])).odds, null);
  // two tosses of one chance differ only in between, never at its ends: all nine values are followed
  assert.equal(written(proved(made(["toss_each", [0], 8], ["toss_each", [0], 8], ["xor", [1, 2]], ...noise(3, 4))).odds), "2");
});

test("a number is equal to itself, which says nothing of it", () => {
  const found = proved(program(["code", [], "x", 0, 99_999], ["eq", [0, 0]]));
  assert.equal(written(found.odds), "1");
});
