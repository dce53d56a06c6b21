// The interpreter runs every law as Python does, to the byte; and its exact law, every draw followed, is the one that a plain
// reading of the program gives.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hex, utf8 } from "../src/bytes.js";
import { chancesOf } from "../src/enumerate.js";
import { Program } from "../src/program.js";
import { run } from "../src/run.js";
import { SeededCoins } from "../src/seeded.js";
import { sha256 } from "../src/sha256.js";
import { exactFile, GivenCoins, word64 } from "./shared.mjs";

const LAWS = exactFile("laws");
const CHANCES = exactFile("law_chances");
const plain = (value) => (value instanceof Uint8Array ? hex(value) : value);

for (const { name, law, cases } of LAWS) {
  test(`law: ${name}`, () => {
    const program = new Program(law);
    for (const { seed, codes, report } of cases) {
      const found = run(program, codes, new SeededCoins(seed));
      assert.deepEqual(Object.fromEntries(Object.entries(found).map(([field, value]) => [field, plain(value)])), report);
    }
  });
}

test("the exact laws of all families", () => {
  assert.deepEqual(
    CHANCES.map(({ name }) => name),
    LAWS.map(({ name }) => name),
  );
  CHANCES.forEach(({ name, cases }, i) => {
    const program = new Program(LAWS[i].law);
    for (const { codes, reports, law, sha256: hash } of cases) {
      const found = [...chancesOf(program, codes, 1_000_000)].map(([report, { n, d }]) => [report, `${n}/${d}`]).sort();
      assert.equal(found.length, reports, name);
      if (law) assert.deepEqual(Object.fromEntries(found), law, name);
      else assert.equal(hex(sha256(utf8(found.map((each) => each.join(" ")).join("\n")))), hash, name);
    }
  });
});

const one = (...nodes) => new Program({ nodes, report: [["x", nodes.length - 1]] });

test("a code is given as a value, or as a function of the draws that it may see", () => {
  const program = one(["public", [], 7], ["code", [0], "x", 0, 6]);
  const [{ x }, public7] = [run(program, [(draw) => 6 - draw], new SeededCoins(1)), new SeededCoins(1).below(7)];
  assert.equal(x, 6 - public7);
});

test("a code that the law is not for is refused, and not shown", () => {
  for (const code of [7, -1, 1.5, "1", null, undefined, NaN, [1], 7n, true]) {
    assert.throws(() => run(one(["code", [], "x", 0, 6]), [code], new SeededCoins(1)), { name: "OutsideDomain", message: /^[^\d]*$/ });
  }
  for (const code of [[1], [1, 2, 3], [1, 7], 1, "12", null, [1, , 2]]) {
    assert.throws(() => run(one(["code", [], "x", 0, 6, 2]), [code], new SeededCoins(1)), { name: "OutsideDomain" });
  }
  assert.deepEqual(run(one(["code", [], "x", 0, 6, 2]), [Int32Array.of(1, 6)], new SeededCoins(1)), { x: [1, 6] });
  assert.throws(() => run(one(["code", [], "x", 0, 6]), [], new SeededCoins(1)), { name: "InvalidParameter" });
});

test("numbers beyond what a float holds stay exact", () => {
  const program = one(["below", [], String(2n ** 62n)]);
  assert.deepEqual(run(program, [], new GivenCoins(word64(2n ** 64n - 1n))), { x: 2n ** 62n - 1n });
  const sum = one(["code", [], "x", 0, String(2n ** 53n)], ["const", [], 1], ["add", [0, 1]]);
  assert.deepEqual(run(sum, [2 ** 53], new GivenCoins()), { x: 2n ** 53n + 1n });
});

