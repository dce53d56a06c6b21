// The mean of numbers: every report stands for a number whose mean is the truth. Inside, the interval is [-1, 1].

import { below, float, HALF, minus, ONE, over, plus, ratio, read, times } from "./fraction.js";
import { number } from "./layout.js";
import { checkTally, Mechanism, refuseUnless } from "./mechanism.js";
import { checkedWeights, worstOdds } from "./tables.js";

class Mean extends Mechanism {
  proof = "enumerated";
  estimates = true;

  constructor(spec, domain, text) {
    super(spec, domain, text);
    refuseUnless(domain.kind === "interval", "A mean is of numbers: this mechanism is for an interval.");
  }

  /** A subclass says how many different reports there are, and what each stands for. */
  sends(cells, centred) {
    this.cells = cells;
    this.centred = centred;
    this.fields = [number("value", cells)];
  }

  votes(reports) {
    const counts = new Array(this.cells).fill(0);
    for (const { value } of reports) counts[value]++;
    return counts;
  }

  /** What a report stands for, in the units of the question. */
  stands({ value }) {
    return this.domain.low + ((this.domain.high - this.domain.low) / 2) * (1 + this.centred(value));
  }

  estimate(tally) {
    checkTally(tally, this.cells);
    const average = (of) => tally.counts.reduce((sum, count, value) => sum + (count ? count * of(this.stands({ value })) : 0), 0) / tally.n;
    const mean = average((x) => x);
    const variance = average((x) => (x - mean) ** 2) / Math.max(tally.n - 1, 1);
    return { labels: ["mean"], values: [mean], variance: [variance], n: tally.n };
  }
}

const honest = (odds) => over(odds, plus(odds, ONE));
const scale = (odds) => float(over(plus(odds, ONE), minus(odds, ONE)));

/** One of two numbers: the end that the number is rounded to, told truly or not. */
export class Duchi extends Mean {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.honest = honest(this.odds);
    this.sends(2, (value) => (2 * value - 1) * scale(this.odds));
  }

  randomize(truth, coins) {
    const up = coins.tossEach(truth, this.domain.steps);
    return { value: up === coins.flip(this.honest) ? 1 : 0 };
  }
}

/** Low, middle or high: near the middle a number can say so. */
export class ThreeOutputs extends Mean {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.a = read(spec.a);
    const most = over(this.odds, plus(this.odds, ratio(2)));
    refuseUnless(!below(most, this.a), "The share of zeros must lie between 0 and odds / (odds + 2).");
    const far = float(over(times(this.odds, plus(this.odds, ONE)), times(minus(this.odds, ONE), minus(this.odds, this.a))));
    this.sends(3, (value) => (value - 1) * far);
  }

  randomize(truth, coins) {
    const distance = 2 * truth - this.domain.steps;
    const end = coins.tossEach(Math.abs(distance), this.domain.steps) ? 1 : 0; // the nearer end, or the middle
    const zeros = [coins.flip(this.a), coins.flip(over(this.a, this.odds))];
    const sides = [coins.flip(HALF), coins.flip(honest(this.odds))];
    return { value: zeros[end] ? 1 : sides[end] === distance >= 0 ? 2 : 0 };
  }
}

/** A place on a line; each in the window of the true number is `odds` times as likely as each outside. */
export class Piecewise extends Mean {
  proof = "symmetric";

  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    const [window, stride] = (this.shape = [spec.window, spec.stride]);
    const way = stride * domain.steps;
    const good = Number.isInteger(window) && Number.isInteger(stride) && window >= 1 && stride >= 1 && way + window <= 2 ** 20;
    refuseUnless(good, "The window and its stride must be at least one place, and at most 1048576 places in all.");
    const weight = ratio(this.odds.n * BigInt(window), this.odds.d);
    this.inside = over(weight, plus(weight, ratio(way)));
    const slope = over(times(ratio(stride * window), minus(this.odds, ONE)), plus(weight, ratio(way)));
    const place = float(over(ratio(2, domain.steps), slope));
    this.sends(way + window, (value) => place * (value - (way + window - 1) / 2));
  }

  randomize(truth, coins) {
    const [window, stride] = this.shape;
    const place = stride * truth + coins.split(this.inside, window, this.cells - window);
    return { value: place % this.cells };
  }
}

/** The piecewise mechanism with probability alpha, else Duchi's, whose two reports come last. */
export class Hybrid extends Mean {
  proof = "symmetric";

  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.alpha = read(spec.alpha);
    this.parts = [new Piecewise(spec, domain), new Duchi(spec, domain)];
    const { cells } = this.parts[0];
    this.sends(cells + 2, (value) => (value < cells ? this.parts[0].centred(value) : this.parts[1].centred(value - cells)));
  }

  randomize(truth, coins) {
    const first = coins.flip(this.alpha);
    const [place, end] = this.parts.map((part) => part.randomize(truth, coins).value);
    return { value: first ? place : this.cells - 2 + end };
  }
}

/** One bit of the place on the grid, drawn in proportion to its weight. */
export class BitSampling extends Mean {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.weights = Array.from(domain.steps.toString(2), (_, bit) => 2 ** bit);
    refuseUnless((domain.steps & domain.size) === 0, "Bits are sampled from intervals of 2^b - 1 steps.");
    this.sends(2 * this.weights.length, (value) => (2 * (value % 2) - 1) * scale(this.odds));
  }

  randomize(truth, coins) {
    const bit = coins.pick(this.weights);
    const told = ((truth >> bit) & 1) === 1;
    return { value: 2 * bit + (told === coins.flip(honest(this.odds)) ? 1 : 0) };
  }
}

/** Any finite channel; report k stands for values[k]. */
export class MeanChannel extends Mean {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.weights = checkedWeights(spec.weights, domain.size);
    refuseUnless(spec.values?.length === this.weights[0].length, "A channel has a number for each column.");
    this.odds = worstOdds(this.weights);
    this.sends(spec.values.length, (value) => spec.values[value]);
  }

  randomize(truth, coins) {
    return { value: coins.pick(this.weights[truth]) };
  }
}
