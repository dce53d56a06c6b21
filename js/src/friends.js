// A survey about friends and one person's client of it: the same people answer three rounds, and epsilon is paid once. Loaded only
// where a survey asks for it.

import { fingerprint, joined, little, sealed, utf8 } from "./bytes.js";
import { Round } from "./friend-round.js";
import { BudgetSpent, Device, InvalidLaw, InvalidParameter, InvalidSurvey, openLedger, OutsideDomain, SecureCoins, Survey, SurveyMismatch, Unavailable } from "./index.js";
import { logUp, oddsBelow } from "./fraction.js";
import { encode } from "./message.js";
import { sha256 } from "./sha256.js";

export { hashedName, Round } from "./friend-round.js";

const ROUNDS = 3;
const ANSWERED = "This survey has already been answered. The same report can be sent again, but not a new one.";
const KIND = "friends";

const insist = (good, what, kind) => {
  if (!good) throw new kind(what);
};

/** What a table has under a name of its own: a survey may be called "constructor". */
const own = (table, name) => (Object.hasOwn(table ?? {}, name) ? table[name] : undefined);

const parsed = (text) => {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
};

/** Whether the text of a survey asks whom people know. */
export const asksForFriends = (text) => Array.isArray(parsed(text).question) && parsed(text).question.some((question) => question?.kind === KIND);

export class FriendsSurvey extends Survey {
  static parse(text, options = {}) {
    return new FriendsSurvey(text, options);
  }

  /** The survey that a collector serves, and how lists are coded in this round. */
  static async fetch(url, { expected, fetch = globalThis.fetch } = {}) {
    const served = async (name) => {
      const answer = await fetch(`${url.replace(/\/+$/, "")}/v1/${name}`);
      insist(answer.ok, `The collector answered with status ${answer.status}.`, Unavailable);
      return answer.text();
    };
    const [text, law] = await Promise.all(["survey", "law"].map(served));
    return new FriendsSurvey(text, { law, expected });
  }

  constructor(text, { law, expected } = {}) {
    super(text, { expected });
    const { questions, tree, epsilon, round } = this;
    const [question] = questions;
    const isOne = questions.length === 1 && question.kind === KIND && tree.survey.rounds === ROUNDS && this.budget !== "sampled";
    insist(isOne && this.window === null && !this.invitations, "A survey about friends has one question and three rounds.", InvalidSurvey);
    const { survey: made, theorems } = parsed(law);
    insist(made === this.fingerprint, "The law belongs to another survey.", InvalidLaw);
    const terms = own(theorems, question.id);
    insist(terms && typeof terms === "object", "There are no terms to run. A collector serves them at /v1/law.", InvalidLaw);
    const { mechanism } = tree.question[0];
    insist(mechanism.epsilon <= epsilon, "The laws together disclose more than the survey says.", InvalidLaw);
    /** Whether a report must show that its member sent it. */
    this.needsSecret = tree.question[0].reporters === "secret";
    this.rounds = new Round(mechanism, terms);
    insist(this.rounds.number === round, "The mechanism is that of another round.", InvalidLaw);
    question.mechanism = this.rounds;
    this.proved = true;
  }

  /** All rounds together, for whether this person knows any one other. */
  get loss() {
    const odds = oddsBelow(this.epsilon);
    const protects = "whether you know any one person, all rounds together";
    return { odds: `${odds.n}/${odds.d}`, epsilon: logUp(odds), protects, proof: "theorem", rules: [] };
  }

  /** The message of one person. */
  async made(answers, { coins = new SecureCoins(), id = new SecureCoins().draw(16) } = {}) {
    const [question] = this.questions;
    insist(Object.keys(answers).every((key) => key === question.id), "This survey does not ask that question.", OutsideDomain);
    this.opened ??= this.rounds.open();
    const report = (await this.opened).report(own(answers, question.id), coins);
    return encode(this.fingerprint, id, 1n, this.round - 1, report);
  }
}

// Who reports for a member

const BLOCK = 64;

/** HMAC with SHA-256 (RFC 2104). */
function hmac(key, bytes) {
  const padded = new Uint8Array(BLOCK);
  padded.set(key.length > BLOCK ? sha256(key) : key);
  const keyed = (by, rest) => sha256(joined([padded.map((byte) => byte ^ by), rest]));
  return keyed(0x5c, keyed(0x36, bytes));
}

