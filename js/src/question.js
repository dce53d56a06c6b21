// One question of a survey, with the mechanism that randomizes its answers; both must speak of the same answers.

import { DeniableError, InvalidSurvey, OutsideDomain } from "./errors.js";
import { listed } from "./lists.js";
import { mechanismFromSpec } from "./mechanism.js";

export const NO_ANSWER = "(no answer)";

/** For each kind, what the domain of its mechanism must be. */
const KINDS = {
  category: ({ choices, optional, other }) => ({
    kind: "categories",
    labels: optional ? [...choices, NO_ANSWER] : choices,
    other,
  }),
  number: ({ low, high, steps = 1024, clip = true }) => ({ kind: "interval", low, high, steps, clip }),
  ordered: ({ choices, low, high }) => ({ kind: "ordered", labels: choices ?? listed(high - low + 1, (i) => low + i) }),
  place: ({ places, points }) => ({ kind: "points", labels: places, points }),
  ratings: ({ items, low, high, at_most: atMost = items.length }) => ({
    kind: "key-value",
    labels: items,
    low,
    high,
    atMost,
  }),
  set: (data) => KINDS.ratings({ ...data, low: 0, high: 1 }),
  features: ({ dimensions, low, high }) => ({ kind: "features", dimensions, low, high }),
};

const sorted = (list) => list?.slice().sort();
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export class Question {
  constructor(data, number) {
    const refuse = (what) => {
      throw new InvalidSurvey(`Question ${number + 1}: ${what}`);
    };
    if (!Object.hasOwn(KINDS, data?.kind)) refuse(`this client asks ${Object.keys(KINDS).join(", ")}. Update it to answer.`);
    if (!data.id || !data.mechanism) refuse("it is not complete. Take the survey from its collector, at /v1/survey.");
    let expected;
    try {
      expected = KINDS[data.kind](data);
      this.mechanism = mechanismFromSpec(data.mechanism);
    } catch (error) {
      refuse(error instanceof DeniableError ? error.message : "what it asks is not complete.");
    }
    const { id, ask = id, kind: sort, weight = 1, optional = false, sensitive, items } = data;
    const { domain } = this.mechanism;
    if (Object.keys(expected).some((key) => !same(expected[key], domain[key]))) {
      refuse("the mechanism is for another question: its answers differ.");
    }
    const secret = sensitive && optional ? [...sensitive, NO_ANSWER] : sensitive;
    if (!same(sorted(secret), sorted(this.mechanism.sensitive))) {
      refuse("the mechanism protects other answers than the question says.");
    }
    const { kind, labels, steps, other, ...told } = expected;
    const choices = items ? undefined : labels?.filter((label) => !optional || label !== NO_ANSWER);
    Object.assign(this, { id, ask, kind: sort, weight, optional, sensitive, items, choices }, told);
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
