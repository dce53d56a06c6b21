/** The device side of `deniable`: a survey in, report bytes out. Nothing else leaves the device. */

// Errors. A message says what is wrong, what is allowed and what to do; it never holds a person's value.

export class DeniableError extends Error {}
/** A parameter that makes no sense, or a storage that cannot be read. */
export class InvalidParameter extends DeniableError {}
/** A survey that cannot be read: another format, an unknown kind or mechanism, a changed description. */
export class InvalidSurvey extends InvalidParameter {}
/**
 * A law that this device does not run: it cannot be proved here to disclose no more than epsilon, or it is no law at all. The
 * message has the reason, for whoever runs the survey; `notice` is a sentence for the person who would have answered.
 */
export class InvalidLaw extends InvalidParameter {
  readonly notice: string;
}
/** An answer that the question does not allow. */
export class OutsideDomain extends DeniableError {}
/** Bytes that no device can have sent. */
export class InvalidReport extends DeniableError {}
/** Reports or tallies of another survey or mechanism. */
export class SurveyMismatch extends DeniableError {}
/** The survey was answered already, or exceeds the limit for a lifetime. */
export class BudgetSpent extends DeniableError {}
/** Nothing to randomize, count or estimate. */
export class EmptyBatch extends DeniableError {}
/** There is no secure randomness here, so nothing is randomized. */
export class NoRandomness extends DeniableError {}
/** The collector did not serve the survey or its law. */
export class Unavailable extends DeniableError {}

// Randomness

/** An exact probability: whole numbers, 0 <= n <= d. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

/** Exact draws from a stream of uniform bytes; a subclass gives `draw`. */
export abstract class Coins {
  abstract draw(size: number): Uint8Array;
  toss(heads: Fraction, bits?: number): boolean[];
  below(n: number): number;
  flip(heads: Fraction): boolean;
  subset(n: number, k: number, oneLess?: boolean): boolean[];
  split(heads: Fraction, first: number, second: number): number;
  majority(n: number): boolean[];
}
/** Randomness of WebCrypto, the default everywhere. The constructor throws `NoRandomness` where there is none. */
export class SecureCoins extends Coins {
  constructor(crypto?: Pick<Crypto, "getRandomValues">);
  draw(size: number): Uint8Array;
}

// Mechanisms

export type Label = string | number;
/** One report: its fields by name; a number, or a row of bits. */
export type Report = Readonly<Record<string, number | boolean[]>>;
/** A bound on the privacy loss, as this device proved it: odds as a fraction, their logarithm rounded up, and the rules of proof. */
export interface Loss {
  readonly odds: string;
  readonly epsilon: number;
  readonly protects: string;
  readonly proof: "proved";
  readonly rules: readonly string[];
}

export interface Field {
  readonly name: string;
  readonly bits: number;
  readonly below?: number;
  readonly ones?: number;
}

export interface Mechanism {
  /** The wire name, such as "direct-1": it fixes the law for ever. */
  readonly wire: string;
  readonly epsilon: number;
  readonly labels: readonly Label[];
  readonly fields: readonly Field[];
  /** The size of one report. */
  readonly bits: number;
  /** Of one report. */
  readonly loss: Loss;
  /** Of all reports ever on one answer, where a permanent answer is kept; else null. */
  readonly lifetimeLoss: Loss | null;
  /**
   * Randomize answers, one report each, with secure coins unless others are given. `memory`, a plain object, holds the permanent
   * answers of one person, where the law keeps them, and is added to; without it nothing is kept.
   */
  perturb(values: readonly unknown[], coins?: Coins, memory?: object): Report[];
  /** The reports as bits without a gap. */
  pack(reports: readonly Report[]): Uint8Array;
}
/**
 * The mechanism with this specification, the `mechanism` of a question in a survey, and with this law, what the collector serves
 * for the question at /v1/law (`device_law()` in Python). Throws `InvalidLaw` if this device cannot prove that the law discloses
 * no more than the epsilon of the specification, and `InvalidParameter` for answers that it does not know.
 */
export function mechanismFromSpec(spec: object, law: object): Mechanism;

/** A law as data: it refuses, with `InvalidLaw`, what is not one. Neither this nor its runs prove anything. */
export class Program {
  constructor(data: object);
  /** Each field of a report, and the place of the operation that gives its value. */
  readonly report: readonly (readonly [string, number])[];
  /** The values of all operations in order, where the codes have these values by name; a law with draws needs coins. */
  run(codes: Readonly<Record<string, unknown>>, coins?: Coins): unknown[];
}

/**
 * Let surveys have another kind of domain. `make` takes its specification and gives what is seen of it, the largest value of each
 * code with its width, and the function that encodes an answer.
 */
