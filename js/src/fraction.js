// Exact fractions, and exact odds from an epsilon and back. Floats never decide a coin.

import { InvalidParameter } from "./errors.js";
import { insist } from "./insist.js";

export const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
};

const LONG = 1n << 32768n;

/** In lowest terms, where that does not take long. */
export function ratio(n, d = 1) {
  n = BigInt(n);
  d = BigInt(d);
  const common = (n < LONG && gcd(n, d)) || 1n;
  return { n: n / common, d: d / common };
}

/** The fraction that Python wrote as "3/4" or "3". */
export function read(text) {
  insist(/^\d+(\/[1-9]\d*)?$/.test(text));
  return ratio(...text.split("/"));
}

export const written = ({ n, d }) => (d > 1n ? `${n}/${d}` : `${n}`);
export const ONE = ratio(1);
export const HALF = ratio(1, 2);
export const ZERO = ratio(0);
export const sum = (a, b) => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const reduced = (a) => ratio(a.n, a.d);
export const plus = (a, b) => reduced(sum(a, b));
export const times = (a, b) => reduced(product(a, b));
export const product = (a, b) => ({ n: a.n * b.n, d: a.d * b.d }); // not reduced, which would take long
export const over = (a, b) => times(a, { n: b.d, d: b.n });
export const less = (a, b) => a.n * b.d < b.n * a.d;
export const equal = (a, b) => a.n * b.d === b.n * a.d;
export const rest = ({ n, d }) => ratio(d - n, d); // of one
export const largest = (all) => all.reduce((a, b) => (less(a, b) ? b : a));
export const smallest = (all) => all.reduce((a, b) => (less(b, a) ? b : a));
/** The largest over the smallest of these chances; null if one is zero and another is not. */
export const spread = (all) => (largest(all).n ? (smallest(all).n ? over(largest(all), smallest(all)) : null) : ONE);

/** Near enough for estimates, never for coins. */
export const float = (a) => Number((a.n << 300n) / a.d) / 2 ** 300;

/** A float as the fraction that it is. */
function exactly(number) {
  let d = 1n;
  for (; !Number.isInteger(number); number *= 2) d *= 2n;
  return ratio(number, d);
}

const PRECISION = 768n;
const UNIT = 1n << PRECISION;
const MARGIN = 1n << 512n; // far above what is lost here, far below what matters

/** e^x in units of 2^-768: halved until it is small, a Taylor series, then squared again. */
function exp({ n, d }) {
  const small = (n << (PRECISION - 16n)) / d;
  let term = UNIT;
  let sum = term;
  for (let k = 1n; term; k++) sum += term = ((term * small) >> PRECISION) / k;
  for (let k = 0; k < 16; k++) sum = (sum * sum) >> PRECISION;
  return sum;
}

/** Whether odds are at most e^epsilon, which comes from anybody: a number, and not so large that this takes long. */
export const within = (odds, epsilon) =>
  epsilon >= 0 && epsilon < 1e3 && typeof epsilon === "number" && (equal(odds, ONE) || odds.n * UNIT <= (exp(exactly(epsilon)) - MARGIN) * odds.d);

const known = new Map();

/** The simplest fraction at most e^epsilon that loses no more than 1e-15 of epsilon: the same as in Python. */
export function oddsBelow(epsilon) {
  if (!(Number.isFinite(epsilon) && epsilon >= 1e-6 && epsilon <= 100))
    throw new InvalidParameter("Epsilon must be a number from 0.000001 to 100.");
  if (!known.has(epsilon)) {
    const exact = exactly(epsilon);
    const low = exp(times(exact, ratio(10n ** 15n - 1n, 10n ** 15n))) + MARGIN;
    known.set(epsilon, ratio(...simplest(low, UNIT, exp(exact) - MARGIN, UNIT)));
  }
  return known.get(epsilon);
}

/** The fraction with the smallest denominator from a / b to c / d, as [n, d]. */
export function simplest(a, b, c, d) {
  const whole = (a + b - 1n) / b;
  if (whole * d <= c) return [whole, 1n];
  const floor = whole - 1n;
  const [n, m] = simplest(d, c - floor * d, b, a - floor * b);
  return [floor * n + m, n];
}

/** A float that is at least ln(odds), by no more than a few units in its last place. */
export function logUp(odds) {
  let near = Math.log1p(float({ n: odds.n - odds.d, d: odds.d }));
  for (let step = 2 ** -52; !within(odds, near); step *= 2) near += near * step || 2 ** -250;
  return near;
}
