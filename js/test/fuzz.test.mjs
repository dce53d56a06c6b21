// A law comes from a server and may be anything: it is refused with a sentence, or it is a law and runs. What Python says of
// a text, this client says too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reportText } from "../src/enumerate.js";
import { InvalidLaw } from "../src/errors.js";
import { Program } from "../src/program.js";
import { proved } from "../src/prove.js";
import { run } from "../src/run.js";
import { SeededCoins } from "../src/seeded.js";
import { file } from "./shared.mjs";

const FUZZ = file("law_fuzz");
const LAWS = file("laws").map(({ law }) => law);

/** The program, or null if it is refused; anything else that is thrown is a fault. */
function accepted(data) {
  try {
    return new Program(data);
  } catch (error) {
    if (!(error instanceof InvalidLaw)) throw error;
    assert.match(error.message, /^[A-Z].{10,300}\.$/s);
    return null;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

test("texts are laws, or are none, as in Python, and run alike", () => {
  const many = { laws: 0, others: 0 };
  for (const { law, runs } of FUZZ) {
    const program = accepted(parsed(law));
    assert.equal(program !== null, runs !== null, law.slice(0, 2000));
    many[program ? "laws" : "others"]++;
    for (const { seed, codes, report } of runs ?? []) {
      const given = codes.map((code) => (Array.isArray(code) ? code.map(BigInt) : BigInt(code)));
      assert.equal(reportText(program, run(program, given, new SeededCoins(seed))), report, law);
    }
  }
  assert.ok(many.laws > 150 && many.others > 250, JSON.stringify(many));
});

// A generator of its own, from a seed, for so many mutants that are run and proved: FUZZ_SEED=7 FUZZ=100000 node --test test/fuzz.test.mjs

const ODD = [
  ...[0, 1, 2, -1, 1.5, 2 ** 53, 1e300, NaN, -Infinity, 10n, "", "1/2", "3/2", "1/0", "-1", "9".repeat(5000), "x"],
  ...[null, undefined, true, {}, [], [1], [[1]], [[[1]]], () => 1, Symbol("x"), new Date(), "__proto__", new Array(3), [,]],
];
ODD.push(Array.from({ length: 70_000 }, () => 1));
const cyclic = [];
cyclic.push(cyclic, [cyclic]);
let deep = [];
for (let i = 0; i < 100_000; i++) deep = [deep];
ODD.push(cyclic, deep);

const TIMES = Number(process.env.FUZZ ?? 10_000);
const SHORT = LAWS.filter((law) => JSON.stringify(law).length < 2000);
const coins = new SeededCoins(process.env.FUZZ_SEED ?? "mutants");
const any = (list) => list[coins.below(list.length)];

function mutated(law) {
  const { nodes, report } = structuredClone(law);
  for (let times = any([1, 1, 1, 2, 3]); times; times--) {
    const node = any(nodes);
    const places = nodes.map((_, place) => place);
    const change = any([
      () => nodes.splice(any(places), 1),
      () => (nodes[any(places)] = any(ODD)),
      () => (node[coins.below(node.length || 1)] = any(ODD)),
      () => (node[1][0] = any([...places, ...ODD])),
      () => node.push(any(ODD)),
      () => node.pop(),
      () => (node[0] = any(any(LAWS).nodes)[0]),
      () => (node[1] = node[1].toReversed()),
      () => (nodes[any(places)] = structuredClone(any(any(LAWS).nodes))),
      () => (report[0] = any([["x", any(places)], any(ODD), [any(ODD), any(ODD)]])),
      () => node[1].push(any(places)),
    ]);
    if (Array.isArray(node) && Array.isArray(node[1]) && Object.isExtensible(node) && node !== cyclic && node !== deep) change();
    if (!nodes.length) break;
  }
  return { nodes, report };
}

test("mutants are refused with a sentence, or run within their bounds", () => {
  let laws = 0;
  for (let i = 0; i < TIMES; i++) {
    const law = mutated(any(LAWS));
    const program = accepted(law);
    if (!program) continue;
    laws++;
    const codes = program.codes.map(({ form: { most, width, distinct } }) =>
      width ? Array.from({ length: width }, (_, at) => (distinct ? most - BigInt(at) : most)) : most,
    );
    const fields = run(program, codes, new SeededCoins(i));
    for (const [name, place] of program.report) {
      const { least, most, row } = program.nodes[place].form;
      const values = row ? [] : [fields[name]].flat();
      assert.ok(values.every((value) => value >= least && value <= most), JSON.stringify(law));
    }
  }
  assert.ok(laws > TIMES / 10, String(laws));
});

test("whatever a mutant is, its proof ends, with odds of at least 1 or with none", () => {
  const many = { bounded: 0, others: 0 };
  for (let i = 0; i < TIMES / 4; i++) {
    const program = accepted(mutated(any(SHORT)));
    const odds = program && proved(program)?.odds;
    assert.ok(!odds || odds.n >= odds.d);
    if (program) many[odds ? "bounded" : "others"]++;
  }
  assert.ok(many.bounded > TIMES / 200 && many.others > 0, JSON.stringify(many));
});

test("whatever is no law is refused", () => {
  const all = [...ODD, { nodes: cyclic, report: cyclic }, { nodes: deep, report: deep }, { nodes: [deep], report: [] }];
  for (const data of all) assert.equal(accepted(data), null);
});

const law = (...nodes) => ({ nodes, report: [["x", nodes.length - 1]] });
const refusal = (data) => {
  try {
    return new Program(data) && "";
  } catch (error) {
    return error.message;
  }
};

test("every refusal says what is wrong", () => {
  const [bit, row, five] = [["toss", [], "1/2"], ["flags", [], "1/2", 9], ["below", [], 5]];
  const said = [
    [law(), /too large/],
    [law(...new Array(20_001).fill(bit)), /too large/],
    [law(["magic", []]), /no operation "magic"/],
    [law(["constructor", []]), /no operation/],
    [law(bit, ["add", [0]]), /The operation \w+ is not given what it takes/],
    [law(bit, ["add", [0, 1]]), /The operation \w+ is not given what it takes/],
    [law(["toss", [], "1/2", "1/2"]), /The operation \w+ is not given what it takes/],
    [law(["toss", [], "3/2"]), /The operation \w+ is not given what it takes/],
    [law(["toss", [], 0.5]), /not a law/],
    [law(["toss", [], 1]), /The operation \w+ is not given what it takes/],
    [law(["split", [], "1/2", 3, 0]), /The operation \w+ is not given what it takes/],
    [law(["const", [], String(2n ** 62n)], ["add", [0, 0]]), /The operation \w+ is not given what it takes/],
    [law(["const", [], String(2n ** 62n)], ["xor", [0, 0]]), /The operation \w+ is not given what it takes/],
    [law(["below", [], 2 ** 53]), /not a law/],
    [law(["below", [], 0]), /The operation \w+ is not given what it takes/],
    [law(row, ["add", [0, 0]]), /The operation \w+ is not given what it takes/],
    [law(row, five, ["get", [0, 1]], ["get", [0, 2]], ["below", [], 10], ["get", [0, 4]]), /The operation \w+ is not given what it takes/],
    [law(five, ["table", [0], [1, 2, 3, 4]]), /The operation \w+ is not given what it takes/],
    [law(five, ["pick_each", [0], [[1, 2], [1, 1]]]), /The operation \w+ is not given what it takes/],
    [law(["pick", [], [0, 0]]), /The operation \w+ is not given what it takes/],
    [law(["flags", [], "1/2", 2 ** 20 + 1]), /The operation \w+ is not given what it takes/],
    [law(["pick", [], new Array(2 ** 16 + 1).fill(1)]), /too large for this device/],
    [law(...new Array(5).fill(["flags", [], "1/2", 2 ** 20])), /too large for this device/],
    [{ nodes: [bit], report: [] }, /not a law/],
    [{ nodes: [bit], report: [["x", 0], ["x", 0]] }, /not a law/],
    [{ nodes: [bit], report: [["x", 1]] }, /not a law/],
    [{ nodes: [bit], report: [["x", "0"]] }, /not a law/],
  ];
  for (const [data, wanted] of said) assert.match(refusal(data), wanted);
});

test("the largest laws are read in a moment", () => {
  const chain = [["const", [], 1], ...Array.from({ length: 19_999 }, (_, i) => ["max", [i, i]])];
  const sums = [["toss", [], "1/2"], ...Array.from({ length: 60 }, (_, i) => ["add", [i, i]])];
  const start = process.cpuUsage();
  assert.equal(refusal(law(...chain)), "");
  assert.equal(refusal(law(...sums)), "");
  assert.match(refusal(law(...sums, ["mul", [60, 60]])), /operation mul is not given/);
  const bits = law(["toss", [], "1/2"], ["pack", new Array(2 ** 20).fill(0), 1]);
  assert.equal(refusal(bits), "");
  assert.ok(process.cpuUsage(start).user < 3e6); // of the processor, whatever else the machine does
});
