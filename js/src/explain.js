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

function words({ mechanism, ends }, report, names, disclosed) {
  const { labels, stands, cells, domain } = mechanism;
  if (disclosed) return `The report discloses ${quoted(names)}.`;
  if (report.signs) return `The report is random for each number: ${report.signs.map((up) => (up ? "up" : "down")).join(", ")}. ${AVERAGE}`;
  if (cells) {
    const middle = (domain.low + domain.high) / 2;
    const reach = Math.max(...[0, cells - 1].map((value) => Math.abs(stands({ value }) - middle)));
    return `The report is ${short(stands(report))}, a random number between ${short(middle - reach)} and ${short(middle + reach)}. ${AVERAGE}`;
  }
  if (stands) {
    const numbers = stands(report).map(([place, value]) => `${short(value)} for number ${place + 1}`);
    return `The report is random: ${numbers.join(", ")}. ${AVERAGE}`;
  }
  if (report.state === 0) return `The report says that you did not name ${quoted([labels[report.key]])}.`;
  const { low, high, state, pair } = report;
  const sides = (key) => [low[key], high[key]].flatMap((bit, end) => (bit ? [ends[end]] : []));
  let all = names;
  if (ends && high) all = names.flatMap((name) => sides(labels.indexOf(name)).map((end) => name + end));
  else if (ends) all = names.map((name) => name + ends[state ? 2 - state : pair % 2]);
  return all.length ? `The report names ${quoted(all)}.` : "The report names no answer.";
}

export function explained(question, report) {
  const { mechanism } = question;
  const names = mechanism.supports(report)?.map((place) => mechanism.labels[place]) ?? null;
  const disclosed = (mechanism.disclosed?.(report) ?? null) !== null;
  return {
    question: question.id,
    kind: question.kind,
    mechanism: mechanism.wire,
    fields: report,
    bits: toBits(mechanism.fields, report).map(Number).join(""),
    names,
    disclosed,
    text: words(question, report, names, disclosed),
  };
}
