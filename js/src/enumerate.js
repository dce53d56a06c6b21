// The exact law of a program: the interpreter runs once for every combination of outcomes of its draws. This is how what
// runs on a device is compared with what was proved.

import { bitsOf, listed, trueAt } from "./lists.js";
import { hex } from "./bytes.js";
import { ONE, plus, ratio } from "./fraction.js";
import { insist } from "./insist.js";
import { run } from "./run.js";

/** Coins that take one way through all outcomes, and then the next. */
export class EveryCoin {
  #way = []; // of every draw so far: the outcome, how many there are, the chance of the way to here as n / d, not reduced
  #at = 0;
  #listed = new Map(); // rows of so many cells, by how many of them are set

  get chance() {
    return this.#way.at(-1) ?? ONE;
  }

  /** Go on to the next combination; false after the last. */
  next() {
    while (this.#way.length && this.chance.outcome + 1 === this.chance.many) this.#way.pop();
    if (this.#way.length) this.#step(this.#way.pop(), 1);
    this.#at = 0;
    return this.#way.length > 0;
  }

  #step({ outcome, many, odds }, on) {
    const [{ n, d }, own] = [this.chance, odds(outcome + on)];
    this.#way.push({ outcome: outcome + on, many, odds, n: n * own.n, d: d * own.d });
  }

  /** One of so many outcomes; `odds` gives the chance of each. */
  #outcome(many, odds) {
    if (this.#at === this.#way.length) this.#step({ outcome: 0, many, odds }, 0);
    return this.#way[this.#at++].outcome;
  }

  #equally(list) {
    return list[this.#outcome(list.length, () => ({ n: 1n, d: BigInt(list.length) }))];
  }

  flip({ n, d }) {
    if (n === 0n || n === d) return n > 0n;
    return this.#outcome(2, (tails) => ({ n: tails ? d - n : n, d })) === 0;
  }

  toss(heads, bits) {
    return listed(bits, () => this.flip(heads));
  }

  below(n) {
    return BigInt(this.#outcome(Number(n), () => ({ n: 1n, d: n })));
  }

  split(heads, first, second) {
    return this.flip(heads) ? this.below(first) : first + this.below(second);
  }

  pick(weights) {
    const possible = trueAt(weights);
    const total = weights.reduce((a, b) => a + b);
    return possible[this.#outcome(possible.length, (place) => ({ n: weights[possible[place]], d: total }))];
  }

  tossAll(heads, whole) {
    return heads.map((n) => this.flip({ n, d: whole }));
  }

  subset(n, k, oneLess) {
    return this.#equally(this.#rows(n)[k - Number(oneLess)]);
  }

  majority(n) {
    return this.#equally(this.#rows(n).filter((_, ones) => 2 * ones > n).flat());
  }

  #rows(n) {
    insist(n <= 16);
    if (!this.#listed.has(n)) {
      const rows = listed(n + 1, () => []);
      for (let number = 0; number < 2 ** n; number++) rows[trueAt(bitsOf(number, n)).length].push(bitsOf(number, n));
      this.#listed.set(n, rows);
    }
    return this.#listed.get(n);
  }
}

const text = (value) => (value instanceof Uint8Array ? hex(value) : Array.isArray(value) ? `[${value}]` : String(value));

/** A report as text, its fields in order. */
export const reportText = (program, fields) => program.report.map(([name]) => text(fields[name])).join(" ");

/** The probability of every report for these codes, as `reportText` writes it; null if there are more than `most` outcomes. */
export function chancesOf(program, codes, most = 100_000) {
  const law = new Map();
  const coins = new EveryCoin();
  do {
    if (!most--) return null;
    const report = reportText(program, run(program, codes, coins));
    const { n, d } = coins.chance;
    if (!law.has(report)) law.set(report, new Map());
    law.get(report).set(d, (law.get(report).get(d) ?? 0n) + n); // most have the same denominator: reduced once, at the end
  } while (coins.next());
  return new Map([...law].map(([report, parts]) => [report, [...parts].map(([d, n]) => ratio(n, d)).reduce(plus)]));
}
