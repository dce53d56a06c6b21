// Laws for the mean of numbers: every report stands for a number whose mean is the truth. `centred` is that number where
// the interval is [-1, 1], and the truth is the number of a point of its grid.

import { allowed, float, HALF, less, minus, ONE, over, plus, ratio, read, times } from "./fraction.js";
import { insist, whole } from "./insist.js";
import { number } from "./layout.js";

function mean({ kind, low, high }, cells, centred, law) {
  insist(kind === "interval");
  const stands = ({ value }) => low + ((high - low) / 2) * (1 + centred(value));
  return { cells, centred, stands, fields: [number("value", cells)], ...law };
}

const honest = (odds) => over(odds, plus(odds, ONE));

/** One of two numbers: the end that the number is rounded to, or the other end. */
export function duchi(spec, domain) {
  const odds = allowed(spec);
  const [p, scale] = [honest(odds), float(over(plus(odds, ONE), minus(odds, ONE)))];
  const randomize = (truth, coins) => ({ value: Number(coins.tossEach(truth, domain.steps) === coins.flip(p)) });
  return mean(domain, 2, (value) => (2 * value - 1) * scale, { odds, randomize });
}

/** Low, middle or high: near the middle a number can say so. */
export function threeOutputs(spec, domain) {
  const odds = allowed(spec);
  const a = read(spec.a);
  insist(!less(over(odds, plus(odds, ratio(2))), a));
  const [p, less0] = [honest(odds), over(a, odds)];
  const scale = float(over(times(odds, plus(odds, ONE)), times(minus(odds, ONE), minus(odds, a))));
  const randomize = (truth, coins) => {
    const distance = 2 * truth - domain.steps;
    const end = Number(coins.tossEach(Math.abs(distance), domain.steps)); // the nearer end, or the middle
    const zeros = [coins.flip(a), coins.flip(less0)];
    const sides = [coins.flip(HALF), coins.flip(p)];
    return { value: zeros[end] ? 1 : 2 * (sides[end] === distance >= 0) };
  };
  return mean(domain, 3, (value) => (value - 1) * scale, { odds, randomize });
}

/** A place on a line; each in the window of the true number is `odds` times as likely as each outside. */
export function piecewise(spec, domain) {
  const odds = allowed(spec);
  const [window, stride] = [whole(spec.window, 1, 2 ** 20), whole(spec.stride, 1, 2 ** 20)];
  const way = stride * domain.steps;
  const places = whole(way + window, 1, 2 ** 20);
  const weight = times(odds, ratio(window));
  const all = plus(weight, ratio(way));
  const inside = over(weight, all);
  const step = float(over(times(ratio(2, domain.steps), all), times(ratio(stride * window), minus(odds, ONE))));
  const randomize = (truth, coins) => ({ value: (stride * truth + coins.split(inside, window, way)) % places });
  return mean(domain, places, (value) => step * (value - (places - 1) / 2), { odds, randomize });
}

/** The piecewise mechanism with probability alpha, else Duchi's, whose two reports come last. */
export function hybrid(spec, domain) {
  const alpha = read(spec.alpha);
  const [first, second] = [piecewise(spec, domain), duchi(spec, domain)];
  const { odds, cells } = first;
  const randomize = (truth, coins) => {
    const chosen = coins.flip(alpha);
    const [place, end] = [first.randomize(truth, coins).value, second.randomize(truth, coins).value];
    return { value: chosen ? place : cells + end };
  };
  const centred = (value) => (value < cells ? first.centred(value) : second.centred(value - cells));
  return mean(domain, cells + 2, centred, { odds, randomize });
}
