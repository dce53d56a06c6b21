// A mechanism is one randomized vote. What runs on an answer is its law: a program that came with the survey, from anybody, and
// that this device has proved before there is a mechanism at all.

import { proved } from "./prove.js"; // first, since what is alike then stands together in the bundle
import { SecureCoins } from "./coins.js";
import { domainFrom } from "./domains.js";
import { DeniableError, EmptyBatch, OutsideDomain } from "./errors.js";
import { logUp, within, written } from "./fraction.js";
import { insist, lawful, whole } from "./insist.js";
import * as layout from "./layout.js";
import { keeping, remembered } from "./memory.js";
import { Program } from "./program.js";

/** The fields of a report, as the law states them. */
const fieldsFrom = (list) =>
  Array.from(list, ({ name, below, bits, ones }) =>
    below === undefined ? layout.flags(name, whole(bits, 1, 2 ** 20), ones) : layout.number(name, whole(below, 1, 2 ** 53)),
  );

/** Whether the program asks for codes of these answers only, and makes a report with these fields. */
function check({ nodes, codes, report }, { inputs }, fields) {
  const isAsked = ({ params: [name], form: { least, most, width, distinct } }) => {
    const [end, wide, differ] = Object.hasOwn(inputs, name) ? inputs[name] : [-1];
    // That numbers differ must be sure: else it would depend on the answer whether anything is reported.
    return least === 0n && most === BigInt(end) && width === wide && (!distinct || differ);
  };
  lawful(codes.every(isAsked), "The law is for other answers than this device encodes. Use the Python client.");
  const fits = ({ name, bits, below }, [own, place]) => {
    const { least, most, width, row } = nodes[place].form;
    if (own !== name || row === Boolean(below)) return false;
    return row ? width === bits : !width && least >= 0n && most < below;
  };
  const good = report.length === fields.length && fields.every((field, i) => fits(field, report[i]));
  lawful(good, "The law makes other reports than stated.");
}

export const NO_LAW = "There is no law to run: see /v1/law.";

export class Mechanism {
  #program;
  #kept;
  #snaps;

  constructor(spec, { law, fields, opens, kept, snaps, reads }) {
    const { mechanism: wire, epsilon, sensitive } = spec;
    const domain = domainFrom(spec.domain);
    const secret = sensitive && new Set(sensitive.map((label) => domain.places.get(label)));
    insist(epsilon > 0 && epsilon <= 100 && !secret?.has(undefined));
    Object.assign(this, { spec, wire, epsilon, domain, sensitive, size: domain.size, fields: fieldsFrom(fields) });
    this.bits = this.fields.reduce((sum, field) => sum + field.bits, 0);
    this.#program = new Program(law);
    this.#snaps = snaps === true;
    this.#kept = kept && keeping(this.#program, kept, law.nodes);
    check(this.#program, domain, this.fields);
    if (opens && secret) {
      this.opens = opens;
      this.open = [...domain.places.values()].filter((place) => !secret.has(place));
    }
    this.#prove(this.open && { field: opens[0], from: opens[1], secret });
    this.reads = reads ?? {};
  }

  /** `odds` bounds one report and, where an answer is kept, `ever` all reports ever on one answer, by these `rules`. */
  #prove(open) {
    const isSmall = (found) => found?.odds && within(found.odds, this.epsilon);
    const found = proved(this.#kept?.[0] ?? this.#program, open);
    lawful(found, "No rule of proof reaches the law.");
    lawful(isSmall(found), "The law discloses more than the survey says.");
    const alone = this.#kept && proved(this.#program);
    // A report that is made from what is kept discloses no more than that.
    Object.assign(this, found, isSmall(alone) && alone, { ever: this.#kept && found.odds });
  }

  get labels() {
    return this.domain.labels;
  }

  get loss() {
    return this.#stated(this.odds);
  }

  /** The loss of all reports ever on one answer, where permanent answers are kept. */
  get lifetimeLoss() {
    return this.ever ? this.#stated(this.ever) : null;
  }

  #stated(odds) {
    const protects = this.open ? "sensitive values" : this.domain.protects;
    return { odds: written(odds), epsilon: logUp(odds), protects, proof: "proved", rules: this.rules };
  }

  perturb(values, coins = new SecureCoins(), memory) {
    lawful(Array.isArray(values), "Answers must be a list: perturb([answer]).", OutsideDomain);
    lawful(values.length, "This batch has no answers.", EmptyBatch);
    return values.map((value) => this.#report(this.domain.codes(value, this.#snaps), coins, memory));
  }

  /** One report; what is kept of earlier ones is in `memory`, a plain object, and is added to. */
  #report(codes, coins, memory) {
    const { nodes, report } = this.#program;
    const values =
      this.#kept && memory
        ? remembered(this.#program, this.#kept, memory, codes, this.domain.name(codes), coins)
        : this.#program.run(codes, coins);
    return Object.fromEntries(report.map(([name, place]) => [name, nodes[place].form.row ? values[place] : Number(values[place])]));
  }

  pack(reports) {
    return layout.pack(this.fields, reports);
  }
}

/** The mechanism with this description, and with the law that a collector serves for it. */
export function mechanismFromSpec(spec, law) {
  lawful(law, NO_LAW);
  try {
    return new Mechanism(spec, law);
  } catch (error) {
    if (error instanceof DeniableError) throw error;
    return insist(false); // something is missing, or of another type
  }
}
