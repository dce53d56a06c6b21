// All that a draw may be, each with its exact chance.

import { HALF, ONE, product, rest } from "./fraction.js";
import { listed, trueAt } from "./lists.js";

const either = (heads, yes = 1n, no = 0n) => [
  [yes, heads],
  [no, rest(heads)],
];
const weighed = (weights) => {
  const d = weights.reduce((a, b) => a + b);
  return weights.map((n, place) => [BigInt(place), { n, d }]);
};
const evenly = (values) => values.map((value) => [value, { n: 1n, d: BigInt(values.length) }]);
const below = (n) => evenly(listed(Number(n), BigInt));
const scaled = (found, by, from = 0n) => found.map(([value, own]) => [value + from, product(by, own)]);

/** Rows of so many bits, each set with this chance. */
const rows = (width, heads) =>
  listed(Number(width), () => either(heads, true, false)).reduce(
    (all, bit) => all.flatMap(([row, chance]) => bit.map(([value, own]) => [[...row, value], product(chance, own)])),
    [[[], ONE]],
  );
const arranged = (width, good) => evenly(rows(width, HALF).flatMap(([row]) => (good(trueAt(row).length) ? [row] : [])));

const OUTCOMES = {
  toss: (_, [heads]) => either(heads),
  below: (_, [n]) => below(n),
  split: (_, [heads, first, second]) => [...scaled(below(first), heads), ...scaled(below(second), rest(heads), first)],
  pick: (_, [weights]) => weighed(weights),
  pick_each: ([row], [table]) => weighed(table[row]),
  toss_each: ([heads], [whole]) => either({ n: heads, d: whole }),
  flags: (_, [heads, width]) => rows(width, heads),
  subset: ([less], [n, k]) => arranged(n, (ones) => BigInt(ones) === k - less),
  majority: (_, [n]) => arranged(n, (ones) => 2 * ones > n),
};

/** What a draw may be where its arguments are given: [value, chance] of each. */
export const outcomes = (node, given) => OUTCOMES[node.op](given, node.params);
