// One question of a survey, with the mechanism that randomizes its answers; both must speak of the same answers.

import { DeniableError, InvalidSurvey, OutsideDomain } from "./errors.js";
import { mechanismFrom } from "./families.js";
import { plain } from "./text.js";

export const NO_ANSWER = "(no answer)";

const choices = ({ choices, low, high }) => choices ?? Array.from({ length: high - low + 1 }, (_, i) => low + i);

/** For each kind, what the domain of its mechanism must be, and what a person may be told about it. */
const KINDS = {
  category: (data) => ({
    domain: { kind: "categories", labels: data.optional ? [...data.choices, NO_ANSWER] : data.choices, other: data.other },
    told: { choices: data.choices, sensitive: data.sensitive },
  }),
  number: ({ low, high, steps = 1024, clip = true }) => ({ domain: { kind: "interval", low, high, steps, clip }, told: { low, high, clip } }),
  ordered: (data) => ({ domain: { kind: "ordered", labels: choices(data) }, told: { choices: choices(data) } }),
  place: ({ places, points }) => ({ domain: { kind: "points", labels: places, points }, told: { choices: places, points } }),
  ratings: ({ items, low, high, at_most: atMost = items.length }) => ({
    domain: { kind: "key-value", labels: items, low, high, atMost },
    told: { items, low, high, atMost },
  }),
  set: ({ items, at_most: atMost = items.length }) => ({
    domain: { kind: "key-value", labels: items, low: 0, high: 1, atMost },
    told: { items, atMost },
  }),
  features: ({ dimensions, low, high }) => ({ domain: { kind: "features", dimensions, low, high }, told: { dimensions, low, high } }),
};

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export class Question {
  constructor(tree, number) {
    const refuse = (what) => {
      throw new InvalidSurvey(`Question ${number + 1}: ${what}`);
    };
    const data = plain(tree);
    if (!Object.hasOwn(KINDS, data?.kind)) {
      refuse(`this release asks questions of kind ${Object.keys(KINDS).join(", ")}. Update it to answer this survey.`);
    }
    if (!data.mechanism) refuse("the law of its reports is missing. Take the survey from its collector, at /v1/survey.");
    if (typeof data.id !== "string" || !data.id) refuse("its id is missing.");
    try {
      this.mechanism = mechanismFrom(tree.mechanism);
    } catch (error) {
      if (!(error instanceof DeniableError)) throw error;
      refuse(error.message);
    }
    let expected;
    try {
      expected = KINDS[data.kind](data);
    } catch {
      refuse("what it asks is not complete.");
    }
    const { id, ask = id, kind, weight = 1, optional = false } = data;
    Object.assign(this, { id, ask, kind, weight, optional }, expected.told);
    const { domain, sensitive = null } = this.mechanism;
    if (Object.keys(expected.domain).some((key) => !same(expected.domain[key], domain[key]))) {
      refuse("the mechanism is for another question: its answers differ.");
    }
    const secret = data.sensitive && optional ? [...data.sensitive, NO_ANSWER] : data.sensitive;
    if (!same(secret?.toSorted?.() ?? secret?.slice().sort() ?? null, sensitive?.slice().sort() ?? null)) {
      refuse("the mechanism protects other answers than the question says.");
    }
  }

  /** How many bytes a report takes. */
  get section() {
    return Math.ceil(this.mechanism.bits / 8);
  }

  /** The answer as the mechanism takes it: silence is an answer, where it is allowed. */
  given(answer) {
    if (answer === undefined || answer === null) {
      if (!this.optional) throw new OutsideDomain(`Question '${this.id}' was not answered. Answer it.`);
      return NO_ANSWER;
    }
    if (this.kind !== "set") return answer;
    if (!Array.isArray(answer) && !(answer instanceof Set)) {
      throw new OutsideDomain("Which of these a person has is a list of names, which may be empty.");
    }
    return new Map([...answer].map((name) => [name, 1])); // each counts once
  }
}
