// Laws written out as tables of whole weights, and releases of answers near the truth.

import { InvalidParameter } from "./errors.js";
import { ONE, largest, over, plus, ratio } from "./fraction.js";
import { number } from "./layout.js";
import { Mechanism, refuseUnless } from "./mechanism.js";

/** The largest ratio of two weights within a column; null if one is zero and the other is not. */
export function worstOdds(rows) {
  let worst = ONE;
  for (let column = 0; column < rows[0].length; column++) {
    const weights = rows.map((row) => BigInt(row[column]));
    const [low, high] = weights.reduce(([a, b], w) => [w < a ? w : a, w > b ? w : b], [weights[0], weights[0]]);
    if (high && !low) return null;
    if (high) worst = largest(worst, ratio(high, low));
  }
  return worst;
}

export function checkedWeights(rows, size) {
  const good = Array.isArray(rows) && rows.length === size && rows.every((row) => Array.isArray(row) && row.length === rows[0].length);
  refuseUnless(good && rows[0].length > 0, `A channel for this question has ${size} rows of weights, all equally long.`);
  const sums = rows.map((row) => row.reduce((sum, weight) => sum + checkedWeight(weight), 0n));
  refuseUnless(sums[0] > 0n && sums[0] < 1n << 63n && sums.every((sum) => sum === sums[0]), "The weights of every row must have the same sum.");
  return rows;
}

function checkedWeight(weight) {
  const whole = typeof weight === "bigint" || Number.isSafeInteger(weight);
  refuseUnless(whole && weight >= 0, "Weights are whole numbers, not negative.");
  return BigInt(weight);
}

/** On an interval a release is of the nearest point, without a coin. */
class Release extends Mechanism {
  place(value, coins) {
    return this.domain.nearest ? this.domain.nearest(value, coins) : super.place(value, coins);
  }

  supports({ value }) {
    return [this.outputs ? this.outputs[value] : value];
  }
}

/** Report j on value i with probability weights[i][j] / total. */
export class Finite extends Release {
  proof = "enumerated";

  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.weights = checkedWeights(spec.weights, domain.size);
    this.odds = worstOdds(this.weights);
    this.cells = this.weights[0].length;
    this.fields = [number("value", Math.max(this.cells, 2))];
    this.isRelease = spec.mechanism === "release-1";
    refuseUnless(!this.isRelease || this.cells === domain.size, "A release has one column of weights for each answer.");
  }

  place(value, coins) {
    return this.isRelease ? super.place(value, coins) : this.domain.place(value, coins);
  }

  supports(report) {
    return this.isRelease ? super.supports(report) : null;
  }

  randomize(truth, coins) {
    return { value: coins.pick(this.weights[truth]) };
  }
}

/** Answers on a line: where the nearest ones of each begin. Of two equally near the lower one is taken first. */
class Line {
  constructor(domain) {
    if (!domain.line) {
      throw new InvalidParameter("This client releases answers that are in order, or points of an interval; not places.");
    }
    const x = (this.x = domain.line);
    const [first, last, size] = [x[0], x.at(-1), x.length];
    const step = (last - first) / (size - 1);
    this.even = x.every((value, i) => Math.abs((i === size - 1 ? last : i * step + first) - value) <= 1e-12 * (last - first));
    this.domain = domain;
    this.step = step;
  }

  loss(a, b) {
    const { table, power } = this.domain;
    if (table) return table[Math.abs(a - b)];
    const distance = this.even ? Math.abs(a - b) * this.step : Math.abs(this.x[a] - this.x[b]);
    return power === 1 ? distance : distance ** power;
  }

  window(truth, count) {
    const last = this.x.length - count;
    if (this.even) return Math.min(Math.max(truth - (count >> 1), 0), last);
    let start = 0;
    while (start < last && this.x[start] + this.x[start + count] < 2 * this.x[truth]) start++;
    return start;
  }

  /** The answer at this place of the order around the truth: rings from the inside out, each in order. */
  member(truth, place, counts) {
    const edges = [0, ...counts];
    let ring = counts.length;
    while (ring && place < edges[ring]) ring--;
    const begin = ring < counts.length ? this.window(truth, counts[ring]) : 0;
    const inner = ring ? this.window(truth, counts[ring - 1]) : 0;
    const offset = place - edges[ring];
    return begin + offset + (ring && offset >= inner - begin ? edges[ring] : 0);
  }
}

/** One of the `near` nearest answers with probability p, else one of the others. */
export class Bipartite extends Release {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.near = spec.near;
    const size = domain.size;
    refuseUnless(Number.isInteger(this.near) && this.near >= 1 && this.near < size, `Of ${size} answers, 1 to ${size - 1} can be near.`);
    this.line = new Line(domain);
    const weight = ratio(this.odds.n * BigInt(this.near), this.odds.d);
    this.p = over(weight, plus(weight, ratio(size - this.near)));
    this.fields = [number("value", Math.max(size, 2))];
  }

  randomize(truth, coins) {
    const place = coins.split(this.p, this.near, this.domain.size - this.near);
    return { value: this.line.member(truth, place, [this.near]) };
  }
}

/** Weights that fall in equal steps from ring to ring around the truth. */
export class Staircase extends Release {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    const { n, d } = this.allowed(spec);
    const sizes = spec.sizes;
    const good = Array.isArray(sizes) && sizes.length > 1 && sizes.every((size) => Number.isInteger(size) && size > 0);
    refuseUnless(good && sizes.reduce((a, b) => a + b) === domain.size, `The rings must have ${domain.size} answers together.`);
    this.line = new Line(domain);
    const rings = BigInt(sizes.length - 1);
    const steps = sizes.map((_, ring) => d * rings + (rings - BigInt(ring)) * (n - d));
    this.odds = ratio(steps[0], steps.at(-1));
    this.weights = sizes.flatMap((size, ring) => new Array(size).fill(steps[ring]));
    let sum = 0;
    this.counts = sizes.slice(0, -1).map((size) => (sum += size));
    this.fields = [number("value", Math.max(domain.size, 2))];
  }

  randomize(truth, coins) {
    return { value: this.line.member(truth, coins.pick(this.weights), this.counts) };
  }
}

/** Direct response among a few representatives: the nearest one, or any other. */
export class Coarsened extends Release {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    const odds = this.allowed(spec);
    this.outputs = spec.representatives;
    const good = Array.isArray(this.outputs) && this.outputs.length > 0;
    const places = good && this.outputs.every((y, i) => Number.isInteger(y) && y >= 0 && y < domain.size && (!i || y > this.outputs[i - 1]));
    refuseUnless(places, `The representatives are different numbers of answers, from 0 to ${domain.size - 1}, in order.`);
    this.line = new Line(domain);
    this.cells = this.outputs.length;
    this.p = over(odds, plus(odds, ratio(this.cells - 1)));
    this.odds = this.cells === 1 ? ONE : odds;
    this.fields = [number("value", Math.max(this.cells, 2))];
  }

  nearest(truth) {
    const found = this.outputs.findIndex((place) => place >= truth);
    const above = found < 0 ? this.cells - 1 : found;
    const below = Math.max(above - 1, 0);
    return this.line.loss(truth, this.outputs[below]) <= this.line.loss(truth, this.outputs[above]) ? below : above;
  }

  randomize(truth, coins) {
    if (this.cells === 1) return { value: 0 };
    return { value: (this.nearest(truth) + coins.split(this.p, 1, this.cells - 1)) % this.cells };
  }
}
