/** Numbers in words. What is a promise is rounded to the safe side. */

import { lang, phrase, place } from "./texts.js";

// Formats are made once: to make one takes far longer than to use it.
const counts = new Intl.NumberFormat(lang), precise = new Intl.NumberFormat(lang, { maximumFractionDigits: 8 });
const ungrouped = new Intl.NumberFormat(lang, { maximumFractionDigits: 8, useGrouping: false }), decimals = new Map();
const moments = new Intl.DateTimeFormat(place, { dateStyle: "long", timeStyle: "short" });

/** A number with so many digits that count, without an exponent. */
export const digits = (number, count = 3) => (number === 0 ? "0" : precise.format(Number(number.toPrecision(count))));

export const whole = (number) => counts.format(number);

/** A number with so many digits after the point. */
export function fixed(number, count) {
  if (!decimals.has(count)) decimals.set(count, new Intl.NumberFormat(lang, { minimumFractionDigits: count, maximumFractionDigits: count, useGrouping: false }));
  return decimals.get(count).format(number);
}

const plain = (number) => ungrouped.format(number);

/** A factor, rounded up. */
export function fold(odds) {
  if (odds >= 1000) return whole(Math.ceil(odds));
  const unit = odds >= 100 ? 1 : odds >= 10 ? 10 : 100;
  return plain(Math.ceil(odds * unit - 1e-9) / unit);
}

/** A chance in a hundred, rounded up, and never "100" for what is less. */
export function inHundred(chance) {
  const unit = chance > 0.999 ? 10_000 : chance > 0.99 ? 100 : 10;
  return plain(Math.min(Math.ceil(100 * chance * unit - 1e-9) / unit, 100));
}

/** The most that a chance can become if odds change by this factor. */
export const atMost = (chance, odds) => (Number.isFinite(odds) ? (chance * odds) / (1 - chance + chance * odds) : 1);

export const percent = (share, count = 1) => phrase("percent", { number: fixed(100 * share, count) });

/** A whole level, such as 95 %. */
export const level = (share) => phrase("percent", { number: plain(Number((100 * share).toPrecision(6))) });

export const range = (low, high) => phrase("range", { low, high });

export const quoted = (label) => phrase("quote", { text: String(label) });

const lists = new Intl.ListFormat(lang === "en" ? "en-GB" : lang); // without a comma before the last

/** Things in a row: a, b and c. */
export const listed = (things) => lists.format(things.map(String));

/** A moment for people to read, from seconds since 1970. */
export const moment = (seconds) => moments.format(1000 * seconds);

/** A length of time in rough words. */
export function span(seconds) {
  const size = Math.abs(seconds);
  const [number, unit] = size < 5400 ? [size / 60, "minute"] : size < 129_600 ? [size / 3600, "hour"] : [size / 86_400, "day"];
  return Math.max(1, Math.round(number)).toLocaleString(lang, { style: "unit", unit, unitDisplay: "long" });
}
