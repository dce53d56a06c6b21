// A report's bits: its fields one after the other, lowest bit first; reports follow each other without a gap.

import { InvalidReport } from "./errors.js";

/** A whole number from 0 to below - 1. */
export const number = (name, below) => ({ name, below, bits: (below - 1).toString(2).length * (below > 1) });
/** Yes-or-no cells; with `ones`, exactly that many are set. */
export const flags = (name, bits, ones) => (ones === undefined ? { name, bits } : { name, bits, ones });

export const width = (fields) => fields.reduce((sum, field) => sum + field.bits, 0);

export function toBits(fields, report) {
  return fields.flatMap((field) => {
    const value = report[field.name];
    if (!field.below) return value;
    return Array.from({ length: field.bits }, (_, i) => Math.floor(value / 2 ** i) % 2 === 1);
  });
}

/** The report of these bits; refuses a field that no device can have sent. */
export function fromBits(fields, bits) {
  const report = {};
  let at = 0;
  for (const field of fields) {
    const part = bits.slice(at, at + field.bits);
    at += field.bits;
    report[field.name] = field.below ? part.reduce((sum, bit, i) => sum + (bit ? 2 ** i : 0), 0) : part;
  }
  return report;
}

export function check(fields, report) {
  for (const { name, below, ones } of fields) {
    const value = report[name];
    if (below && !(value < below)) {
      throw new InvalidReport(`Field '${name}' of a report is not below ${below}. The report is refused.`);
    }
    if (ones !== undefined && value.filter(Boolean).length !== ones) {
      throw new InvalidReport(`Field '${name}' of a report does not have exactly ${ones} cells set.`);
    }
  }
}

export function pack(rows) {
  const bits = rows.flat();
  const out = new Uint8Array((bits.length + 7) >> 3);
  bits.forEach((bit, i) => (out[i >> 3] |= bit << (i & 7)));
  return out;
}

export function unpack(data, size, bits) {
  const wanted = Math.ceil((size * bits) / 8);
  if (data.length !== wanted) {
    const what = data.length < wanted ? "are missing" : "are left over";
    throw new InvalidReport(
      `${size} reports of ${bits} bits take ${wanted} bytes; here are ${data.length}, so bytes ${what}. ` +
        "The batch is refused whole; send or copy it again.",
    );
  }
  const all = Array.from({ length: 8 * data.length }, (_, i) => ((data[i >> 3] >> (i & 7)) & 1) === 1);
  if (all.slice(size * bits).some(Boolean)) {
    throw new InvalidReport("The bits that fill the last byte are not zero. The batch is refused.");
  }
  return Array.from({ length: size }, (_, i) => all.slice(i * bits, (i + 1) * bits));
}
