/** Numbers in words. What is a promise is rounded to the safe side. */

/** A number with so many digits that count, without an exponent. */
export const digits = (number, count = 3) =>
  number === 0 ? "0" : Number(number.toPrecision(count)).toLocaleString("en", { maximumFractionDigits: 8 });

export const whole = (number) => number.toLocaleString("en");

/** A factor, rounded up. */
export function fold(odds) {
  if (odds >= 1000) return whole(Math.ceil(odds));
  const unit = odds >= 100 ? 1 : odds >= 10 ? 10 : 100;
  return String(Math.ceil(odds * unit - 1e-9) / unit);
}

/** A chance in a hundred, rounded up, and never "100" for what is less. */
export function inHundred(chance) {
  const unit = chance > 0.999 ? 10_000 : chance > 0.99 ? 100 : 10;
  return String(Math.min(Math.ceil(100 * chance * unit - 1e-9) / unit, 100));
}

/** The most that a chance can become if odds change by this factor. */
export const atMost = (chance, odds) => (Number.isFinite(odds) ? (chance * odds) / (1 - chance + chance * odds) : 1);

export const percent = (share, count = 1) => `${(100 * share).toFixed(count)} %`;

export const quoted = (label) => `“${label}”`;

/** Things in a row: a, b and c. */
export function listed(things) {
  const words = things.map(String);
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** A moment for people to read, from seconds since 1970. */
export const moment = (seconds) => new Date(1000 * seconds).toLocaleString([], { dateStyle: "long", timeStyle: "short" });

/** A length of time in rough words. */
export function span(seconds) {
  const size = Math.abs(seconds);
  const [number, unit] = size < 5400 ? [size / 60, "minute"] : size < 129_600 ? [size / 3600, "hour"] : [size / 86_400, "day"];
  const rounded = Math.max(1, Math.round(number));
  return `${rounded} ${unit}${rounded === 1 ? "" : "s"}`;
}

/** What each kind of proof says. */
export const PROOFS = {
  proved: "for every answer and every random draw",
  theorem: "it rests on a published proof",
};