export function addDomain(
  kind: string,
  make: (spec: object) => [object, Readonly<Record<string, readonly [number, number?]>>, (answer: unknown) => object],
): void;

// Surveys

/** "category", "number", "ordered", "place", "ratings", "set", "features", "text" (see deniable/strings), or one of another package. */
export type Kind = string;

/** A question. What its kind does not have is undefined. */
export interface Question {
  readonly id: string;
  readonly ask: string;
  readonly kind: Kind;
  readonly weight: number;
  /** Whether a person may stay silent (`null`); silence is then an answer that is randomized like the others. */
  readonly optional: boolean;
  /** category, ordered: what to choose from; never with "(no answer)", which `optional` stands for. place: the names. */
  readonly choices?: readonly Label[];
  /** category: those of the choices that are protected; the others may be disclosed. */
  readonly sensitive?: readonly Label[];
  /** place: latitude and longitude of each. */
  readonly points?: readonly (readonly [number, number])[];
  /** number, ratings, features: the ends of the range; `clip`: numbers outside become the nearest end. */
  readonly low?: number;
  readonly high?: number;
  readonly clip?: boolean;
  /** ratings, set: what is rated or had, and how many a person may name. */
  readonly items?: readonly Label[];
  readonly atMost?: number;
  /** features: how many numbers. */
  readonly dimensions?: number;
  /** The questions that a person is asked: this one, or those of `together`. */
  readonly asked: readonly Pick<Question, "id" | "ask" | "kind" | "optional" | "choices" | "points">[];
  /** Where several questions are reported together: what each of them asks. Answers are given by their ids. */
  readonly together?: Question["asked"];
  /** Undefined if the survey was read without its law. */
  readonly mechanism?: Mechanism;
}

/**
 * An answer: one of the choices (category, ordered, place), a number, a list of items (set), an object or Map of
 * ratings by item (ratings), a list of numbers (features), or null where the question is optional.
 */
export type Answer =
  Label | null | readonly Label[] | readonly number[] | Readonly<Record<string, number>> | ReadonlyMap<Label, number>;
export type Answers = Readonly<Record<string, Answer | undefined>>;

export class Survey {
  /**
   * The survey in this text, exactly as the collector served it at /v1/survey: its hash is the fingerprint, to the last byte. An
   * object is refused, since it does not know whether a number was written 1 or 1.0. `law` is the text that the collector served
   * at /v1/law; without it the survey can be read, but not answered. Throws `InvalidSurvey` for another format, and `InvalidLaw`
   * unless this device proves that the laws of all questions, alone and together, disclose no more than the survey says. With
   * `expected`, a fingerprint known from elsewhere, throws `SurveyMismatch` if the text has another one.
   */
  static parse(text: string, options?: { law?: string; expected?: string } | string): Survey;
  /** The survey and its law from the collector at this address. Throws as `parse` does, and `Unavailable`. */
  static fetch(url: string, options?: { expected?: string; fetch?: typeof globalThis.fetch }): Promise<Survey>;
  /** Whether the survey came with its laws, which this device then proved. */
  readonly proved: boolean;
  readonly id: string;
  readonly title: string;
  /** For one person, over the whole survey. */
  readonly epsilon: number;
  readonly budget: "equal" | "weighted" | "sampled";
  /** How many questions each person answers, with "sampled". */
  readonly sample: number;
  readonly people: number;
  readonly minimumReports: number;
  /** Seconds since 1970, or null. */
  readonly opens: number | null;
  readonly closes: number | null;
  readonly window: number | null;
  readonly keepReports: boolean;
  /** What the survey says about invitations; null if it is open to everybody. */
  readonly invitations: { readonly keys: readonly string[]; readonly delay: number } | null;
  /** 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** What a ledger knows this survey by: its fingerprint, or what is the same in all its rounds. */
  readonly lasting: string;
  /** Which of several rounds this is, from 1 on. */
  readonly round: number;
  readonly questions: readonly Question[];
  /** What one person gives away over the whole survey, as this device proved it; null without a law. */
  readonly loss: Loss | null;
  /** Whether people may answer at this moment, in seconds since 1970; a clock may be ten minutes behind. */
  isOpen(now?: number): boolean;
  /** Which questions a person answers: drawn at random for a "sampled" survey, else all. */
  drawPart(coins?: Coins): bigint;
  part(bits: bigint): readonly Question[];
  /** One person's answers as a message. Use a `Device`, which makes sure that this happens once. */
  randomize(answers: Answers, options?: { coins?: Coins; part?: bigint; now?: number; id?: Uint8Array; memories?: Record<string, object> }): Uint8Array;
}

// The device

