// A mechanism is one randomized vote. What runs on an answer is its law, after this device has proved it.

import { SecureCoins } from "./coins.js";
import { domainFrom } from "./domains.js";
import { DeniableError, EmptyBatch, InvalidLaw, InvalidReport, OutsideDomain } from "./errors.js";
import { logUp, written } from "./fraction.js";
import { insist } from "./insist.js";
import { Law } from "./law.js";
import * as layout from "./layout.js";
import { trueAt } from "./lists.js";
import { Reader } from "./reading.js";

export class Mechanism {
  #law;
  #open;

  constructor(spec, law) {
    const { mechanism: wire, epsilon, sensitive } = spec;
    const domain = domainFrom(spec.domain);
    const secret = sensitive && new Set(sensitive.map((label) => domain.places.get(label)));
    insist(epsilon > 0 && epsilon <= 100 && !secret?.has(undefined));
    Object.assign(this, { spec, wire, epsilon, domain, sensitive, size: domain.size });
    if (!law) return;
    this.#law = new Law(law, domain, epsilon, secret);
    this.#open = this.#law.opens && secret && trueAt(domain.labels.map((_, place) => !secret.has(place)));
    this.reader = new Reader(law.reads, domain);
  }

  get labels() {
    return this.domain.labels;
  }

  /** Whether a law came with it and was proved on this device; without one, no report can be made or read. */
  get proved() {
    return Boolean(this.#law);
  }

  #needed() {
    if (!this.#law) throw new InvalidLaw("There is no law to run. Give the one that the collector serves at /v1/law.");
    return this.#law;
  }

  get fields() {
    return this.#needed().fields;
  }

  /** The size of one report. */
  get bits() {
    return layout.width(this.fields);
  }

  /** The odds that this device proved, of one report. */
  get odds() {
    return this.#needed().odds;
  }

  get loss() {
    return this.#stated(this.odds);
  }

  /** The loss of all reports ever on one answer, where permanent answers are kept. */
  get lifetimeLoss() {
    return this.#needed().ever ? this.#stated(this.#law.ever) : null;
  }

  #stated(odds) {
    const protects = this.#open ? "sensitive values" : this.domain.protects;
    return { odds: written(odds), epsilon: logUp(odds), protects, proof: "proved", rules: this.#law.rules };
  }

  perturb(values, coins = new SecureCoins(), memory = undefined) {
    const law = this.#needed();
    if (!Array.isArray(values)) throw new OutsideDomain("Answers must be a list: perturb([answer]).");
    if (!values.length) throw new EmptyBatch("This batch has no answers.");
    return values.map((value) => law.report(value, coins, memory));
  }

  /** The place of the answer that a report discloses, or null. */
  disclosed(report) {
    const [field, from] = this.#needed().opens ?? [];
    return this.#open?.[report[field] - from] ?? null;
  }

  supports(report) {
    const open = this.disclosed(report);
    return open === null ? this.reader.supports(report) : [open];
  }

  check(report) {
    const [{ name: first }] = this.fields;
    const open = this.disclosed(report) !== null;
    layout.check(this.fields, report, open);
    // Who discloses an answer says nothing else.
    const more = ([name, value]) => name !== first && (Array.isArray(value) ? value.includes(true) : value);
    if (open && Object.entries(report).some(more)) {
      throw new InvalidReport("A report discloses an answer and has a protected part too.");
    }
    if (this.reader.coordinates) this.reader.vector(report);
  }

  pack(reports) {
    return layout.pack(this.fields, reports);
  }

  unpack(data, size) {
    const reports = layout.unpack(this.fields, data, size);
    reports.forEach((report) => this.check(report));
    return reports;
  }
}

/** The mechanism with this description, and with the law that a collector serves for it. */
export function mechanismFromSpec(spec, law) {
  try {
    return new Mechanism(spec, law);
  } catch (error) {
    if (error instanceof DeniableError) throw error;
    return insist(false); // something is missing, or of another type
  }
}
