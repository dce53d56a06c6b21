// Utility-optimized response: sensitive answers are protected in full, the others are told whenever that betrays nobody.

import { Categories } from "./domains.js";
import { InvalidReport } from "./errors.js";
import { equal, float, largest, minus, ONE, over, ratio, times, within } from "./fraction.js";
import * as layout from "./layout.js";
import { checkTally, Mechanism, PureProtocol, refuseUnless } from "./mechanism.js";
import { Finite } from "./tables.js";

/** The base of a question with one sensitive answer: every report says the same. */
export class Certain extends PureProtocol {
  p = ONE;
  q = ratio(0);
  odds = ONE;
  blankSupport = ONE;
  fields = [layout.number("value", 1)];

  randomize() {
    return { value: 0 };
  }

  blank() {
    return { value: 0 };
  }

  supports() {
    return [0];
  }
}

export class Open extends Mechanism {
  protects = "sensitive values";

  constructor(spec, domain, text, base) {
    super(spec, domain, text);
    const allowed = (this.allowedOdds = this.allowed(spec));
    this.base = base;
    const { sensitive, flat } = spec;
    const places = Array.isArray(sensitive) ? sensitive.map((label) => domain.places?.get(label)) : [];
    const good = places.length && places.length < domain.size && places.every((place, i) => place >= 0 && (!i || place > places[i - 1]));
    refuseUnless(good, "The sensitive answers are some of the question's, in its order.");
    this.sensitive = sensitive;
    const table = base instanceof Finite;
    refuseUnless((base instanceof PureProtocol || table) && base.domain.size === places.length, "The base is for the sensitive answers.");
    refuseUnless(base.odds && within(base.odds, this.epsilon), "The base mechanism does not keep the budget itself.");
    this.odds = largest(allowed, base.odds);
    this.estimates = !table;
    this.secret = new Map(places.map((place, i) => [place, i]));
    this.open = domain.labels.map((_, place) => place).filter((place) => !this.secret.has(place));

    // How open answers are hidden: a blank report of the base, as rarely as may be; one that supports nothing rarer still.
    if (table) {
      this.largest = base.weights[0].map((_, y) => base.weights.reduce((most, row) => (BigInt(row[y]) > most ? BigInt(row[y]) : most), 0n));
      const total = base.weights[0].reduce((sum, weight) => sum + BigInt(weight), 0n);
      this.sent = over(ratio(this.largest.reduce((a, b) => a + b), total), allowed);
    } else {
      const { p, blankSupport: a } = base;
      this.sent = over(p, times(allowed, a));
      this.idle = flat ? 0 : base.idle;
      this.blankOdds = equal(p, ONE) ? allowed : over(times(p, minus(ONE, a)), times(a, minus(ONE, p)));
    }
    refuseUnless(this.sent.n <= this.sent.d, "Open answers cannot be hidden behind this base.");

    const [first, ...others] = base.fields;
    this.oneNumber = Boolean(first.below && !others.length);
    // A report that tells has no cell set, so how many are set is for the base to check.
    this.fields = this.oneNumber
      ? [layout.number(first.name, first.below + this.open.length)]
      : [layout.number("open", this.open.length + 1), ...base.fields.map((field) => (field.below ? field : layout.flags(field.name, field.bits)))];
  }

  randomize(truth, coins) {
    const secret = this.secret.has(truth);
    const own = this.base.randomize(this.secret.get(truth) ?? 0, coins);
    const blank = this.largest ? { value: coins.pick(this.largest) } : this.base.blank(coins);
    let hidden = coins.flip(this.sent);
    if (this.idle) hidden = (coins.flip(over(ONE, this.blankOdds)) || !this.base.isIdle(blank)) && hidden;
    return this.join(secret || hidden ? 0 : 1 + this.open.indexOf(truth), secret ? own : blank);
  }

  join(told, report) {
    if (this.oneNumber) {
      const { name, below } = this.base.fields[0];
      return told ? { [name]: below + told - 1 } : report;
    }
    const empty = Object.fromEntries(this.base.fields.map((field) => [field.name, field.below ? 0 : new Array(field.bits).fill(false)]));
    return { open: told, ...(told ? empty : report) };
  }

  /** The open answer that a report tells, or null. */
  told(report) {
    const { name, below } = this.base.fields[0];
    const told = this.oneNumber ? report[name] - below + 1 : report.open;
    return told > 0 ? this.open[told - 1] : null;
  }

  supports(report) {
    const told = this.told(report);
    if (told !== null) return [told];
    const places = [...this.secret.keys()];
    return this.base.supports(report)?.map((place) => places[place]) ?? null;
  }

  check(report) {
    super.check(report);
    if (this.oneNumber) return;
    if (!report.open) this.base.check(report);
    else if (this.base.fields.some(({ name, below }) => (below ? report[name] : report[name].includes(true)))) {
      throw new InvalidReport("A report tells an open answer and a protected one at once. No device sends that.");
    }
  }

  votes(reports) {
    const told = reports.map((report) => this.told(report));
    const protectedOnes = reports.filter((_, i) => told[i] === null);
    return [...this.base.votes(protectedOnes), ...this.open.map((place) => told.filter((each) => each === place).length)];
  }

  estimate(tally) {
    const size = this.base.domain.size;
    checkTally(tally, size + this.open.length);
    const [p, q] = [float(this.base.p), float(this.base.q)];
    const hidden = float(this.sent) * (1 - this.idle * (1 - 1 / float(this.blankOdds)));
    const support = p / float(this.allowedOdds); // of a sensitive answer by the report on an open one
    const told = 1 - hidden;
    const mean = (support - q * hidden) / (p - q);
    const squares = (support - 2 * q * support + q * q * hidden) / (p - q) ** 2;
    const counts = tally.counts.slice(size);
    const open = counts.map((count) => count / (tally.n * told));
    const total = open.reduce((a, b) => a + b, 0);
    const telling = counts.reduce((a, b) => a + b, 0);
    const own = this.base.debias(tally.counts.slice(0, size), tally.n - telling).map((count) => count / tally.n - mean * total);
    const noise = [
      ...this.base.noise(own, 1 - total).map((each) => each + total * (squares + mean ** 2 / told)),
      ...open.map((share) => (share * (1 - told)) / told),
    ];
    const shares = [...own, ...open];
    const order = this.labels.map((_, place) => this.secret.get(place) ?? size + this.open.indexOf(place));
    return {
      labels: this.labels,
      values: order.map((at) => shares[at]),
      variance: order.map((at) => noise[at] / tally.n),
      n: tally.n,
    };
  }
}

export const single = () => Object.assign(new Categories({ size: 2 }), { labels: [0] });
