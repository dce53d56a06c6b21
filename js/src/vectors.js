// The mean of vectors: a few coordinates, each as a number, or one sign for each.

import { InvalidReport } from "./errors.js";
import { largest, minus, ONE, over, plus, power, ratio, read, times } from "./fraction.js";
import { flags, number, width } from "./layout.js";
import { Mechanism, refuseUnless } from "./mechanism.js";
import { Duchi, Hybrid, Piecewise, ThreeOutputs } from "./numbers.js";

const SCALARS = { "duchi-1": Duchi, "three-outputs-1": ThreeOutputs, "piecewise-1": Piecewise, "hybrid-1": Hybrid };

/** k of the d coordinates, evenly spread from a public start, each by a mechanism for one number with epsilon / k. */
export class FeatureVector extends Mechanism {
  proof = "factored";

  constructor(spec, domain, text) {
    super(spec, domain, text);
    const d = domain.dimensions;
    const k = (this.k = spec.coordinates);
    refuseUnless(Number.isInteger(k) && k >= 1 && k <= d, `A report may hold 1 to ${d} coordinates.`);
    refuseUnless(Object.hasOwn(SCALARS, spec.scalar), `Coordinates are reported by one of ${Object.keys(SCALARS).join(", ")}.`);
    const coordinate = Object.assign(domain.coordinate, { kind: "interval" });
    this.part = new SCALARS[spec.scalar]({ ...spec.part, mechanism: spec.scalar, epsilon: this.epsilon / k }, coordinate);
    this.each = width(this.part.fields);
    this.odds = power(this.part.odds, k);
    const values = flags("values", k * this.each);
    this.fields = k < d ? [number("start", d), values] : [values];
  }

  randomize(truth, coins) {
    const d = truth.length;
    const start = this.k < d ? coins.below(d) : 0;
    const values = [];
    for (let place = 0; place < this.k; place++) {
      const { value } = this.part.randomize(truth[(start + Math.floor((place * d) / this.k)) % d], coins);
      for (let bit = 0; bit < this.each; bit++) values.push(Math.floor(value / 2 ** bit) % 2 === 1);
    }
    return this.k < d ? { start, values } : { values };
  }

  /** Each reported coordinate and what its report stands for. */
  stands({ start = 0, values }) {
    const d = this.domain.dimensions;
    return Array.from({ length: this.k }, (_, place) => {
      const bits = values.slice(place * this.each, (place + 1) * this.each);
      const value = bits.reduce((sum, bit, i) => sum + (bit ? 2 ** i : 0), 0);
      if (value >= this.part.cells) throw new InvalidReport("A report holds a number that this mechanism does not send.");
      return [(start + Math.floor((place * d) / this.k)) % d, this.part.stands({ value })];
    });
  }

  check(report) {
    super.check(report);
    this.stands(report);
  }
}

/** One sign for each coordinate, chosen together: more of them agree with the rounded vector than not. */
export class DuchiVector extends Mechanism {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    const odds = this.allowed(spec);
    const tie = read(spec.tie);
    refuseUnless(tie.n > 0n, "The weight of a tie must be positive.");
    const d = domain.dimensions;
    let ties = d % 2 ? 0n : 1n;
    for (let i = 1n; ties && i <= BigInt(d / 2); i++) ties = (ties * (BigInt(d / 2) + i)) / i;
    const more = ((1n << BigInt(d)) - ties) / 2n;
    const whole = plus(times(plus(odds, ONE), ratio(more)), times(tie, ratio(ties)));
    this.ahead = over(times(odds, ratio(more)), whole);
    this.tied = over(times(tie, ratio(ties)), whole);
    const weights = ties ? [odds, ONE, tie] : [odds, ONE];
    this.odds = over(largest(...weights), over(ONE, largest(...weights.map((weight) => over(ONE, weight)))));
    this.fields = [flags("signs", d)];
  }

  randomize(truth, coins) {
    const d = truth.length;
    const ends = truth.map((j) => coins.tossEach(j, this.domain.coordinate.steps));
    let agree = coins.majority(d);
    if (!coins.flip(over(this.ahead, minus(ONE, this.tied)))) agree = agree.map((bit) => !bit);
    if (d % 2 === 0) {
      const balanced = coins.subset(d, d / 2);
      if (coins.flip(this.tied)) agree = balanced;
    }
    return { signs: ends.map((end, i) => end === agree[i]) };
  }
}
