// What reports say: out of their bytes, in plain data and in words, so that a person may look at one before it is sent. A device that
// only answers does without it.

import { hex } from "./bytes.js";
import { InvalidReport } from "./errors.js";
import * as layout from "./layout.js";
import { decode } from "./message.js";
import { Reader } from "./reading.js";

const SHOWN = 8;
const NO_ANSWER = "(no answer)"; // the label of people who skip an optional question

/** What is said about reports. A page in another language brings texts with the same names and gaps. */
const TEXTS = {
  more: "{count} more",
  skipped: "I would rather not say",
  low: "{name} (rated low)",
  high: "{name} (rated high)",
  discloses: "The report discloses {names}.",
  up: "up",
  down: "down",
  signs: "The report is random for each number: {signs}. Averaged over many people it is exact.",
  coordinate: "{value} for number {place}",
  random: "The report is random: {what}. Averaged over many people it is exact.",
  number: "The report is {value}, a random number between {low} and {high}. Averaged over many people it is exact.",
  denies: "The report says that you did not choose {names}.",
  names: "The report names {names}.",
  no_names: "The report names no answer.",
};
const ENGLISH = {
  text: (name, values) => TEXTS[name].replace(/\{(\w+)\}/g, (_, gap) => values[gap]),
  quoted: (name) => `"${name}"`,
  listed: (all) => (all.length > 1 ? `${all.slice(0, -1).join(", ")} and ${all.at(-1)}` : all.join("")),
};

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

/** Of a family that this client cannot read: the fields as they are. */
const plainly = (report) =>
  Object.entries(report).map(([name, value]) => `${name} ${Array.isArray(value) ? value.map(Number).join("") : value}`);

function said({ mechanism, rated, items }, report, disclosed, { text, quoted, listed }) {
  const { labels, domain } = mechanism;
  const reader = readerOf(mechanism);
  const name = (place) => (labels[place] === NO_ANSWER ? text("skipped") : labels[place]);
  const saying = (key, all) => {
    const shown = all.slice(0, SHOWN).map(quoted);
    if (all.length > SHOWN) shown.push(text("more", { count: all.length - SHOWN }));
    return text(key, { names: listed(shown) });
  };
  if (disclosed !== null) return saying("discloses", [name(disclosed)]);
  if (report.signs) return text("signs", { signs: report.signs.map((up) => text(up ? "up" : "down")).join(", ") });
  if (reader.coordinates) {
    const numbers = reader.vector(report).map(([place, value]) => text("coordinate", { value: short(value), place: place + 1 }));
    return text("random", { what: numbers.join(", ") });
  }
  if (reader.numbers) {
    const [{ below }] = mechanism.fields;
    const middle = (domain.low + domain.high) / 2;
    const reach = Math.max(...[0, below - 1].map((value) => Math.abs(reader.number(value) - middle)));
    return text("number", { value: short(reader.number(report.value)), low: short(middle - reach), high: short(middle + reach) });
  }
  const denied = reader.denies?.(report) ?? [];
  if (denied.length) return saying("denies", denied.map(name));
  if (!reader.ends.length) return text("random", { what: plainly(report).join(", ") });
  const ends = rated && items ? reader.ends.flatMap((end, i) => end(report).map((place) => text(["low", "high"][i], { name: name(place) }))) : null;
  const all = ends ?? supports(mechanism, report).map(name);
  return all.length ? saying("names", all) : text("no_names");
}

function explained(question, report, words) {
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
    text: said(question, report, disclosed, words),
  };
}

/** What a message holds, question by question, in English or in the `words` of another language; of one that was made in an earlier round nothing, since its law is not known here. */
export function explain(survey, message, words = ENGLISH) {
  const { lasting, fingerprint } = survey;
  if (lasting !== fingerprint && hex(message.subarray(8, 24)) !== fingerprint) return [];
  const { reports } = read(survey, message);
  return survey.questions.filter(({ id }) => reports.has(id)).map((each) => explained(each, reports.get(each.id), words));
}
