// Strings are normalised, coded and hashed as in Python: the same file is checked there.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { domainFrom } from "../src/domains.js";
import { OutsideDomain } from "../src/errors.js";
import "../src/strings.js";

const known = JSON.parse(readFileSync(new URL("strings.json", import.meta.url), "utf8"));

test("strings have the cells that Python gives them", () => {
  for (const { form, prefixes, cells, strings } of known) {
    const domain = domainFrom({ kind: "strings", form, length: 64, prefixes, cells, normal: ["nfc", "case", "spaces"], at_most: 1 });
    for (const { string, normalised, cells: expected } of strings) {
      assert.equal(domain.normalised(string).text, normalised);
      assert.deepEqual(domain.codes(string).cells, expected);
    }
  }
});

test("of several strings the one that is drawn is coded", () => {
  const { form, prefixes, cells, strings } = known[0];
  const domain = domainFrom({ kind: "strings", form, prefixes, cells, at_most: 3 });
  const own = domain.codes(strings.slice(0, 3).map(({ string }) => string)).cells;
  assert.deepEqual(own(4), strings[1].cells);
  // A law may give anything: nobody falls silent, however many strings they list.
  for (const drawn of [undefined, 0n, -1n, -4n, 2n ** 62n, -(2n ** 62n)]) assert.equal(own(drawn).length, prefixes.length + 1);
});

test("what is no string is refused without being repeated", () => {
  const domain = domainFrom({ kind: "strings", form: "text", prefixes: [16], cells: 9 });
  for (const wrong of ["", "   ", "s".repeat(65), 3, null, ["a", "b"], "a\0b", "\ud800"]) {
    assert.throws(() => domain.codes(wrong), (error) => error instanceof OutsideDomain && !error.message.includes("ssss"));
  }
});

test("a string that is not listed is another", () => {
  const domain = domainFrom({ kind: "listed-strings", names: ["new york", "lyon"] });
  assert.deepEqual(["New  York", "LYON", "Paris"].map((each) => domain.codes(each).answer), [0, 1, 2]);
  assert.throws(() => domain.codes(["lyon", "paris"]), OutsideDomain);
  assert.equal(domain.atMost, undefined); // else a page would take the answer for a list of items
});

test("the prefixes of known strings share one more cell", () => {
  const { form, prefixes, cells, strings } = known[0];
  const [one, other] = strings;
  const domain = domainFrom({ kind: "sifted-strings", form, prefixes, cells, known: [one.normalised] });
  assert.deepEqual(domain.codes(one.string).cells, [...prefixes.map(() => cells), one.cells.at(-1)]);
  assert.deepEqual(domain.codes(other.string).cells, other.cells);
  assert.throws(() => domainFrom({ kind: "sifted-strings", form, prefixes, cells, known: ["a", "a"] }));
});
