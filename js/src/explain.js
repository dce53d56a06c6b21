// What a report says, in plain data and in words: what a person may look at before it is sent.

import { toBits } from "./layout.js";

const SHOWN = 8;

function quoted(names) {
  const shown = names.slice(0, SHOWN).map((name) => `"${name}"`);
  if (names.length > SHOWN) shown.push(`${names.length - SHOWN} more`);
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown.join("");
}

const short = (number) => Number(number.toPrecision(4));

const AVERAGE = "Averaged over many people it is exact.";

/** Of a family that this client cannot read: the fields as they are. */
const plainly = (report) =>
  Object.entries(report).map(([name, value]) => `${name} ${Array.isArray(value) ? value.map(Number).join("") : value}`);

function words({ mechanism, ends }, report, disclosed) {
  const { labels, domain, reader } = mechanism;
  const named = (places, end = "") => places.map((place) => labels[place] + end);
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
  if (denied.length) return `The report says that you did not name ${quoted(named(denied))}.`;
  if (!reader.ends.length) return `The report is random: ${plainly(report).join(", ")}. ${AVERAGE}`;
  const all = ends ? reader.ends.flatMap((end, i) => named(end(report), ends[i])) : named(mechanism.supports(report));
  return all.length ? `The report names ${quoted(all)}.` : "The report names no answer.";
}

export function explained(question, report) {
  const { mechanism } = question;
  const names = mechanism.supports(report)?.map((place) => mechanism.labels[place]) ?? null;
  const disclosed = mechanism.disclosed(report);
  return {
    question: question.id,
    kind: question.kind,
    mechanism: mechanism.wire,
    fields: report,
    bits: toBits(mechanism.fields, report).map(Number).join(""),
    names,
    disclosed: disclosed !== null,
    text: words(question, report, disclosed),
  };
}
