// What a collector does with reports of categories and numbers: count votes, and correct the counts for the noise. Pages that
// only answer do not load it.

import { float, HALF, ONE, over, plus, ratio, read, rest, times } from "./fraction.js";
import { EmptyBatch, InvalidParameter, InvalidReport } from "./errors.js";
import { listed, sum } from "./lists.js";
import { check, readerOf, supports } from "./reports.js";

const honest = (odds) => over(odds, plus(odds, ONE));

/** The probabilities that a set of `size` out of `values` holds the true value, and a given other one; a blank report, behind
 *  which open answers hide, supports a given one with `blank`. */
function sets(values, size, odds) {
  const weight = times(odds, ratio(size));
  const p = over(weight, plus(weight, ratio(values - size)));
  const q = over(plus(times(p, ratio(size - 1)), times(rest(p), ratio(size))), ratio(values - 1));
  return { p, q, blank: ratio(size, values) };
}

function hashing({ odds, prime, buckets }) {
  const other = over(ONE, plus(read(odds), ratio(buckets - 1)));
  const p = times(read(odds), other);
  // how many ordered pairs of different residues share a bucket, out of P (P - 1)
  const pairs = times(ratio(Math.floor(prime / buckets)), ratio(prime + (prime % buckets) - buckets));
  const shared = over(pairs, times(ratio(prime), ratio(prime - 1)));
  return { p, q: plus(times(shared, p), times(rest(shared), other)), blank: ratio(1, buckets) };
}

/** By wire name: how likely a report supports the true value, another one, and a given one if it is blank. */
const SHARES = {
  "certain-1": () => ({ p: ONE, q: ratio(0), blank: ONE }),
  "direct-1": ({ odds }, size) => sets(size, 1, read(odds)),
  "unary-1": ({ p, q }) => ({ p: read(p), q: read(q), blank: read(q) }),
  "subset-1": ({ odds, size: k }, size) => sets(size, k, read(odds)),
  "hadamard-1": ({ odds }) => ({ p: honest(read(odds)), q: HALF, blank: HALF }),
  "hashing-1": hashing,
  "wheel-1": ({ odds, prime, arc }) => sets(prime, arc, read(odds)),
  "design-1": ({ odds, design: { v, k } }) => sets(v, k, read(odds)),
  "weighted-design-1": ({ odds, blocks }, size) => sets(size, blocks[0].length, read(odds)),
  "memoized-1": ({ base, stay, rise }, size) => {
    const own = SHARES[base.mechanism](base, size);
    const [up, down] = [read(stay), read(rise)];
    const twice = (chance) => plus(times(chance, up), times(rest(chance), down));
    return { p: twice(own.p), q: twice(own.q) };
  },
};

/** How often a blank report supports nothing at all, near enough for estimates. */
const IDLE = {
  "unary-1": ({ q }, size) => (size <= 4096 ? (1 - float(read(q))) ** size : 0),
  "hadamard-1": (_, size) => [0, 1 / 2, 1 / 4][size] ?? 0, // rows 1, 2 and 3 = 1 ^ 2 are never all odd
  "design-1": ({ design: { v } }, _, mechanism) =>
    v > 65536 ? 0 : sum(listed(v, (point) => (supports(mechanism, { point }).length ? 0 : 1))) / v,
};

const known = (spec) => Object.hasOwn(SHARES, spec.mechanism) && (!spec.base || known(spec.base));

/** The answer that each cell is for: of open answers after those of the sensitive ones. */
function cellsOf(mechanism) {
  const { spec, size, labels, sensitive, fields } = mechanism;
  const reader = readerOf(mechanism);
  if (reader.numbers && !reader.coordinates) return listed(fields[0].below, Number);
  if (!reader.ends.length || !known(spec.mechanism === "utility-1" ? spec.base : spec)) return [];
  const isOpen = (place) => Boolean(sensitive && !sensitive.includes(labels[place]));
  return [false, true].flatMap((open) => listed(size, Number).filter((place) => isOpen(place) === open));
}

