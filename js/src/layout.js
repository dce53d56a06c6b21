// A report's bits: its fields one after the other, lowest bit first; reports follow each other without a gap.

import { InvalidReport } from "./errors.js";
import { bitLength, bitsOf, listed, numberOf, sum, trueAt } from "./lists.js";

/** A whole number from 0 to below - 1. */
export const number = (name, below) => ({ name, below, bits: bitLength(below - 1) });
/** Yes-or-no cells; with `ones`, exactly that many are set. */
export const flags = (name, bits, ones) => ({ name, bits, ones });

export const width = (fields) => sum(fields, (field) => field.bits);
export const toBits = (fields, report) =>
  fields.flatMap(({ name, below, bits }) => (below ? bitsOf(report[name], bits) : report[name]));

/** Refuses a report that no device can have sent; with `open`, one that discloses an answer, and so has no cell set. */
export function check(fields, report, open) {
  for (const { name, below, ones } of fields) {
    if (below ? report[name] >= below : ones && !open && trueAt(report[name]).length !== ones) {
      throw new InvalidReport(`Field '${name}' of a report is invalid. The report is refused.`);
    }
  }
}

export function pack(fields, reports) {
  const bits = reports.flatMap((report) => toBits(fields, report));
  const out = new Uint8Array((bits.length + 7) >> 3);
  bits.forEach((bit, i) => (out[i >> 3] |= bit << (i & 7)));
  return out;
}

/** The reports in these bytes, not checked yet. */
export function unpack(fields, data, size) {
  const each = width(fields);
  const bits = listed(8 * data.length, (i) => ((data[i >> 3] >> (i & 7)) & 1) === 1);
  if (data.length !== Math.ceil((size * each) / 8) || bits.slice(size * each).includes(true)) {
    throw new InvalidReport("The reports have the wrong length or stray bits.");
  }
  let at = 0;
  return listed(size, () =>
    Object.fromEntries(
      fields.map((field) => {
        const part = bits.slice(at, (at += field.bits));
        return [field.name, field.below ? numberOf(part) : part];
      }),
    ),
  );
}
