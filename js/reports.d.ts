import type { Kind, Label, Mechanism, Report, Survey } from "./index.js";

export interface SurveyMessage {
  /** 32 hexadecimal digits: what a receipt names. */
  readonly id: string;
  /** Which questions, as bits. */
  readonly part: bigint;
  readonly period: number;
  readonly reports: ReadonlyMap<string, Report>;
}

/** What one report says about one question, in plain data. */
export interface Explained {
  readonly question: string;
  readonly kind: Kind;
  readonly mechanism: string;
  /** The fields as they are sent. */
  readonly fields: Report;
  /** All bits of the report, the first one first, such as "0110". */
  readonly bits: string;
  /** The answers that the report names or supports; null where it names none of them, such as a number's. */
  readonly names: readonly Label[] | null;
  /** True if the report discloses an answer that is not sensitive, which is then the true one. */
  readonly disclosed: boolean;
  /** In words, such as 'The report names "bus" and "car".' */
  readonly text: string;
}

/** How `explain` puts a report into words of another language. The names of texts and their gaps are in `TEXTS` of reports.js. */
export interface Words {
  /** The text with this name, its gaps filled. */
  text(name: string, values?: Readonly<Record<string, string | number>>): string;
  /** An answer in quotation marks. */
  quoted(name: Label): string;
  /** Things in a row, such as 'a, b and c'. */
  listed(all: readonly string[]): string;
}

/** What a message holds, question by question: what a person may look at before it is sent. Throws as `read` does. */
export function explain(survey: Survey, message: Uint8Array, words?: Words): readonly Explained[];
/** What a message of one report holds; throws `InvalidReport` or `SurveyMismatch`. */
export function read(survey: Survey, message: Uint8Array): SurveyMessage;
/** Which answers a report supports, by their index; `null` where a report does not name answers. */
export function supports(mechanism: Mechanism, report: Report): number[] | null;
/** Throws `InvalidReport` for a report that no device can have sent. */
export function check(mechanism: Mechanism, report: Report): void;
/** So many reports out of the bits that `pack` made of them; refuses what no device can have sent. */
export function unpack(mechanism: Mechanism, data: Uint8Array, size: number): Report[];
