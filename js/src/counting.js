// What a collector does with reports: count votes, and correct the counts for the noise.

import { EmptyBatch, InvalidParameter, InvalidReport } from "./errors.js";
import { float } from "./fraction.js";
import { listed, sum } from "./lists.js";

/** How many cells reports vote for; 0 where this client does not estimate. */
export const cellsOf = ({ q, size, centred, cells, hiding, base }) =>
  q ? size : centred ? cells : base?.q ? base.size + hiding.others.length : 0;

export function tally(mechanism, reports) {
  const cells = cellsOf(mechanism);
  if (!cells) throw new InvalidParameter("This client counts only categories and numbers.");
  if (!reports.length) throw new EmptyBatch("This batch has no reports.");
  const counts = new Array(cells).fill(0);
  const { hiding, base } = mechanism;
  for (const report of reports) {
    mechanism.check(report);
    const open = mechanism.disclosed?.(report) ?? null;
    if (open !== null) counts[base.size + hiding.others.indexOf(open)]++;
    else for (const cell of mechanism.centred ? [report.value] : (base ?? mechanism).supports(report)) counts[cell]++;
  }
  return { n: reports.length, counts };
}

/** Unbiased, with the variance of its noise. */
export function estimate(mechanism, { n, counts }) {
  const cells = cellsOf(mechanism);
  if (!(n > 0) || counts.length !== cells || counts.some((count) => !(count >= 0 && count <= n))) {
    throw new InvalidReport(`A tally has ${cells} counts, from 0 to the number of reports.`);
  }
  const [values, noise] = (mechanism.centred ? means : mechanism.hiding ? openShares : shares)(mechanism, counts, n);
  return { labels: mechanism.centred ? ["mean"] : mechanism.labels, values, variance: noise.map((each) => each / n), n };
}

/** Each share from its own count, of `reports` out of n, from `people` out of all: (C_x / n - q) / (p - q). */
function shares(mechanism, counts, n, reports = n, less = 0, people = 1) {
  const [p, q] = [float(mechanism.p), float(mechanism.q)];
  const values = counts.map((count) => (count - q * reports) / (p - q) / n - less);
  return [values, values.map((share) => (q * (1 - q) * people + share * (p - q) * (1 - p - q)) / (p - q) ** 2)];
}

function means({ stands }, counts, n) {
  const average = (of) => sum(counts, (count, value) => (count ? count * of(stands({ value })) : 0)) / n;
  const mean = average((x) => x);
  return [[mean], [(average((x) => (x - mean) ** 2) * n) / Math.max(n - 1, 1)]];
}

/** Each protected report counts as what the base makes of it; what open answers add to that is taken off again. */
function openShares({ base, hiding: { odds, sent, idle, idleOdds, secret, others } }, counts, n) {
  const [p, q] = [float(base.p), float(base.q)];
  const hidden = float(sent) * (1 - idle * (1 - 1 / float(idleOdds)));
  const support = p / float(odds); // of a sensitive answer by the report on an open one
  const mean = (support - q * hidden) / (p - q);
  const squares = (support - 2 * q * support + q * q * hidden) / (p - q) ** 2;
  const open = counts.slice(base.size).map((count) => count / (n * (1 - hidden)));
  const total = sum(open);
  const [own, noise] = shares(
    base,
    counts.slice(0, base.size),
    n,
    n - sum(counts.slice(base.size)),
    mean * total,
    1 - total,
  );
  const all = [
    ...own.map((share, i) => [share, noise[i] + total * (squares + mean ** 2 / (1 - hidden))]),
    ...open.map((share) => [share, (share * hidden) / (1 - hidden)]),
  ];
  const order = listed(secret.length, (place) => all[secret[place] < 0 ? base.size + others.indexOf(place) : secret[place]]);
  return [order.map(([share]) => share), order.map(([, each]) => each)];
}
