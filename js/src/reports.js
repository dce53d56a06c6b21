// What reports say: out of their bytes, in plain data and in words, so that a person may look at one before it is sent. A device that
// only answers does without it.

import { hex } from "./bytes.js";
import { InvalidReport } from "./errors.js";
import * as layout from "./layout.js";
import { decode } from "./message.js";
import { Reader } from "./reading.js";

const SHOWN = 8;
const NO_ANSWER = "(no answer)"; // the label of people who skip an optional question
const RATED = [" (rated low)", " (rated high)"];

function quoted(names) {
  const shown = names.slice(0, SHOWN).map((name) => `"${name}"`);
  if (names.length > SHOWN) shown.push(`${names.length - SHOWN} more`);
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown.join("");
}

const readers = new WeakMap();

/** What reads the reports of a mechanism. */
export function readerOf(mechanism) {
  if (!readers.has(mechanism)) readers.set(mechanism, new Reader(mechanism.reads, mechanism.domain));
  return readers.get(mechanism);
}

/** The place of the answer that a report discloses, or null. */
const disclosedIn = ({ opens, open }, report) => open?.[report[opens[0]] - opens[1]] ?? null;

export function supports(mechanism, report) {
  const open = disclosedIn(mechanism, report);
  return open === null ? readerOf(mechanism).supports(report) : [open];
}

/** Refuses a report that no device can have sent. */
export function check(mechanism, report) {
  const { fields, opens } = mechanism;
  const isOpen = disclosedIn(mechanism, report) !== null;
  layout.check(fields, report, isOpen);
  // Who discloses an answer says nothing else.
  const more = ({ name }, i) => i && (report[name].includes?.(true) ?? report[name]);
  if (isOpen && !opens[2] && fields.some(more)) {
    throw new InvalidReport("A report discloses an answer and has a protected part too.");
  }
  const reader = readerOf(mechanism);
  if (reader.coordinates) reader.vector(report);
}

export function unpack(mechanism, data, size) {
  const reports = layout.unpack(mechanism.fields, data, size);
  reports.forEach((report) => check(mechanism, report));
  return reports;
}

export function read(survey, message) {
  survey.needLaw();
  const section = ({ mechanism }) => Math.ceil(mechanism.bits / 8);
  const size = (part) => survey.part(part).reduce((sum, question) => sum + section(question), 0);
  const { id, part, period, payload } = decode(message, survey.fingerprint, size);
  let at = 0;
  const reports = survey.part(part).map((question) => {
    const [report] = unpack(question.mechanism, payload.subarray(at, (at += section(question))), 1);
    return [question.id, report];
  });
  return { id, part, period, reports: new Map(reports) };
}

const short = (number) => Number(number.toPrecision(4));

const AVERAGE = "Averaged over many people it is exact.";

/** Of a family that this client cannot read: the fields as they are. */
const plainly = (report) =>
  Object.entries(report).map(([name, value]) => `${name} ${Array.isArray(value) ? value.map(Number).join("") : value}`);

function words({ mechanism, rated, items }, report, disclosed) {
  const { labels, domain } = mechanism;
  const reader = readerOf(mechanism);
  const named = (places, end = "") => places.map((place) => (labels[place] === NO_ANSWER ? "I would rather not say" : labels[place]) + end);
  if (disclosed !== null) return `The report discloses ${quoted(named([disclosed]))}.`;
  if (report.signs) return `The report is random for each number: ${report.signs.map((up) => (up ? "up" : "down")).join(", ")}. ${AVERAGE}`;
  if (reader.coordinates) {
    const numbers = reader.vector(report).map(([place, value]) => `${short(value)} for number ${place + 1}`);
    return `The report is random: ${numbers.join(", ")}. ${AVERAGE}`;
  }
  if (reader.numbers) {
    const [{ below }] = mechanism.fields;
    const middle = (domain.low + domain.high) / 2;
    const reach = Math.max(...[0, below - 1].map((value) => Math.abs(reader.number(value) - middle)));
    return `The report is ${short(reader.number(report.value))}, a random number between ${short(middle - reach)} and ${short(middle + reach)}. ${AVERAGE}`;
  }
  const denied = reader.denies?.(report) ?? [];
  if (denied.length) return `The report says that you did not choose ${quoted(named(denied))}.`;
  if (!reader.ends.length) return `The report is random: ${plainly(report).join(", ")}. ${AVERAGE}`;
  const all = rated && items ? reader.ends.flatMap((end, i) => named(end(report), RATED[i])) : named(supports(mechanism, report));
  return all.length ? `The report names ${quoted(all)}.` : "The report names no answer.";
}

function explained(question, report) {
  const { mechanism } = question;
  const names = supports(mechanism, report)?.map((place) => mechanism.labels[place]) ?? null;
  const disclosed = disclosedIn(mechanism, report);
  return {
    question: question.id,
    kind: question.kind,
    mechanism: mechanism.wire,
    fields: report,
    bits: layout.toBits(mechanism.fields, report).map(Number).join(""),
    names,
    disclosed: disclosed !== null,
    text: words(question, report, disclosed),
  };
}

/** What a message holds, question by question; of one that was made in an earlier round nothing, since its law is not known here. */
export function explain(survey, message) {
  const { lasting, fingerprint } = survey;
  if (lasting !== fingerprint && hex(message.subarray(8, 24)) !== fingerprint) return [];
  const { reports } = read(survey, message);
  return survey.questions.filter(({ id }) => reports.has(id)).map((each) => explained(each, reports.get(each.id)));
}
