// The contract between those who ask and those who answer, and what a device does with it.

import { fingerprint, joined } from "./bytes.js";
import { SecureCoins } from "./coins.js";
import { InvalidLaw, InvalidReport, InvalidSurvey, OutsideDomain, SurveyMismatch, Unavailable } from "./errors.js";
import { less, logUp, ONE, times, within, written } from "./fraction.js";
import { lawful } from "./insist.js";
import { NO_LAW } from "./mechanism.js";
import { encode } from "./message.js";
import { isName, Question } from "./question.js";

const FORMAT = "deniable survey 1";
const LAW_FORMAT = "deniable law 1";
const UNREAD = "This is not a survey or law in a format that this client reads.";
const SKEW = 600; // seconds by which a device's clock may be behind

export const clock = () => Date.now() / 1000;

export class Survey {
  static parse(text, options = {}) {
    return new Survey(text, typeof options === "string" ? { expected: options } : options);
  }

  /** The survey that a collector serves, with its laws. */
  static async fetch(url, { expected, fetch = globalThis.fetch } = {}) {
    const served = async (name) => {
      const answer = await fetch(`${url.replace(/\/+$/, "")}/v1/${name}`);
      lawful(answer.ok, `The collector answered with status ${answer.status}.`, Unavailable);
      return answer.text();
    };
    const [text, law] = await Promise.all(["survey", "law"].map(served));
    if (text.includes('strings"')) await import("./strings.js");
    return new Survey(text, { law, expected });
  }

  constructor(text, { law, expected }) {
    const tree = parsed(text, InvalidSurvey);
    const about = tree?.survey ?? {};
    const isNamed = tree?.format === FORMAT && isName(about.id) && Array.isArray(tree.question);
    lawful(isNamed && tree.question.length <= 64, UNREAD, InvalidSurvey);
    this.fingerprint = fingerprint(text);
    const isExpected = expected === undefined || expected === this.fingerprint;
    lawful(isExpected, "The survey has another fingerprint than expected.", SurveyMismatch);
    const {
      id,
      title = id,
      epsilon,
      budget = "equal",
      sample = 1,
      people,
      opens = null,
      closes = null,
      window = null,
      round = 1,
    } = about;
    Object.assign(this, { id, title, epsilon, budget, sample, people, opens, closes, window, round });
    this.minimumReports = about.minimum_reports;
    this.keepReports = about.keep_reports ?? false;
    /** What a ledger knows this survey by: its fingerprint, or what is the same in all its rounds. */
    const unlike = (key, value) => (key === "mechanism" || key === "round" ? undefined : value);
    this.lasting = about.rounds ? fingerprint(JSON.stringify(tree, unlike)) : this.fingerprint;
    this.invitations = tree.invitations ?? null;
    this.tree = tree;
    const laws = law === undefined ? null : lawsFor(law, this.fingerprint);
    this.questions = tree.question.map((each, number) => new Question(each, number, laws ? lawOf(laws, each) : undefined));
    const ids = new Set(this.questions.map((question) => question.id));
    const good = ids.size === this.questions.length && ["equal", "weighted", "sampled"].includes(budget) && sample;
    const isTimed = [opens, closes, window, round, sample].every((each) => each === null || (Number.isInteger(each) && each > 0));
    lawful(good && isTimed && sample <= ids.size && epsilon > 0 && epsilon <= 100, UNREAD, InvalidSurvey);
    /** Whether the laws of all questions came with the survey and were proved on this device; else it can only be read. */
    this.proved = laws !== null;
    lawful(!this.proved || within(this.worst, epsilon), "The laws together disclose more than the survey says.");
  }

  /** The odds of all that one person answers; of a random part, of the worst part. */
  get worst() {
    let all = this.questions.map((question) => question.mechanism.odds);
    if (this.budget === "sampled") all = all.sort((a, b) => (less(a, b) ? 1 : -1)).slice(0, this.sample);
    return all.reduce(times, ONE);
  }

  get loss() {
    if (!this.proved) return null;
    const losses = this.questions.map((question) => question.mechanism.loss);
    const [protects, rules] = ["protects", "rules"].map((name) => [...new Set(losses.flatMap((each) => each[name]))]);
    return { odds: written(this.worst), epsilon: logUp(this.worst), protects: protects.join("; "), proof: "proved", rules };
  }

  // Time, only in whole periods

  period(now = clock()) {
    return this.window === null || this.opens === null ? this.round - 1 : Math.max(0, Math.floor((now - this.opens) / this.window));
  }

  isOpen(now = clock()) {
    return (this.opens === null || now >= this.opens - SKEW) && (this.closes === null || now < this.closes);
  }

  // Parts: which questions a person answers

  drawPart(coins = new SecureCoins()) {
    const chosen = this.budget === "sampled" ? coins.subset(this.questions.length, this.sample) : this.questions;
    return chosen.reduce((bits, bit, place) => (bit ? bits | (1n << BigInt(place)) : bits), 0n);
  }

  part(bits) {
    const chosen = this.questions.filter((_, place) => (bits >> BigInt(place)) & 1n);
    const wanted = this.budget === "sampled" ? this.sample : this.questions.length;
    const isWhole = chosen.length === wanted && !(bits >> BigInt(this.questions.length));
    lawful(isWhole || bits === this.later, "No device answers these questions.", InvalidReport);
    return chosen;
  }

  /** `memories` holds what was kept of permanent answers, a plain object for each question by its id; it is added to. */
  randomize(answers, { coins = new SecureCoins(), part = this.drawPart(coins), now, id = freshId(), memories = {} } = {}) {
    this.needLaw();
    answers = { __proto__: null, ...answers }; // a question may be called "constructor"
    memories = { __proto__: null, ...memories };
    const known = new Set(this.questions.flatMap((each) => each.asked.map((question) => question.id)));
    lawful(Object.keys(answers).every((key) => known.has(key)), "This survey does not ask that question.", OutsideDomain);
    const sections = this.part(part).map((question) => {
      const { id, mechanism } = question;
      return mechanism.pack(mechanism.perturb([question.encode(answers)], coins, memories[id]));
    });
    return encode(this.fingerprint, id, part, this.period(now), joined(sections));
  }

  needLaw() {
    lawful(this.proved, NO_LAW);
  }
}

function parsed(text, kind) {
  try {
    return JSON.parse(text);
  } catch {
    return lawful(false, UNREAD, kind);
  }
}

/** The laws in this text by question, if they are those of the survey with this fingerprint. */
function lawsFor(text, survey) {
  const { format, survey: made, questions } = parsed(text, InvalidLaw) ?? {};
  lawful(format === LAW_FORMAT && questions, UNREAD);
  lawful(made === survey, "The law belongs to another survey.");
  return questions;
}

const lawOf = (laws, question) => (Object.hasOwn(laws, question?.id) ? laws[question.id] : null);

/** 16 random bytes that name a report. Not from the coins: they are for the law. */
const freshId = () => new SecureCoins().draw(16);
