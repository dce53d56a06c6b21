// Laws for choices whose reports are a number or a row of bits. A report supports the true value with probability p, each
// other one with q; a blank report, behind which open answers hide, supports a given one with `blankSupport`.

import { allowed, HALF, less, ONE, over, plus, ratio, read, rest, times } from "./fraction.js";
import { insist, whole } from "./insist.js";
import { flags, number } from "./layout.js";
import { listed, trueAt } from "./lists.js";

const supports = ({ cells }) => trueAt(cells);

/** The probabilities that a set of `size` out of `values` holds the true value, and a given other one. */
export function chances(values, size, odds) {
  const weight = times(odds, ratio(size));
  const p = over(weight, plus(weight, ratio(values - size)));
  return { p, q: over(plus(times(p, ratio(size - 1)), times(rest(p), ratio(size))), ratio(values - 1)) };
}

/** The only report of a question with one sensitive answer. */
export const certain = () => ({
  odds: ONE,
  p: ONE,
  q: ratio(0),
  blankSupport: ONE,
  fields: [number("value", 1)],
  randomize: () => ({ value: 0 }),
  blank: () => ({ value: 0 }),
  supports: () => [0],
});

/** Tell the truth with probability p, otherwise any other value. */
export function direct(spec, { size }) {
  const odds = allowed(spec);
  const { p, q } = chances(size, 1, odds);
  return {
    odds,
    p,
    q,
    blankSupport: ratio(1, size),
    fields: [number("value", size)],
    randomize: (truth, coins) => ({ value: (truth + coins.split(p, 1, size - 1)) % size }),
    blank: (coins) => ({ value: coins.below(size) }),
    supports: ({ value }) => [value],
  };
}

/** One bit for each value, each randomized on its own. */
export function unary(spec, { size }) {
  const [p, q] = [read(spec.p), read(spec.q)];
  insist(q.n > 0n && less(q, p) && less(p, ONE));
  const blank = (coins) => ({ cells: coins.toss(q, size) });
  return {
    odds: over(times(p, rest(q)), times(q, rest(p))),
    p,
    q,
    blankSupport: q,
    // how often a blank report supports nothing at all, near enough for estimates
    idle: () => (size <= 4096 ? (1 - Number(q.n) / Number(q.d)) ** size : 0),
    fields: [flags("cells", size)],
    randomize: (truth, coins) => {
      const report = blank(coins);
      report.cells[truth] = coins.flip(p);
      return report;
    },
    blank,
    supports,
  };
}

/** A set of k values that contains the true one more often than not. */
export function subset(spec, { size }) {
  const odds = allowed(spec);
  const k = whole(spec.size, 1, size - 1);
  const { p, q } = chances(size, k, odds);
  return {
    odds,
    p,
    q,
    blankSupport: ratio(k, size),
    fields: [flags("cells", size, k)],
    randomize: (truth, coins) => {
      const honest = coins.flip(p);
      const cells = coins.subset(size - 1, k, honest);
      // Among the others the last value stands in for the truth, whose own bit says whether we were honest.
      cells.push(cells[truth] ?? false);
      cells[truth] = honest;
      return { cells };
    },
    blank: (coins) => ({ cells: coins.subset(size, k) }),
    supports,
  };
}

const odd = (bits) => {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) === 1;
};

/** A column of Sylvester's matrix, more often one in which the true row has +1. */
export function hadamard(spec, { size }) {
  const odds = allowed(spec);
  const order = 2 ** size.toString(2).length;
  const p = over(odds, plus(odds, ONE));
  const blank = (coins) => ({ column: coins.below(order) });
  return {
    odds,
    p,
    q: HALF,
    blankSupport: HALF,
    idle: () => [0, 1 / 2, 1 / 4][size] ?? 0, // rows 1, 2 and 3 = 1 ^ 2 are never all odd
    fields: [number("column", order)],
    randomize: (truth, coins) => {
      const row = truth + 1;
      const { column } = blank(coins);
      const wanted = coins.flip(p);
      return { column: odd(row & column) === wanted ? (column ^ (row & -row)) >>> 0 : column };
    },
    blank,
    supports: ({ column }) => trueAt(listed(size, (cell) => !odd((cell + 1) & column))),
  };
}
