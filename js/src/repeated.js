// A survey that is asked again and again: at most one report in a period, from answers that are kept. Loaded only where a
// survey asks again. What was kept and the report are written together, before anything is sent.

import { hex, unhex } from "./bytes.js";
import { BudgetSpent, Device, InvalidLaw, InvalidSurvey, openLedger, SecureCoins } from "./index.js";
import { within } from "./fraction.js";
import { sendUntil } from "./sending.js";

const MOST_PERIODS = 4096; // that are remembered; reports for earlier ones are not made any more
const LONGEST_SPAN = 1000;
const MOST_DIGITS = 2e6; // of odds that are multiplied
const MADE = "There is already a report for this period. The same one can be sent again, but not a new one.";

const insist = (good, what, kind) => {
  if (!good) throw new kind(what);
};

/** What a table has under a name of its own: a survey may be called "constructor". */
const own = (table, name) => (Object.hasOwn(table ?? {}, name) ? table[name] : undefined);

/** Whether each question is asked in more than one period. */
const asksAgain = ({ repeat = "once" }) => repeat !== "once";

/** Whether a survey asks anything again. */
export const isRepeated = (survey) => survey.tree.question.some(asksAgain);

/**
 * In one of how many periods a person reports. Refused is what would let a server have fresh reports as often as it likes: another
 * way to repeat, answers that are not kept, a span of no periods, or periods that are not those of the clock.
 */
function spanOf({ tree: { survey: about, question: asked }, questions, opens, closes, window }) {
  const again = asked.filter(asksAgain);
  const { repeat, span = 1 } = again[0] ?? {};
  const keeps = (question, place) => !asksAgain(question) || questions[place].mechanism.lifetimeLoss;
  const isKept = repeat === "permanent" && span === 1 && about.lifetime_epsilon > 0 && asked.every(keeps);
  const isInTurn = repeat === "windows" && Number.isInteger(span) && span > 1 && span <= LONGEST_SPAN;
  const isAlike = again.every((question) => question.repeat === repeat && (question.span ?? 1) === span);
  const isTimed = [opens, closes ?? 0, window].every(Number.isInteger) && window > 0 && !about.rounds;
  insist((isKept || isInTurn) && isAlike && isTimed, "How the survey repeats is not one of the ways that this client knows.", InvalidSurvey);
  return span;
}

/** The odds of all reports ever on one answer to each question, as a fraction; null where they grow with time, or are too many. */
function everOf(survey, span) {
  const { opens, closes, window } = survey;
  const reports = closes === null ? 0 : Math.ceil(Math.ceil((closes - opens) / window) / span);
  const found = survey.questions.map(({ mechanism: { loss, lifetimeLoss } }, place) => {
    if (!asksAgain(survey.tree.question[place])) return [loss.odds, 1];
    return lifetimeLoss ? [lifetimeLoss.odds, 1] : [loss.odds, reports];
  });
  if (!found.every(([text, times]) => times > 0 && text.length * times <= MOST_DIGITS)) return null;
  let all = found.map(([text, times]) => text.split("/").map((part) => BigInt(part) ** BigInt(times)));
  if (survey.budget === "sampled") all = all.sort(([a, b], [c, d]) => (a * d < c * b ? 1 : -1)).slice(0, survey.sample);
  return all.reduce((one, [n, d = 1n]) => ({ n: one.n * n, d: one.d * d }), { n: 1n, d: 1n });
}

export class RepeatedDevice extends Device {
  #coins;
  #now;
  #span;

  constructor(survey, { ledger, coins, now = () => Date.now() / 1000 } = {}) {
    super(survey, { ledger, coins, now });
    this.#coins = coins;
    this.#now = now;
    survey.needLaw();
    const asked = survey.tree.question;
    this.#span = spanOf(survey);
    survey.later = asked.reduce((bits, question, place) => (asksAgain(question) ? bits | (1n << BigInt(place)) : bits), 0n);
    const { lifetime_epsilon: lifetime } = survey.tree.survey;
    const ever = everOf(survey, this.#span);
    const holds = lifetime === undefined || (ever && within(ever, lifetime));
    insist(holds, "All reports together disclose more than the survey says, so it is not answered.", InvalidLaw);
  }

  /** The period that it is now. */
  get period() {
    return this.survey.period(this.#now());
  }

  async #opened() {
    return (this.ledger ??= await openLedger());
  }

  async #state() {
    const data = await (await this.#opened()).change();
    return own(data.repeated, this.survey.id) ?? { periods: [], waiting: [], reports: 0 };
  }

  #name(what) {
    return `${this.survey.id} ${this.survey.lasting}${what}`;
  }

