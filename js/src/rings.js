// Laws that work modulo a number: local hashing, the wheel and block designs.

import { chances } from "./categories.js";
import { allowed, ONE, over, plus, ratio, rest, times } from "./fraction.js";
import { insist, whole } from "./insist.js";
import { number } from "./layout.js";
import { listed, sum, trueAt } from "./lists.js";

const factor = (n) => {
  for (let f = 2; f * f <= n; f++) if (n % f === 0) return f;
  return n;
};

/** The smallest odd prime with a residue for every value. */
function fieldFor(values, spec) {
  let prime = Math.max(values, 3) | 1;
  while (factor(prime) < prime) prime += 2;
  insist(spec.prime === prime);
  return prime;
}

/** (a x + b) mod m and a b / m rounded down, exactly also where products have more than 53 bits. */
const affine = (a, x, b, m) => Number((BigInt(a) * BigInt(x) + BigInt(b)) % BigInt(m));
const scaled = (a, b, m) => Number((BigInt(a) * BigInt(b)) / BigInt(m));

/** The bucket of the true value under a hash function that every report draws anew. The field "a" holds a - 1. */
export function hashing(spec, { size }) {
  const odds = allowed(spec);
  const prime = fieldFor(size, spec);
  const buckets = whole(spec.buckets, 2, prime);
  const other = over(ONE, plus(odds, ratio(buckets - 1)));
  const p = times(odds, other);
  // how many ordered pairs of different residues share a bucket, out of P (P - 1)
  const pairs = times(ratio(Math.floor(prime / buckets)), ratio(prime + (prime % buckets) - buckets));
  const shared = over(pairs, times(ratio(prime), ratio(prime - 1)));
  const bucketOf = (a, b, value) => scaled(affine(a + 1, value, b, prime), buckets, prime);
  return {
    odds,
    p,
    q: plus(times(shared, p), times(rest(shared), other)),
    blankSupport: ratio(1, buckets),
    fields: [number("a", prime - 1), number("b", prime), number("bucket", buckets)],
    randomize: (truth, coins) => {
      const [a, b] = [coins.below(prime - 1), coins.below(prime)];
      return { a, b, bucket: (bucketOf(a, b, truth) + coins.split(p, 1, buckets - 1)) % buckets };
    },
    blank: (coins) => ({ a: coins.below(prime - 1), b: coins.below(prime), bucket: coins.below(buckets) }),
    supports: ({ a, b, bucket }) => trueAt(listed(size, (value) => bucketOf(a, b, value) === bucket)),
  };
}

/** A place on a ring, more often than not on the arc that begins at the true value. */
export function wheel(spec, { size }) {
  const odds = allowed(spec);
  const prime = fieldFor(size, spec);
  const arc = whole(spec.arc, 1, prime - 1);
  const { p, q } = chances(prime, arc, odds);
  return {
    odds,
    p,
    q,
    blankSupport: ratio(arc, prime),
    fields: [number("a", prime - 1), number("place", prime)],
    randomize: (truth, coins) => {
      const a = coins.below(prime - 1);
      return { a, place: affine(a + 1, truth, coins.split(p, arc, prime - arc), prime) };
    },
    blank: (coins) => ({ a: coins.below(prime - 1), place: coins.below(prime) }),
    supports: ({ a, place }) =>
      trueAt(listed(size, (value) => (place + prime - affine(a + 1, value, 0, prime)) % prime < arc)),
  };
}

/** A point of v, more often one of the block x + D of the true value x, where D is a difference set. */
export function design(spec, { size }) {
  const odds = allowed(spec);
  const { v, k, lambda, family } = spec.design;
  whole(k, 1, whole(v, size, 2 ** 25) - 1);
  insist(k * (k - 1) === lambda * (v - 1) && Object.hasOwn(SETS, family));
  const { p, q } = chances(v, k, odds);
  let made;
  /** Which points are in the set, and all points: those of the set first. Made when it is needed. */
  const set = () => {
    if (!made) {
      const member = SETS[family](spec.design);
      const order = [true, false].flatMap((inside) => trueAt(member.map((each) => each === inside)));
      insist(trueAt(member).length === k);
      made = { member, order };
    }
    return made;
  };
  const supports = ({ point }) => trueAt(listed(size, (value) => set().member[(point + v - value) % v]));
  return {
    odds,
    p,
    q,
    blankSupport: ratio(k, v),
    idle: () => (v > 65536 ? 0 : sum(listed(v, (point) => (supports({ point }).length ? 0 : 1))) / v),
    fields: [number("point", v)],
    randomize: (truth, coins) => ({ point: (truth + set().order[coins.split(p, k, v - k)]) % v }),
    blank: (coins) => ({ point: coins.below(v) }),
    supports,
  };
}

/** Which residues are powers of those from `first` on. */
function powers(v, exponent, first = 1) {
  const member = new Array(v).fill(false);
  for (let x = first; x < v; x++) {
    let power = 1;
    for (let i = 0; i < exponent; i++) power = affine(power, x, 0, v);
    member[power] = true;
  }
  return member;
}

const SETS = {
  trivial: ({ v }) => listed(v, (x) => x === 0),
  paley: ({ v }) => powers(v, 2),
  quartic: ({ v }) => powers(v, 4, v % 16 === 13 ? 0 : 1),
  "twin-primes": ({ v }) => {
    const r = Math.floor(Math.sqrt(v));
    const [one, two] = [powers(r, 2), powers(r + 2, 2)];
    return listed(v, (x) => x % (r + 2) === 0 || (x % r > 0 && one[x % r] === two[x % (r + 2)]));
  },
  singer: ({ v, q, polynomial }) => {
    const p = factor(q);
    const m = Math.round(Math.log(q) / Math.log(p));
    insist(p ** m === q);
    const member = new Array(v).fill(true);
    const last = polynomial.map((_, i) => (i + 1 === polynomial.length ? 1 : 0));
    for (let i = 0; i < m * v; i++) {
      last.push(polynomial.reduce((total, c, j) => (total + (p - whole(c, 0, p - 1)) * last[j]) % p, 0));
      if (last.shift()) member[i % v] = false;
    }
    return member;
  },
};
