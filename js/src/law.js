// The law of a question as a collector serves it: the program that turns an answer into a report, and what a device must know
// to prove it and to run it. It may come from anybody, so it is proved before it is there to be run.

import { InvalidLaw } from "./errors.js";
import { within } from "./fraction.js";
import { whole } from "./insist.js";
import { flags, number } from "./layout.js";
import { keeping, remembered } from "./memory.js";
import { paddedOdds } from "./padded.js";
import { Program } from "./program.js";
import { proved } from "./prove.js";
import { evaluate } from "./run.js";

function insist(holds, what) {
  if (!holds) throw new InvalidLaw(what);
}

/** The fields of a report, as the law states them. */
const fieldsFrom = (list) =>
  Array.from(list, ({ name, below, bits, ones }) =>
    below === undefined ? flags(name, whole(bits, 1, 2 ** 20), ones) : number(name, whole(below, 1, 2 ** 53)),
  );

/**
 * A law whose program discloses at most epsilon: `odds` bounds one report and, where an answer is kept, `ever` all reports ever
 * on one answer, by these `rules`.
 */
export class Law {
  /** `secret` are the numbers of the sensitive answers, if only some are. */
  constructor(data, domain, epsilon, secret) {
    const { law, fields, opens, kept, snaps } = data;
    this.domain = domain;
    this.program = new Program(law);
    this.fields = fieldsFrom(fields);
    this.opens = opens;
    this.snaps = snaps === true;
    this.kept = kept ? keeping(this.program, kept, law.nodes) : null;
    this.#match(domain.inputs);
    this.#prove(epsilon, opens && secret && { field: opens[0], from: opens[1], secret });
  }

  #match(inputs) {
    const { nodes, codes, report } = this.program;
    const asked = ({ params: [name], type: { low, high, width } }) => {
      const [most, wide] = (Object.hasOwn(inputs, name) && inputs[name]) || [-1];
      return low === 0n && high === BigInt(most) && width === wide;
    };
    insist(codes.every(asked), "The law is for other answers than the question has.");
    const fits = ({ name, bits, below }, [own, place]) => {
      const { low, high, width, row } = nodes[place].type;
      if (own !== name || row === Boolean(below)) return false;
      return row ? width === bits : width === undefined && low >= 0n && high < below;
    };
    const good = report.length === this.fields.length && this.fields.every((field, i) => fits(field, report[i]));
    insist(good, "The law makes other reports than it states.");
  }

  #prove(epsilon, open) {
    const { atMost } = this.domain;
    const bound = (program) => {
      const odds = atMost && paddedOdds(program, atMost);
      return odds ? { odds, rules: ["distinct keys"] } : proved(program, open);
    };
    const found = bound(this.kept?.base ?? this.program);
    insist(found, "No rule of proof of this device reaches the law, so it is not run.");
    insist(found.odds && within(found.odds, epsilon), "The law discloses more than the survey says, so it is not run.");
    Object.assign(this, found);
    if (!this.kept) return;
    this.ever = found.odds; // a report that is made from what is kept discloses no more than that
    const alone = proved(this.program, open);
    if (alone?.odds && within(alone.odds, epsilon)) Object.assign(this, alone);
  }

  /** A report on an answer; what is kept of earlier ones is in `memory`, a plain object, and is added to. */
  report(answer, coins, memory) {
    const { nodes, report } = this.program;
    const codes = this.domain.codes(answer, this.snaps);
    const code = ({ params: [name] }) => codes[name];
    const values =
      this.kept && memory
        ? remembered(this, memory, code, this.domain.name(codes), coins)
        : evaluate(this.program, [], nodes.keys(), code, coins);
    return Object.fromEntries(report.map(([name, place]) => [name, nodes[place].type.row ? values[place] : Number(values[place])]));
  }
}
