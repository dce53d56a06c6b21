// The only randomness: exact draws from a stream of uniform bytes. How bytes become outcomes is part of the wire format.

import { NoRandomness } from "./errors.js";
import { HALF } from "./fraction.js";
import { insist, lawful } from "./insist.js";
import { listed, trueAt } from "./lists.js";

export const WHOLE = 2 ** 53; // what most probabilities of single numbers are counted in

export class Coins {
  /** `bits` truth values, each true with probability `heads`: eight binary digits at a time, the rest only where tied. */
  toss(heads, bits = 1) {
    insist(heads.n >= 0n && heads.n <= heads.d);
    if (heads.n === 0n || heads.n === heads.d) return new Array(bits).fill(heads.n > 0n);
    const size = Math.ceil(bits / 64) * 8;
    const planes = this.draw(8 * size);
    const digits = (i) => {
      let sum = 0;
      for (let at = i >> 3; at < 8 * size; at += size) sum = 2 * sum + ((planes[at] >> (i & 7)) & 1);
      return sum;
    };
    const out = listed(bits, Number);
    let [tied, rest, drawn] = [out.slice(), heads.n, out.map(digits)];
    while (rest && tied.length) {
      drawn ??= this.draw(tied.length);
      const wanted = Number((rest * 256n) / heads.d);
      rest = (rest * 256n) % heads.d;
      tied = tied.filter((i, place) => {
        out[i] = drawn[place] < wanted;
        return drawn[place] === wanted;
      });
      drawn = null;
    }
    return out;
  }

  flip(heads) {
    return this.toss(heads)[0];
  }

  /** Uniform from 0 to n - 1: a BigInt if n is one, else n is at most 2^53. */
  below(n) {
    return this.belowEach(n, 1)[0];
  }

  /** So many of them; where a word is refused, another one is drawn after all the others. */
  belowEach(n, size) {
    const out = new Array(size);
    for (let places = listed(size, Number); places.length;) {
      places = places.filter((place) => {
        const [value, good] = this.scaled(n, n);
        out[place] = value;
        return !good;
      });
    }
    return out;
  }

  /** A value below n, and whether it may be used; the width of the word follows from `largest`. */
  scaled(n, largest) {
    const [bits, bound] = [largest > 2 ** 24 ? 64 : 32, BigInt(n)];
    const product = this.word(bits) * bound;
    const value = product >> BigInt(bits);
    return [typeof n === "bigint" ? value : Number(value), BigInt.asUintN(bits, product) >= (1n << BigInt(bits)) % bound];
  }

  word(bits = 64) {
    return this.draw(bits / 8).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  }

  /** A uniform subset of k out of n as truth values, by Floyd's steps; with `oneLess` one element less. */
  subset(n, k, oneLess = false) {
    for (;;) {
      const draws = listed(k, (i) => this.scaled(n - k + i + 1, n));
      const chosen = new Array(n).fill(false);
      draws.forEach(([value], i) => {
        if (i || !oneLess) chosen[chosen[value] ? n - k + i : value] = true;
      });
      if (draws.every(([, good]) => good)) return chosen;
    }
  }

  /** With probability `heads` one of 0..first-1, else one of the `second` after them. Both are drawn, whatever is needed. */
  split(heads, first, second) {
    const inside = this.flip(heads);
    const behind = second > 1 ? first + this.below(second) : first;
    const ahead = first > 1 ? this.below(first) : first - first;
    return inside ? ahead : behind;
  }

  /** A place of a list of weights, each as likely as its weight says. */
  pick(weights) {
    let left = this.below(weights.reduce((a, b) => a + b));
    return weights.findIndex((weight) => (left -= weight) < 0);
  }

  /** For each of a list, true with probability heads / whole. */
  tossAll(heads, whole) {
    insist(heads.every((each) => each >= 0 && each <= whole));
    if (whole == WHOLE) return heads.map((each) => this.word() >> 11n < each);
    const drawn = this.belowEach(whole, heads.length);
    return heads.map((each, place) => drawn[place] < each);
  }

  /** n truth values with more true than false ones. */
  majority(n) {
    for (;;) {
      const bits = this.toss(HALF, n);
      const ones = trueAt(bits).length;
      if (2 * ones > n) return bits;
      if (2 * ones < n) return bits.map((bit) => !bit);
    }
  }
}

const POOL = 4096;
const MOST = 65536; // bytes that getRandomValues gives at once

/** Randomness of WebCrypto, a pool at a time. */
export class SecureCoins extends Coins {
  #crypto;
  #pool = [];

  constructor(crypto = globalThis.crypto) {
    super();
    lawful(typeof crypto?.getRandomValues === "function", "This client needs WebCrypto.", NoRandomness);
    this.#crypto = crypto;
  }

  draw(size) {
    if (size > this.#pool.length) {
      this.#pool = new Uint8Array(Math.max(size, POOL));
      for (let start = 0; start < size || !start; start += MOST) this.#crypto.getRandomValues(this.#pool.subarray(start, start + MOST));
    }
    const out = this.#pool.slice(0, size);
    this.#pool.fill(0, 0, size); // nobody finds the coins of a report in memory later
    this.#pool = this.#pool.subarray(size);
    return out;
  }
}