  /** In which of `span` periods this person reports: drawn once, and kept. */
  async #turn() {
    if (this.#span === 1) return 0;
    const fresh = String((this.#coins ?? new SecureCoins()).below(this.#span));
    return Number(await (await this.#opened()).part(this.#name(" turn"), fresh));
  }

  #may(period, { periods }) {
    const tooOld = periods.length >= MOST_PERIODS && period < Math.min(...periods);
    return !tooOld && periods.every((made) => Math.abs(period - made) >= this.#span);
  }

  /** Whether a report is wanted now: it is this person's turn, and there is none for this period. */
  async due() {
    const period = this.period;
    return period % this.#span === (await this.#turn()) && this.#may(period, await this.#state());
  }

  /** When the next period begins in which this person is asked, in seconds since 1970. */
  async nextDue() {
    const { opens, window } = this.survey;
    const period = this.period;
    const turn = await this.#turn();
    let next = period + ((((turn - period) % this.#span) + this.#span) % this.#span);
    if (next === period && !(await this.due())) next += this.#span;
    return opens + next * window;
  }

  async #part() {
    const { survey } = this;
    const ledger = await this.#opened();
    const entry = await super.entry(); // which refuses a changed survey
    if (survey.budget === "sampled") return BigInt(await ledger.part(this.#name(""), String(survey.drawPart(this.#coins))));
    return entry ? survey.later : survey.drawPart(this.#coins);
  }

  async questions() {
    return this.survey.part(await this.#part());
  }

  /** What the ledger holds for this period. */
  async entry() {
    const entry = await super.entry();
    return entry && (await this.#state()).periods.includes(this.period) ? entry : null;
  }

  async answer(answers) {
    const { survey } = this;
    const ledger = await this.#opened();
    const now = this.#now();
    const period = survey.period(now);
    insist(survey.closes === null || now < survey.closes, "The survey is closed, so nothing more is reported.", BudgetSpent);
    insist(period % this.#span === (await this.#turn()), "It is not this person's turn in this period.", BudgetSpent);
    const part = await this.#part();
    const coins = this.#coins ?? new SecureCoins();
    for (;;) {
      const asked = survey.part(part);
      const kept = asked.filter((question) => question.memory && asksAgain(survey.tree.question[survey.questions.indexOf(question)]));
      const before = await Promise.all(kept.map((question) => ledger.memory(question.memory)));
      const memories = Object.fromEntries(kept.map((question, i) => [question.id, JSON.parse(before[i] ?? "{}")]));
      const many = (memory) => Object.keys(memory?.answers ?? {}).length;
      const known = kept.map((question) => many(memories[question.id]));
      const message = survey.randomize(answers, { coins, part, now, memories });
      const fresh = (question) => many(memories[question.id]) - known[kept.indexOf(question)];
      const cost = (question) =>
        kept.includes(question) ? fresh(question) * question.mechanism.lifetimeLoss.epsilon : question.mechanism.loss.epsilon;
      const paid = asked.reduce((sum, question) => sum + cost(question), 0);
      let isAdded = false;
      await ledger.change((data) => {
        const held = (data.memories ??= {});
        // Another page may have kept an answer meanwhile: then a report must be made from that one.
        if (kept.some((question, i) => (held[question.memory] ?? null) !== before[i])) return;
        const state = own(data.repeated, survey.id) ?? { periods: [], waiting: [], reports: 0 };
        (data.repeated ??= {})[survey.id] = state;
        insist(this.#may(period, state), MADE, BudgetSpent);
        const old = own(data.surveys, survey.id);
        const spent = Object.values(data.surveys).reduce((sum, { epsilon }) => sum + epsilon, 0);
        const isWithin = !paid || !(spent + paid > data.lifetime);
        insist(isWithin, `With this answer, epsilon ${paid}, you would exceed the lifetime limit of ${data.lifetime}.`, BudgetSpent);
        if (old?.state === "kept") state.waiting.push(old.message);
        state.periods = [...state.periods, period].sort((a, b) => a - b).slice(-MOST_PERIODS);
        state.reports += 1;
        kept.forEach((question) => (held[question.memory] = JSON.stringify(memories[question.id])));
        const epsilon = (old?.epsilon ?? 0) + paid;
        data.surveys[survey.id] = { fingerprint: survey.lasting, epsilon, message: hex(message), state: "kept" };
        isAdded = true;
      });
      if (isAdded) return message;
    }
  }

  /** Reports of earlier periods that have not arrived are sent first, while they are accepted. */
  async send(url, options = {}) {
    for (const message of (await this.#state()).waiting) {
      const { state } = await sendUntil(url, unhex(message), { ...options, attempts: 1 });
      if (state === "kept") continue;
      await this.ledger.change((data) => {
        const { waiting } = data.repeated[this.survey.id];
        if (waiting.includes(message)) waiting.splice(waiting.indexOf(message), 1);
      });
    }
    return super.send(url, options);
  }

  /** What was spent so far, and how many reports were made. */
  async spent() {
    return { epsilon: (await super.entry())?.epsilon ?? 0, reports: (await this.#state()).reports };
  }
}
