// What a report says, in plain data and in words: what a person may look at before it is sent.

import { toBits } from "./layout.js";

const SHOWN = 8;

function quoted(names) {
  const shown = names.slice(0, SHOWN).map((name) => `"${name}"`);
  if (names.length > SHOWN) shown.push(`${names.length - SHOWN} more`);
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown.join("");
}

const short = (number) => Number(number.toPrecision(4));

function words(mechanism, report, names, told) {
  if (told) return `tells ${quoted(names)}`;
  if (report.signs) return `says high or low of each number: ${report.signs.map((up) => (up ? "high" : "low")).join(", ")}`;
  if (mechanism.stands) {
    const number = mechanism.stands(report);
    if (typeof number === "number") return `says ${short(number)}`;
    return `says ${number.map(([place, value]) => `${short(value)} for number ${place + 1}`).join(", ")}`;
  }
  if ("high" in report) {
    const ends = (bits, end) => bits.flatMap((bit, key) => (bit ? [`${mechanism.labels[key]} (${end})`] : []));
    const all = [...ends(report.high, "high"), ...ends(report.low, "low")];
    return all.length ? `names ${quoted(all)}` : "names nothing";
  }
  if ("state" in report) {
    const about = quoted([mechanism.labels[report.key]]);
    return [`says that ${about} is not there`, `names ${about} (high)`, `names ${about} (low)`][report.state];
  }
  if ("pair" in report)
    return names.length ? `names ${quoted(names)} (${report.pair % 2 ? "high" : "low"})` : "names nothing";
  return names.length ? `names ${quoted(names)}` : "names nothing";
}

export function explained(question, report) {
  const { mechanism } = question;
  const names = mechanism.supports(report)?.map((place) => mechanism.labels[place]) ?? null;
  const told = (mechanism.told?.(report) ?? null) !== null;
  return {
    question: question.id,
    kind: question.kind,
    mechanism: mechanism.wire,
    fields: report,
    bits: toBits(mechanism.fields, report).map(Number).join(""),
    names,
    told,
    text: words(mechanism, report, names, told),
  };
}
