// A mechanism is one randomized vote: a law, with what perturbs, packs, counts and estimates by it.

import * as categories from "./categories.js";
import { SecureCoins } from "./coins.js";
import * as counting from "./counting.js";
import { domainFrom } from "./domains.js";
import { DeniableError, EmptyBatch, InvalidParameter, OutsideDomain } from "./errors.js";
import { logUp, oddsBelow, written } from "./fraction.js";
import { insist } from "./insist.js";
import * as keys from "./keys.js";
import * as layout from "./layout.js";
import * as numbers from "./numbers.js";
import { open } from "./open.js";
import * as releases from "./releases.js";
import * as rings from "./rings.js";
import * as vectors from "./vectors.js";

/** A law is made from a description and a domain: `odds` it can cost, `fields` of a report, `randomize(truth, coins)`. */
const LAWS = {
  "certain-1": categories.certain,
  "direct-1": categories.direct,
  "unary-1": categories.unary,
  "subset-1": categories.subset,
  "hadamard-1": categories.hadamard,
  "hashing-1": rings.hashing,
  "wheel-1": rings.wheel,
  "design-1": rings.design,
  "bipartite-1": releases.bipartite,
  "coarsened-1": releases.coarsened,
  "duchi-1": numbers.duchi,
  "three-outputs-1": numbers.threeOutputs,
  "piecewise-1": numbers.piecewise,
  "hybrid-1": numbers.hybrid,
  "feature-vector-1": vectors.featureVector,
  "duchi-vector-1": vectors.duchiVector,
  "pckv-unary-1": keys.pckvUnary,
  "pckv-direct-1": keys.pckvDirect,
  "key-sampling-1": keys.keySampling,
  "utility-1": open,
};

export class Mechanism {
  #check;

  constructor(spec) {
    const { mechanism: wire, epsilon } = spec;
    oddsBelow(epsilon);
    this.domain = domainFrom(spec.domain);
    insist((wire === "certain-1") === (this.domain.kind === "single"));
    const { place, size, labels } = this.domain;
    const law = LAWS[wire](spec, this.domain, spec.base && mechanismFromSpec(spec.base));
    const defaults = { proof: "proved", protects: "any two values", place, supports: () => null };
    Object.assign(this, defaults, { wire, epsilon, size, labels, spec }, law);
    insist(this.odds); // a law that rules answers out promises nothing
    this.#check = law.check;
    delete this.check;
    this.bits = layout.width(this.fields);
    this.estimates = counting.cellsOf(this) > 0;
  }

  get loss() {
    const { odds, protects, proof } = this;
    return { odds: written(odds), epsilon: logUp(odds), protects, proof };
  }

  perturb(values, coins = new SecureCoins()) {
    if (!Array.isArray(values)) throw new OutsideDomain("Answers must be a list: perturb([answer]).");
    if (!values.length) throw new EmptyBatch("This batch has no answers.");
    return values.map((value) => this.randomize(this.place(value, coins), coins));
  }

  check(report) {
    layout.check(this.fields, report);
    this.#check?.(report);
  }

  tally(reports) {
    return counting.tally(this, reports);
  }

  estimate(tally) {
    return counting.estimate(this, tally);
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

/** The mechanism with this description. */
export function mechanismFromSpec(spec) {
  if (!Object.hasOwn(LAWS, spec?.mechanism)) {
    throw new InvalidParameter("This client does not support that mechanism. Update it.");
  }
  try {
    return new Mechanism(spec);
  } catch (error) {
    if (error instanceof DeniableError) throw error;
    return insist(false); // something is missing, or of another type
  }
}
