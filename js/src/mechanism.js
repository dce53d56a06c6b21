// A mechanism is one randomized vote: it owns perturb, tally, estimate and loss, so that they cannot disagree.

import { SecureCoins } from "./coins.js";
import { crc32, fingerprint, joined, sealed, unhex, hex } from "./bytes.js";
import { EmptyBatch, InvalidParameter, InvalidReport, OutsideDomain, SurveyMismatch } from "./errors.js";
import { checkedEpsilon, equal, float, logUp, oddsBelow, ONE, read, written } from "./fraction.js";
import * as layout from "./layout.js";

const MAGIC = [68, 78, 66, 76, 1, 0, 0, 0]; // DNBL, version 1

/** A subclass gives `fields`, `odds` of its loss, `randomize(truth, coins)`, and `supports` or `votes` if it estimates. */
export class Mechanism {
  proof = "symmetric";
  protects = "any two values";
  estimates = false;

  constructor(spec, domain, text) {
    this.wire = spec.mechanism;
    this.epsilon = checkedEpsilon(spec.epsilon);
    this.domain = domain;
    this.text = text;
  }

  /** The odds that the budget allows; refuses a description that says others. */
  allowed(spec) {
    const odds = oddsBelow(this.epsilon);
    if (!equal(read(spec.odds), odds)) refuseChanged();
    return odds;
  }

  get labels() {
    return this.domain.labels;
  }

  get bits() {
    return layout.width(this.fields);
  }

  get fingerprint() {
    return fingerprint(this.text);
  }

  get loss() {
    const odds = this.odds;
    if (!odds) return { odds: "unbounded", epsilon: Infinity, protects: this.protects, proof: this.proof };
    return { odds: written(odds), epsilon: logUp(odds), protects: this.protects, proof: this.proof };
  }

  perturb(values, coins = new SecureCoins()) {
    if (!Array.isArray(values)) throw new OutsideDomain("Answers must come as a list; for one answer write perturb([answer]).");
    if (!values.length) throw new EmptyBatch("There is no answer in this batch. Give at least one.");
    return values.map((value) => this.randomize(this.place(value, coins), coins));
  }

  place(value, coins) {
    return this.domain.place(value, coins);
  }

  /** Refuses a report that no device can have sent. */
  check(report) {
    layout.check(this.fields, report);
  }

  supports() {
    return null;
  }

  tally(reports) {
    if (!this.estimates) throw new InvalidParameter("This client counts categories and numbers; count these at the collector.");
    if (!reports.length) throw new EmptyBatch("There are no reports in this batch to count.");
    reports.forEach((report) => this.check(report));
    return { n: reports.length, counts: this.votes(reports) };
  }

  pack(reports) {
    return layout.pack(reports.map((report) => layout.toBits(this.fields, report)));
  }

  unpack(data, size) {
    const reports = layout.unpack(data, size, this.bits).map((bits) => layout.fromBits(this.fields, bits));
    reports.forEach((report) => this.check(report));
    return reports;
  }

  message(reports) {
    const size = new Uint8Array(8);
    new DataView(size.buffer).setBigUint64(0, BigInt(reports.length), true);
    return sealed(joined([MAGIC, unhex(this.fingerprint), size, this.pack(reports)]));
  }

  read(message) {
    if (message.length < 36) {
      throw new InvalidReport("This is too short to be a message of reports; it was cut off. Copy or send it again.");
    }
    const view = new DataView(message.buffer, message.byteOffset, message.length);
    if (MAGIC.some((byte, i) => message[i] !== byte)) {
      throw new InvalidReport("This is not a message of reports in a format that this client reads.");
    }
    if (view.getUint32(message.length - 4, true) !== crc32(message.subarray(0, -4))) {
      throw new InvalidReport("The message is damaged, cut off or too long: its checksum is wrong. Copy or send it again.");
    }
    const madeBy = hex(message.subarray(8, 24));
    if (madeBy !== this.fingerprint) {
      throw new SurveyMismatch(`These reports were made by mechanism ${madeBy.slice(0, 8)}, not by ${this.fingerprint.slice(0, 8)}.`);
    }
    return this.unpack(message.subarray(32, -4), Number(view.getBigUint64(24, true)));
  }
}

export function refuseChanged() {
  throw new InvalidParameter("The parameters do not fit together: the description was changed after it was written.");
}

export function refuseUnless(good, what) {
  if (!good) throw new InvalidParameter(what);
}

/** Estimates of which the values are estimated one by one, from `n` and the counts of cells. */
export function checkTally(tally, cells) {
  const good = Array.isArray(tally.counts) && tally.counts.length === cells;
  if (!good || tally.counts.some((count) => !(count >= 0 && count <= tally.n))) {
    throw new InvalidReport(`A tally of this mechanism has ${cells} counts from 0 to the number of reports.`);
  }
  if (!(tally.n > 0)) throw new EmptyBatch("This tally holds no reports, so there is nothing to estimate.");
}

/**
 * A report supports a set of values: the true one with probability p, each other one with probability q. Then
 * (C_x / n - q) / (p - q) is unbiased, where C_x reports support x (Wang et al. 2017).
 */
export class PureProtocol extends Mechanism {
  estimates = true;

  votes(reports) {
    const counts = new Array(this.domain.size).fill(0);
    for (const report of reports) for (const cell of this.supports(report)) counts[cell]++;
    return counts;
  }

  /** The estimated number of people behind each value, among those who sent so many reports. */
  debias(counts, reports) {
    const [p, q] = [float(this.p), float(this.q)];
    return counts.map((count) => (count - q * reports) / (p - q));
  }

  /** n times the variance, if `people` is the share of all people who have these shares. */
  noise(shares, people = 1) {
    const [p, q] = [float(this.p), float(this.q)];
    return shares.map((share) => (q * (1 - q) * people + share * (p - q) * (1 - p - q)) / (p - q) ** 2);
  }

  /** How often a blank report supports nothing at all; 0 also where such reports are not told apart. */
  get idle() {
    return 0;
  }

  isIdle() {
    return false;
  }

  estimate(tally) {
    checkTally(tally, this.domain.size);
    const values = this.debias(tally.counts, tally.n).map((count) => count / tally.n);
    const variance = this.noise(values).map((noise) => noise / tally.n);
    return { labels: this.labels, values, variance, n: tally.n };
  }
}

/** The probabilities that a set of `size` out of `values` holds the true value, and a given other one. */
export function chance(values, size, odds) {
  const one = { n: odds.n * BigInt(size), d: odds.d };
  const p = divided(one, BigInt(values - size));
  const other = { n: p.n * BigInt(size - 1) + (p.d - p.n) * BigInt(size), d: p.d * BigInt(values - 1) };
  return { p, q: other };
}

const divided = (a, more) => ({ n: a.n, d: a.n + more * a.d });
export { ONE };
