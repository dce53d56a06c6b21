// Mechanisms that work modulo a number: local hashing, the wheel and block designs.

import { InvalidParameter } from "./errors.js";
import { ONE, over, plus, ratio, times } from "./fraction.js";
import { number } from "./layout.js";
import { chance, PureProtocol, refuseChanged, refuseUnless } from "./mechanism.js";

const factor = (n) => {
  for (let f = 2; f * f <= n; f++) if (n % f === 0) return f;
  return n;
};

/** The smallest odd prime with a residue for every value. */
function fieldFor(values) {
  let prime = Math.max(values, 3);
  if (prime % 2 === 0) prime++;
  while (factor(prime) !== prime) prime += 2;
  return prime;
}

/** (a x + b) mod m, exactly also where the product has more than 53 bits. */
function affine(a, x, b, m) {
  return m < 2 ** 26 ? (a * x + b) % m : Number((BigInt(a) * BigInt(x) + BigInt(b)) % BigInt(m));
}

const scaledDown = (h, g, m) => (m < 2 ** 26 ? Math.floor((h * g) / m) : Number((BigInt(h) * BigInt(g)) / BigInt(m)));

class Affine extends PureProtocol {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.prime = spec.prime;
    if (this.prime !== fieldFor(domain.size)) refuseChanged();
  }

  supports(report) {
    const found = [];
    for (let cell = 0; cell < this.domain.size; cell++) if (this.holds(report, cell)) found.push(cell);
    return found;
  }
}

/** The bucket of the true value under a hash function that every report draws anew. The field "a" holds a - 1. */
export class Hashing extends Affine {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    const [prime, buckets] = [this.prime, spec.buckets];
    refuseUnless(Number.isInteger(buckets) && buckets >= 2 && buckets <= prime, `There must be 2 to ${prime} buckets.`);
    this.buckets = buckets;
    const other = over(ONE, plus(this.odds, ratio(buckets - 1)));
    this.p = times(this.odds, other);
    // how many ordered pairs of different residues share a bucket, out of P (P - 1)
    const left = prime % buckets;
    const shared = ratio(BigInt(Math.floor(prime / buckets)) * BigInt(prime + left - buckets), BigInt(prime) * BigInt(prime - 1));
    this.q = plus(times(shared, this.p), times(plus(ONE, ratio(-shared.n, shared.d)), other));
    this.fields = [number("a", prime - 1), number("b", prime), number("bucket", buckets)];
    this.blankSupport = ratio(1, buckets);
  }

  bucket(a, b, value) {
    return scaledDown(affine(a + 1, value, b, this.prime), this.buckets, this.prime);
  }

  randomize(truth, coins) {
    const [a, b] = [coins.below(this.prime - 1), coins.below(this.prime)];
    return { a, b, bucket: (this.bucket(a, b, truth) + coins.split(this.p, 1, this.buckets - 1)) % this.buckets };
  }

  blank(coins) {
    return { a: coins.below(this.prime - 1), b: coins.below(this.prime), bucket: coins.below(this.buckets) };
  }

  holds({ a, b, bucket }, cell) {
    return this.bucket(a, b, cell) === bucket;
  }
}

/** A place on a ring, more often than not on the arc that begins at the true value. */
export class Wheel extends Affine {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.arc = spec.arc;
    refuseUnless(Number.isInteger(this.arc) && this.arc >= 1 && this.arc < this.prime, `The arc must have 1 to ${this.prime - 1} places.`);
    Object.assign(this, chance(this.prime, this.arc, this.odds));
    this.fields = [number("a", this.prime - 1), number("place", this.prime)];
    this.blankSupport = ratio(this.arc, this.prime);
  }

  randomize(truth, coins) {
    const a = coins.below(this.prime - 1);
    return { a, place: affine(a + 1, truth, coins.split(this.p, this.arc, this.prime - this.arc), this.prime) };
  }

  blank(coins) {
    return { a: coins.below(this.prime - 1), place: coins.below(this.prime) };
  }

  holds({ a, place }, cell) {
    const from = affine(a + 1, cell, 0, this.prime);
    return (place - from + this.prime) % this.prime < this.arc;
  }
}

