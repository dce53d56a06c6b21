// Laws for the mean of vectors: a few coordinates, each as a number, or one sign for each.

import { InvalidReport } from "./errors.js";
import { allowed, ONE, over, plus, ratio, read, rest, spread, times } from "./fraction.js";
import { insist, whole } from "./insist.js";
import { flags, number } from "./layout.js";
import { bitsOf, listed, numberOf } from "./lists.js";
import { duchi, hybrid, piecewise, threeOutputs } from "./numbers.js";

const SCALARS = { "duchi-1": duchi, "three-outputs-1": threeOutputs, "piecewise-1": piecewise, "hybrid-1": hybrid };

/** k of the d coordinates, evenly spread from a public start, each by a law for one number with epsilon / k. */
export function featureVector(spec, { dimensions: d, coordinate }) {
  const k = whole(spec.coordinates, 1, d);
  insist(Object.hasOwn(SCALARS, spec.scalar));
  const part = SCALARS[spec.scalar]({ ...spec.part, epsilon: spec.epsilon / k }, { ...coordinate, kind: "interval" });
  const each = part.fields[0].bits;
  const at = (start, place) => (start + Math.floor((place * d) / k)) % d;
  /** Each reported coordinate and what its report stands for. */
  const stands = ({ start = 0, values }) =>
    listed(k, (place) => {
      const value = numberOf(values.slice(place * each, (place + 1) * each));
      if (value >= part.cells) throw new InvalidReport("A report holds a number that this mechanism does not send.");
      return [at(start, place), part.stands({ value })];
    });
  return {
    odds: listed(k, () => part.odds).reduce(times),
    fields: [...(k < d ? [number("start", d)] : []), flags("values", k * each)],
    randomize: (truth, coins) => {
      const start = k < d ? coins.below(d) : 0;
      const values = listed(k, (place) => bitsOf(part.randomize(truth[at(start, place)], coins).value, each)).flat();
      return k < d ? { start, values } : { values };
    },
    stands,
    check: stands,
  };
}

/** One sign for each coordinate, chosen together: more of them agree with the rounded vector than not. */
export function duchiVector(spec, { dimensions: d, coordinate }) {
  const odds = allowed(spec);
  const tie = read(spec.tie);
  insist(tie.n > 0n);
  let ties = d % 2 ? 0n : 1n; // d over d / 2
  for (let i = 1; ties && i <= d / 2; i++) ties = (ties * BigInt(d / 2 + i)) / BigInt(i);
  const more = times(odds, ratio(((1n << BigInt(d)) - ties) / 2n));
  const even = times(tie, ratio(ties));
  const all = plus(plus(more, over(more, odds)), even);
  const tied = over(even, all);
  const ahead = over(over(more, all), rest(tied));
  return {
    odds: spread(ties ? [odds, ONE, tie] : [odds, ONE]),
    fields: [flags("signs", d)],
    randomize: (truth, coins) => {
      const ends = truth.map((place) => coins.tossEach(place, coordinate.steps));
      const drawn = coins.majority(d);
      const kept = coins.flip(ahead);
      const balanced = ties ? coins.subset(d, d / 2) : [];
      const agree = ties && coins.flip(tied) ? balanced : drawn.map((bit) => bit === kept);
      return { signs: ends.map((end, i) => end === agree[i]) };
    },
  };
}
