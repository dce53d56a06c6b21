// One question of a survey. What a page shows of it comes from the answers that its mechanism takes, so that they cannot differ.

import { fingerprint } from "./bytes.js";
import { domainFrom } from "./domains.js";
import { DeniableError, InvalidLaw, InvalidSurvey, OutsideDomain } from "./errors.js";
import { lawful } from "./insist.js";
import { mechanismFromSpec } from "./mechanism.js";

const NO_ANSWER = "(no answer)";
const THEOREM = "Its law rests on a theorem. Use the Python client.";

// What the lines of a question are called in the domain of its mechanism, if they have another name there.
const LINES = { choices: "labels", places: "labels", items: "labels", at_most: "atMost" };

/** Whether this names a survey or a question. */
export const isName = (id) => typeof id === "string" && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(id);
const sorted = (list) => list?.slice().sort();
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** What a page shows of a question with these answers; refused if its lines say something else. */
function asked(data, domain, refuse) {
  const { id, ask = id, kind, optional = false } = data;
  const expected = { ...data, kind: domain?.kind };
  if (optional) expected.choices = [...data.choices, NO_ANSWER];
  const differs = ([line, value]) => {
    const key = LINES[line] ?? line;
    return Object.hasOwn(domain, key) && !same(value, domain[key]);
  };
  if (!isName(id) || !domain || Object.entries(expected).some(differs)) refuse("The mechanism has another domain.");
  const { labels, places, points, atMost, dimensions, clip, low, high } = domain;
  const choices = places && labels.filter((label) => !optional || label !== NO_ANSWER);
  return { id, ask, kind, optional, points, atMost, dimensions, clip, low, high, choices };
}

const skipped = (question) => {
  lawful(question.optional, `Question '${question.id}' was not answered.`, OutsideDomain);
  return NO_ANSWER;
};

export class Question {
  /** `law` is undefined where the survey came without its laws, and null where there is none for this question. */
  constructor(data, number, law) {
    const refuse = (what, kind = InvalidSurvey) => {
      throw new kind(`Question ${number + 1}: ${what}`);
    };
    if (typeof data?.id !== "string" || !data.kind || !data.mechanism) refuse("It is incomplete.");
    if (law === null) refuse(THEOREM, InvalidLaw);
    const { id, kind, weight = 1, optional = false, sensitive, low, mechanism } = data;
    let domain;
    try {
      domain = domainFrom(mechanism.domain);
      if (law) this.mechanism = mechanismFromSpec(mechanism, law);
    } catch (error) {
      if (!(error instanceof DeniableError)) refuse("It is incomplete.");
      refuse(error.message, error instanceof InvalidLaw ? InvalidLaw : InvalidSurvey);
    }
    const secret = sensitive && optional ? [...sensitive, NO_ANSWER] : sensitive;
    if (!same(sorted(secret), sorted(mechanism.sensitive))) refuse("The mechanism has other sensitive answers.");
    const { atMost } = domain;
    this.together = data.questions?.map((own, i) => asked(own, domain.parts?.[i], refuse));
    if (!same(this.together?.length, domain.parts?.length)) refuse("The mechanism has another domain.");
    if (this.together) Object.assign(this, { id, kind, ask: this.together.map((own) => own.ask).join(" ") });
    else Object.assign(this, asked(data, domain, refuse), { weight, sensitive, items: atMost && domain.labels });
    this.rated = low !== undefined;
    /** What permanent answers to this question are kept under: no other question has this name. */
    this.memory = law?.kept ? fingerprint(JSON.stringify(data)) : null;
  }

  /** The questions that people see, one by one. */
  get asked() {
    return this.together ?? [this];
  }

  /** The answer as the mechanism takes it, from those by question: skipping is an answer, where it is allowed, of items without
   * a rating each counts once, and of questions that are reported together it is a list. */
  encode(answers) {
    if (this.together) return this.together.map((own) => answers[own.id] ?? skipped(own));
    const answer = answers[this.id] ?? skipped(this);
    if (!this.items || this.rated) return answer;
    const isList = Array.isArray(answer) || answer instanceof Set;
    lawful(isList, "The answer to this question is a list of names, which may be empty.", OutsideDomain);
    return new Map([...answer].map((name) => [name, this.high]));
  }
}
