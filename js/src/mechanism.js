// A mechanism is one randomized vote: a law, with what perturbs, packs, counts and estimates by it.

import * as categories from "./categories.js";
import { SecureCoins } from "./coins.js";
import * as counting from "./counting.js";
import { domainFrom } from "./domains.js";
import { DeniableError, EmptyBatch, InvalidLaw, InvalidParameter, OutsideDomain } from "./errors.js";
import { less, logUp, oddsBelow, written } from "./fraction.js";
import { insist } from "./insist.js";
import * as keys from "./keys.js";
import { lawFor, perturbed } from "./law.js";
import * as layout from "./layout.js";
import { trueAt } from "./lists.js";
import * as numbers from "./numbers.js";
import { open } from "./open.js";
import { proved } from "./prove.js";
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
  #law = null;

  constructor(spec, program) {
    const { mechanism: wire, epsilon } = spec;
    oddsBelow(epsilon);
    this.domain = domainFrom(spec.domain);
    insist((wire === "certain-1") === (this.domain.kind === "single"));
    const { place, size, labels } = this.domain;
    const law = LAWS[wire](spec, this.domain, spec.base && mechanismFromSpec(spec.base));
    const { codes } = this.domain;
    const defaults = { proof: "proved", protects: "any two values", place, codes, supports: () => null };
    Object.assign(this, defaults, { wire, epsilon, size, labels, spec }, law);
    insist(this.odds); // a law that rules answers out promises nothing
    this.#check = law.check;
    delete this.check;
    this.bits = layout.width(this.fields);
    this.estimates = counting.cellsOf(this) > 0;
    if (program !== undefined) this.#law = this.#proved(lawFor(program, this.domain, this.fields));
  }

  /** Which reports disclose no answer, and which answers are sensitive; undefined if all are. */
  get #open() {
    if (!this.hiding) return undefined;
    const { secret, others } = this.hiding;
    const [{ name: field, below }] = this.fields;
    return { field, from: below - others.length, secret: new Set(trueAt(secret.map((place) => place >= 0))) };
  }

  /** The law that a survey carries runs if this device proves it; what no rule reaches is left to our own code. */
  #proved(program) {
    const { odds } = proved(program, this.#open) ?? {};
    if (odds && !less(this.odds, odds)) return program;
    // Where an encoder is given a private draw, it is proved for each of its values, which may be more than the loss.
    const isSampled = program.codes.some(({ args }) => args.some((arg) => program.nodes[arg].op !== "public"));
    if (odds === undefined || isSampled) return null;
    throw new InvalidLaw("The law discloses more than the survey says. It is not answered.");
  }

  /** Whether the law that runs was proved on this device. */
  get proved() {
    return this.#law !== null;
  }

  get loss() {
    const { odds, protects, proof } = this;
    return { odds: written(odds), epsilon: logUp(odds), protects, proof };
  }

  perturb(values, coins = new SecureCoins()) {
    if (!Array.isArray(values)) throw new OutsideDomain("Answers must be a list: perturb([answer]).");
    if (!values.length) throw new EmptyBatch("This batch has no answers.");
    if (this.#law) return values.map((value) => perturbed(this.#law, this.codes(value), coins));
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

/** The mechanism with this description, and with the law that a survey carries for it. */
export function mechanismFromSpec(spec, law) {
  if (!Object.hasOwn(LAWS, spec?.mechanism)) {
    throw new InvalidParameter("This client does not support that mechanism. Update it.");
  }
  try {
    return new Mechanism(spec, law);
  } catch (error) {
    if (error instanceof DeniableError) throw error;
    return insist(false); // something is missing, or of another type
  }
}
