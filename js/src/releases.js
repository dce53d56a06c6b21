// Laws that release an answer near the truth, for answers on a line.

import { allowed, ONE, over, plus, ratio, times } from "./fraction.js";
import { insist, whole } from "./insist.js";
import { number } from "./layout.js";

/** A release is itself an answer; on an interval, of the nearest point. */
const release = (domain, outputs = (value) => value) => ({
  place: domain.nearest ?? domain.place,
  codes: domain.nearestCodes ?? domain.codes,
  supports: ({ value }) => [outputs(value)],
});

/** Answers on a line. Of two equally near the lower one is taken first. */
function lineOf({ line, labels, nearest, table: byRank, power = 1 }) {
  const x = nearest ? labels : line;
  insist(x); // the nearest places on a globe are a matter of rounding
  const [first, last, size] = [x[0], x.at(-1), x.length];
  const step = (last - first) / (size - 1);
  const even = x.every((value, i) => Math.abs((i + 1 === size ? last : i * step + first) - value) <= 1e-12 * (last - first));

  const loss = (a, b) => byRank?.[Math.abs(a - b)] ?? (even ? Math.abs(a - b) * step : Math.abs(x[a] - x[b])) ** power;

  /** Where the `count` nearest answers of the truth begin. */
  const window = (truth, count) => {
    if (even) return Math.min(Math.max(truth - (count >> 1), 0), size - count);
    let start = 0;
    while (start < size - count && x[start] + x[start + count] < 2 * x[truth]) start++;
    return start;
  };

  /** The answer at this place of the order around the truth: the near ones first, both in order. */
  const member = (truth, place, near) => {
    const begin = window(truth, near);
    if (place < near) return begin + place;
    return place - near < begin ? place - near : place;
  };
  return { loss, member };
}

/** One of the `near` nearest answers with probability p, else one of the others. */
export function bipartite(spec, domain) {
  const odds = allowed(spec);
  const { size } = domain;
  const near = whole(spec.near, 1, size - 1);
  const { member } = lineOf(domain);
  const weight = times(odds, ratio(near));
  const p = over(weight, plus(weight, ratio(size - near)));
  return {
    odds,
    ...release(domain),
    fields: [number("value", size)],
    randomize: (truth, coins) => ({ value: member(truth, coins.split(p, near, size - near), near) }),
  };
}

/** Direct response among a few representatives: the nearest one, or any other. */
export function coarsened(spec, domain) {
  const odds = allowed(spec);
  const chosen = spec.representatives;
  const cells = whole(chosen.length, 1, domain.size);
  chosen.forEach((y, i) => whole(y, i ? chosen[i - 1] + 1 : 0, domain.size - 1));
  const { loss } = lineOf(domain);
  const p = over(odds, plus(odds, ratio(cells - 1)));
  const nearest = (truth) => chosen.reduce((best, y, i) => (loss(truth, y) < loss(truth, chosen[best]) ? i : best), 0);
  return {
    odds: cells > 1 ? odds : ONE,
    ...release(domain, (value) => chosen[value]),
    fields: [number("value", Math.max(cells, 2))],
    randomize: (truth, coins) => ({ value: cells > 1 ? (nearest(truth) + coins.split(p, 1, cells - 1)) % cells : 0 }),
  };
}