export type State = "kept" | "sent" | "refused";
export interface Entry {
  readonly fingerprint: string;
  readonly epsilon: number;
  /** The report in hexadecimal, as it was and will be sent. */
  readonly message: string;
  readonly state: State;
  /** When it arrived, in milliseconds since 1970. */
  readonly sentAt?: number;
}

/** What repeats the exchange of an invitation, and then the token; private to `deniable/invitation`. */
export type Exchange = Readonly<Record<string, string | number>>;

/** All surveys that one person answered here. It is part of the promise: who deletes it pays again. */
export interface Ledger {
  readonly kind: "indexeddb" | "localstorage" | "file" | "memory";
  /** False if it is forgotten with the page: then say `warning` to the person before they answer. */
  readonly lasting: boolean;
  readonly warning: string | null;
  /** The largest sum of budgets, or null: the smallest that this ledger was ever opened with. */
  readonly lifetime: number | null;
  entry(survey: string): Promise<Entry | null>;
  entries(): Promise<Map<string, Entry>>;
  spent(): Promise<number>;
  /**
   * Throws `BudgetSpent` for a survey that was answered, and for what exceeds the lifetime limit. `kept` has what was kept of
   * permanent answers, before and after; false if it is no longer what it was before, and then nothing is added.
   */
  add(
    survey: string,
    entry: Omit<Entry, "state">,
    kept?: Record<string, { before: string | null; after: string }>,
  ): Promise<boolean>;
  /** What is kept of the permanent answers to a question, as text; null if there are none. */
  memory(question: string): Promise<string | null>;
  mark(survey: string, state: State): Promise<void>;
  /** Everything in the ledger, after `edit` has altered it: read and written in one transaction. */
  change(edit?: (data: Record<string, any>) => void): Promise<Record<string, any>>;
  /** The part of a survey that this person is asked: the one drawn before, or `fresh`, which is then kept. */
  part(survey: string, fresh: string): Promise<string>;
}
/**
 * The ledger of this browser: IndexedDB, else localStorage, else memory, and then it says so (`lasting`, `warning`).
 * In Node it is in memory; `openFileLedger` of `deniable/node` keeps it in a file.
 */
export function openLedger(options?: {
  name?: string;
  lifetime?: number;
  indexedDB?: IDBFactory | null;
  localStorage?: Storage | null;
}): Promise<Ledger>;

export interface Receipt {
  /** The id of the report, 32 hexadecimal digits. */
  readonly id: string;
  /** sent: counted, now or before. kept: no response; it is sent later, the same bytes. refused: for good. */
  readonly state: State;
  /** When it arrived, or null. */
  readonly sentAt: Date | null;
  /** The last status; 0 without a response. */
  readonly status: number;
  /** What the collector said. */
  readonly detail: string;
}

export interface SendOptions {
  fetch?: typeof globalThis.fetch;
  /** How often to try, with growing pauses; 5. */
  attempts?: number;
  /** A token, where the collector asks for one. */
  token?: string;
  /** Makes what is sent from the report, as where a survey is for invited people: `(message) => withToken(message, token)`. */
  seal?: (message: Uint8Array) => Uint8Array;
  /** Waits so many milliseconds; for tests. */
  sleep?: (milliseconds: number) => Promise<void>;
}

/** The client of one person and one survey: it randomizes once, keeps the report, and sends that report until it arrives. */
export class Device {
  /** Without a ledger that of `openLedger()` is used. `now` gives seconds since 1970. */
  constructor(survey: Survey, options?: { ledger?: Ledger; coins?: Coins; now?: () => number });
  readonly survey: Survey;
  /** Null until one was opened. */
  readonly ledger: Ledger | null;
  /** The questions that this person is asked: all, or a part that is drawn once and kept. */
  questions(): Promise<readonly Question[]>;
  /** Randomize the answers, once: the report is in the ledger before it is returned. Throws `BudgetSpent` the second time. */
  answer(answers: Answers): Promise<Uint8Array>;
  /** The report that was made for this survey, the same however often it is asked for; null before. */
  message(): Promise<Uint8Array | null>;
  /** The ledger's entry for this survey. Throws `SurveyMismatch` if another version of the survey was answered. */
  entry(): Promise<Entry | null>;
  /** Send the report that `answer` made to the collector at this address, with retries. Never sends anything else. */
  send(url: string, options?: SendOptions): Promise<Receipt>;
  /** Send now, and again whenever the browser comes back online, until it has arrived or is refused; `changed` hears of it. */
  keepSending(
    url: string,
    options?: SendOptions & { changed?: (receipt: Receipt) => void; signal?: AbortSignal },
  ): Promise<Receipt>;
}
