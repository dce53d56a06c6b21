// One question of a survey, with the mechanism that randomizes its answers; both must speak of the same answers.

import { DeniableError, InvalidSurvey, OutsideDomain } from "./errors.js";
import { KINDS, NO_ANSWER } from "./kinds.js";
import { mechanismFromSpec } from "./mechanism.js";

const sorted = (list) => list?.slice().sort();
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export class Question {
  constructor(data, number) {
    const refuse = (what) => {
      throw new InvalidSurvey(`Question ${number + 1}: ${what}`);
    };
    if (!Object.hasOwn(KINDS, data?.kind)) refuse(`This client supports ${Object.keys(KINDS).join(", ")}. Update it.`);
    if (!data.id || !data.mechanism) refuse("It is incomplete. Fetch the survey from its collector, at /v1/survey.");
    let expected;
    try {
      expected = KINDS[data.kind].domain(data);
      this.mechanism = mechanismFromSpec(data.mechanism);
    } catch (error) {
      refuse(error instanceof DeniableError ? error.message : "It is incomplete.");
    }
    const { id, ask = id, kind: sort, weight = 1, optional = false, sensitive, items } = data;
    const { domain } = this.mechanism;
    if (Object.keys(expected).some((key) => !same(expected[key], domain[key]))) {
      refuse("The mechanism has another domain.");
    }
    const secret = sensitive && optional ? [...sensitive, NO_ANSWER] : sensitive;
    if (!same(sorted(secret), sorted(this.mechanism.sensitive))) {
      refuse("The mechanism has other sensitive answers.");
    }
    const { kind, labels, steps, other, ...more } = expected;
    const choices = items ? undefined : labels?.filter((label) => !optional || label !== NO_ANSWER);
    Object.assign(this, { id, ask, kind: sort, weight, optional, sensitive, items, choices }, more);
  }

  /** How many bytes a report takes. */
  get section() {
    return Math.ceil(this.mechanism.bits / 8);
  }

  /** What a report says of an item besides its name, in words. */
  get ends() {
    return KINDS[this.kind].ends;
  }

  /** The answer as the mechanism takes it: skipping is an answer, where it is allowed. */
  encode(answer) {
    if (answer === undefined || answer === null) {
      if (!this.optional) throw new OutsideDomain(`Question '${this.id}' was not answered.`);
      return NO_ANSWER;
    }
    const { encode } = KINDS[this.kind];
    return encode ? encode(answer) : answer;
  }
}
