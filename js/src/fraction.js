// Exact fractions, and exact odds from an epsilon and back. Floats never decide a coin.

import { InvalidParameter } from "./errors.js";

const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
};

export function ratio(n, d = 1n) {
  n = BigInt(n);
  d = BigInt(d);
  const common = gcd(n, d) || 1n;
  return d < 0n ? { n: -n / common, d: -d / common } : { n: n / common, d: d / common };
}

/** The fraction that Python wrote as "3/4" or "3". */
export function read(text) {
  if (typeof text !== "string" || !/^\d+(\/[1-9]\d*)?$/.test(text)) {
    throw new InvalidParameter("An exact number is written as a fraction, such as 3/4.");
  }
  return ratio(...text.split("/"));
}

export const written = (a) => (a.d === 1n ? `${a.n}` : `${a.n}/${a.d}`);
export const ONE = ratio(1);
export const HALF = ratio(1, 2);
export const plus = (a, b) => ratio(a.n * b.d + b.n * a.d, a.d * b.d);
export const minus = (a, b) => ratio(a.n * b.d - b.n * a.d, a.d * b.d);
export const times = (a, b) => ratio(a.n * b.n, a.d * b.d);
export const over = (a, b) => ratio(a.n * b.d, a.d * b.n);
export const below = (a, b) => a.n * b.d < b.n * a.d;
export const equal = (a, b) => a.n === b.n && a.d === b.d;
export const largest = (...all) => all.reduce((a, b) => (below(a, b) ? b : a));
export const power = (a, exponent) => ({ n: a.n ** BigInt(exponent), d: a.d ** BigInt(exponent) });

/** Near enough for estimates, never for coins. */
export function float(a) {
  const shift = BigInt(Math.max(0, bits(a.d) - 1000, bits(a.n) - 1000));
  return Number(a.n >> shift) / Number(a.d >> shift);
}

const bits = (n) => n.toString(16).length * 4;

/** A float as the fraction that it is. */
export function exactly(number) {
  let d = 1n;
  for (; !Number.isInteger(number); number *= 2) d *= 2n;
  return ratio(BigInt(number), d);
}

const PRECISION = 512n;
const MARGIN = 1n << (PRECISION - 256n); // far above what is lost here, far below what matters

/** e^x in units of 2^-512: halved until it is small, a Taylor series, then squared again. */
function exp(x) {
  const halvings = 16n;
  const unit = 1n << (PRECISION + 256n);
  const small = (x.n * unit) / x.d >> halvings;
  let term = unit;
  let sum = unit;
  for (let k = 1n; term; k++) {
    term = (term * small) / (unit * k);
    sum += term;
  }
  for (let k = 0n; k < halvings; k++) sum = (sum * sum) / unit;
  return sum >> 256n;
}

/** Whether odds are at most e^epsilon. */
export const within = (odds, epsilon) => odds.n << PRECISION <= (exp(exactly(epsilon)) - MARGIN) * odds.d || equal(odds, ONE);

export function checkedEpsilon(epsilon) {
  if (typeof epsilon !== "number" || !(epsilon >= 1e-6 && epsilon <= 100)) {
    throw new InvalidParameter("Epsilon must be a number from 0.000001 to 100; this one is not.");
  }
  return epsilon;
}

const known = new Map();

/** The simplest fraction at most e^epsilon that loses no more than 1e-15 of epsilon: the same as in Python. */
export function oddsBelow(epsilon) {
  if (!known.has(epsilon)) {
    const exact = exactly(checkedEpsilon(epsilon));
    const low = exp(times(exact, ratio(10n ** 15n - 1n, 10n ** 15n))) + MARGIN;
    known.set(epsilon, simplest(ratio(low, 1n << PRECISION), ratio(exp(exact) - MARGIN, 1n << PRECISION)));
  }
  return known.get(epsilon);
}

function simplest(low, high) {
  const whole = -(-low.n / low.d) + (low.n % low.d ? 1n : 0n);
  if (whole * high.d <= high.n) return ratio(whole);
  const floor = ratio(whole - 1n);
  return plus(floor, over(ONE, simplest(over(ONE, minus(high, floor)), over(ONE, minus(low, floor)))));
}

/** The smallest float that is at least ln(odds). */
export function logUp(odds) {
  if (equal(odds, ONE)) return 0;
  const more = BigInt(Math.max(0, bits(odds.n) - bits(odds.d) - 8)); // odds may be too large for a float
  const near = Math.log(float(ratio(odds.n, odds.d << more))) + Number(more) * Math.LN2;
  let float64 = near * (1 - 2 ** -48);
  while (within(odds, float64)) float64 *= 1 - 2 ** -48;
  while (!within(odds, float64)) float64 = next(float64);
  return float64;
}

function next(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  view.setBigInt64(0, view.getBigInt64(0) + 1n);
  return view.getFloat64(0);
}