/** A point of v, more often one of the block x + D of the true value x, where D is a difference set. */
export class Design extends PureProtocol {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    const { v, k, lambda } = (this.design = spec.design);
    const whole = [v, k, lambda].every(Number.isInteger) && k >= 1 && k < v && v <= 2 ** 25;
    if (!whole || k * (k - 1) !== lambda * (v - 1) || !Object.hasOwn(SETS, this.design.family)) refuseChanged();
    refuseUnless(v >= domain.size, `A design of ${v} points is too small for ${domain.size} values.`);
    Object.assign(this, chance(v, k, this.odds));
    this.fields = [number("point", v)];
    this.blankSupport = ratio(k, v);
  }

  /** Which points are in the set, and all points in order: those of the set first. Made when it is needed. */
  get set() {
    if (!this.made) {
      const { v, k } = this.design;
      const member = new Uint8Array(v);
      SETS[this.design.family](this.design, member);
      const points = Array.from(member.keys());
      const inside = points.filter((point) => member[point]);
      if (inside.length !== k) refuseChanged();
      this.made = { member, inside, offsets: [...inside, ...points.filter((point) => !member[point])] };
    }
    return this.made;
  }

  randomize(truth, coins) {
    const { v, k } = this.design;
    return { point: (truth + this.set.offsets[coins.split(this.p, k, v - k)]) % v };
  }

  blank(coins) {
    return { point: coins.below(this.design.v) };
  }

  supports({ point }) {
    const { v } = this.design;
    const found = [];
    for (let cell = 0; cell < this.domain.size; cell++) if (this.set.member[(point - cell + v) % v]) found.push(cell);
    return found;
  }

  isIdle(report) {
    return !this.supports(report).length;
  }

  /** Counted once, where open answers ask for it. */
  get idle() {
    const { v } = this.design;
    if (v > 65536) return 0;
    this.idlePoints ??= Array.from({ length: v }, (_, point) => this.isIdle({ point })).filter(Boolean).length;
    return this.idlePoints / v;
  }
}

const powers = (v, exponent) =>
  Array.from({ length: v }, (_, x) => {
    let power = 1;
    for (let i = 0; i < exponent; i++) power = affine(power, x, 0, v);
    return power;
  });

const SETS = {
  trivial: (_, member) => (member[0] = 1),
  paley: ({ v }, member) => powers(v, 2).forEach((x, i) => i && (member[x] = 1)),
  quartic: ({ v }, member) => powers(v, 4).forEach((x, i) => (i || v % 16 === 13) && (member[x] = 1)),
  "twin-primes": ({ v }, member) => {
    const r = Math.floor(Math.sqrt(v));
    const [one, two] = [r, r + 2].map((n) => new Set(powers(n, 2).slice(1)));
    for (let x = 0; x < v; x++) {
      const unit = x % r > 0 && x % (r + 2) > 0;
      if (x % (r + 2) === 0 || (unit && one.has(x % r) === two.has(x % (r + 2)))) member[x] = 1;
    }
  },
  singer: ({ v, q, polynomial }, member) => {
    const p = factor(q);
    const m = Math.round(Math.log(q) / Math.log(p));
    const degree = polynomial.length;
    if (p ** m !== q || !polynomial.every((c) => Number.isInteger(c) && c >= 0 && c < p)) {
      throw new InvalidParameter("A Singer design needs a prime power q and a polynomial over its prime.");
    }
    member.fill(1);
    let last = Array.from({ length: degree }, (_, i) => (i === degree - 1 ? 1 : 0));
    for (let i = 0; i < m * v; i++) {
      const next = polynomial.reduce((sum, c, j) => (sum + (p - c) * last[j]) % p, 0);
      if (last[0]) member[i % v] = 0;
      last = [...last.slice(1), next];
    }
  },
};