/** The member and the secret in what follows the # of a link; null if there is none. */
export function memberOf(hash) {
  const [, number, secret] = /^#?member=(\d{1,7})\.([A-Za-z0-9_-]{22})$/.exec(hash) ?? [];
  return secret ? { member: Number(number), secret } : null;
}

/** A message that shows that who sent it has the secret of its member. */
export function signed(bytes, secret) {
  const tag = hmac(utf8(secret), joined([utf8("deniable member\0"), bytes.subarray(8, -4)]));
  return sealed(joined([bytes.subarray(0, 6), little(tag.length, 2), bytes.subarray(8, -4), tag]));
}

// The device

/** Which members a person knows is kept in the ledger from round to round, and forgotten after the last, or when they say so. */
export class FriendsDevice extends Device {
  #coins;

  constructor(survey, { ledger, coins, now } = {}) {
    super(Object.create(survey, { id: { value: named(survey.id, survey.round) } }), { ledger, coins, now });
    this.#coins = coins;
    this.whole = survey;
  }

  /** Which round it is, from 1. */
  get period() {
    return this.whole.round;
  }

  async #opened() {
    return (this.ledger ??= await openLedger());
  }

  /** What was answered in an earlier round: the member and whom they know, as numbers; null if nothing is kept. */
  async remembered() {
    const kept = own((await (await this.#opened()).change()).friends, this.whole.id);
    return kept?.lasting === this.whole.lasting ? kept : null;
  }

  async forget() {
    await (await this.#opened()).change((data) => {
      const kept = own(data.friends, this.whole.id);
      if (kept) data.friends[this.whole.id] = { lasting: kept.lasting, me: kept.me, secret: kept.secret };
    });
  }

  /** Keep the member and the secret of a link. */
  async belongs({ member, secret }) {
    await (await this.#opened()).change((data) => {
      const { id, lasting } = this.whole;
      const kept = own((data.friends ??= {}), id);
      data.friends[id] = { ...(kept?.lasting === lasting && kept.me === member ? kept : { lasting }), me: member, secret };
    });
  }

  async answer(answers) {
    const { whole } = this;
    const ledger = await this.#opened();
    insist(!(await this.entry()), ANSWERED, BudgetSpent);
    const entries = await ledger.entries();
    const earlier = Array.from({ length: whole.round - 1 }, (_, i) => entries.get(named(whole.id, i + 1))).filter(Boolean);
    const isSame = earlier.every((entry) => entry.fingerprint === whole.lasting);
    insist(isSame, "Another survey with this id has already been answered. A changed survey needs a new id.", SurveyMismatch);
    const [question] = whole.questions;
    const { binding } = whole.rounds;
    if (binding) {
      const name = fingerprint(binding);
      const known = await ledger.part(`${whole.id} ${whole.lasting} ${question.id} rounds`, name);
      insist(known === name, "This round does not follow from the one answered before, so it was not answered.", SurveyMismatch);
    }
    const { me, knows } = answers[question.id] ?? {};
    const { number } = whole.rounds.domain;
    const before = await this.remembered();
    const isMe = before?.me === undefined || before.me === number(me);
    insist(isMe, "You are not the member of the previous round, or not the one your link is for.", OutsideDomain);
    insist(!whole.needsSecret || before?.secret, "This survey counts only reports of members with their own secret. Open the link that was sent to you.", OutsideDomain);
    const message = await whole.made(answers, { coins: this.#coins });
    const epsilon = earlier.length ? 0 : whole.epsilon; // the first round pays for all
    const text = Array.from(message, (byte) => byte.toString(16).padStart(2, "0")).join("");
    await ledger.add(named(whole.id, whole.round), { fingerprint: whole.lasting, epsilon, message: text });
    await ledger.change((data) => {
      const kept = { ...before, lasting: whole.lasting, me: number(me) };
      (data.friends ??= {})[whole.id] = whole.round < ROUNDS ? { ...kept, knows: [...knows].map(number) } : { ...kept, knows: undefined };
    });
    return message;
  }

  async send(url, options = {}) {
    const secret = (await this.remembered())?.secret;
    insist(secret || !this.whole.needsSecret, "There is no secret to send the report with. Open the link that was sent to you.", InvalidParameter);
    return super.send(url, this.whole.needsSecret ? { ...options, seal: (bytes) => signed(bytes, secret) } : options);
  }
}

/** What the ledger knows the report of a round by. */
const named = (id, round) => (round === 1 ? id : `${id} round ${round}`);