export const estimates = (mechanism) => cellsOf(mechanism).length > 0;

/** The same cells; refused where this client counts no such reports. */
function countable(mechanism) {
  const cells = cellsOf(mechanism);
  if (cells.length) return cells;
  const advice = "It counts categories and numbers. Use the Python package: deniable estimate.";
  throw new InvalidParameter(`This client does not count reports of ${mechanism.wire}. ${advice}`);
}

export function tally(mechanism, reports) {
  const cells = countable(mechanism);
  if (!reports.length) throw new EmptyBatch("This batch has no reports.");
  const votes = new Map(cells.map((place) => [place, 0]));
  for (const report of reports) {
    check(mechanism, report);
    for (const place of supports(mechanism, report) ?? [report.value]) votes.set(place, votes.get(place) + 1);
  }
  return { n: reports.length, counts: [...votes.values()] };
}

/** Unbiased, with the variance of its noise. */
export function estimate(mechanism, { n, counts }) {
  const cells = countable(mechanism);
  if (!(n > 0) || counts.length !== cells.length || counts.some((count) => !(count >= 0 && count <= n))) {
    throw new InvalidReport(`A tally has ${cells.length} counts, from 0 to the number of reports.`);
  }
  const { spec, size, labels, sensitive } = mechanism;
  const reader = readerOf(mechanism);
  const [values, noise] = reader.numbers
    ? means(reader, counts, n)
    : sensitive
      ? openShares(mechanism, cells, counts, n)
      : shares(SHARES[spec.mechanism](spec, size), counts, n);
  return { labels: reader.numbers ? ["mean"] : labels, values, variance: noise.map((each) => each / n), n };
}

/** Each share from its own count, of `reports` out of n, from `people` out of all: (C_x / n - q) / (p - q). */
function shares(chances, counts, n, reports = n, less = 0, people = 1) {
  const [p, q] = [float(chances.p), float(chances.q)];
  const values = counts.map((count) => (count - q * reports) / (p - q) / n - less);
  return [values, values.map((share) => (q * (1 - q) * people + share * (p - q) * (1 - p - q)) / (p - q) ** 2)];
}

function means(reader, counts, n) {
  const average = (of) => sum(counts, (count, value) => (count ? count * of(reader.number(value)) : 0)) / n;
  const mean = average((x) => x);
  return [[mean], [(average((x) => (x - mean) ** 2) * n) / Math.max(n - 1, 1)]];
}

/** Each protected report counts as what the base makes of it; what open answers add to that is taken off again. */
function openShares(mechanism, cells, counts, n) {
  const { spec, sensitive } = mechanism;
  const size = sensitive.length;
  const own = SHARES[spec.base.mechanism](spec.base, size);
  const [p, q, odds, blank] = [own.p, own.q, read(spec.odds), own.blank].map(float);
  const idle = spec.flat ? 0 : (IDLE[spec.base.mechanism]?.(spec.base, size, mechanism) ?? 0);
  const idleOdds = p === 1 ? odds : (p * (1 - blank)) / (blank * (1 - p));
  const hidden = (p / (odds * blank)) * (1 - idle * (1 - 1 / idleOdds));
  const support = p / odds; // of a sensitive answer by the report on an open one
  const mean = (support - q * hidden) / (p - q);
  const squares = (support - 2 * q * support + q * q * hidden) / (p - q) ** 2;
  const open = counts.slice(size).map((count) => count / (n * (1 - hidden)));
  const total = sum(open);
  const hiddenReports = n - sum(counts.slice(size));
  const [values, noise] = shares(own, counts.slice(0, size), n, hiddenReports, mean * total, 1 - total);
  const found = [
    ...values.map((share, i) => [share, noise[i] + total * (squares + mean ** 2 / (1 - hidden))]),
    ...open.map((share) => [share, (share * hidden) / (1 - hidden)]),
  ];
  const order = listed(cells.length, (place) => found[cells.indexOf(place)]);
  return [order.map(([share]) => share), order.map(([, each]) => each)];
}

export { oddsBelow } from "./fraction.js";
