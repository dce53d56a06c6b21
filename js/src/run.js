// How a law runs: its program for one answer, with the draws of the coins given.

import { InvalidParameter, OutsideDomain } from "./errors.js";
import { trueAt } from "./lists.js";

const EXACT = 2n ** 53n;

/** A value as others use it: a row in bytes, the lowest bit first; a number as such where it is exact, else a BigInt. */
function outside(value, { low, high, row }) {
  if (row) {
    const bytes = new Uint8Array(Math.ceil(value.length / 8));
    for (const place of trueAt(value)) bytes[place >> 3] |= 1 << (place & 7);
    return bytes;
  }
  const plain = low > -EXACT && high < EXACT ? Number : BigInt;
  return Array.isArray(value) ? value.map(plain) : plain(value);
}

/** An encoded answer, if it is one that the law was made for. No message holds it. */
function checked(code, { low, high, width, distinct }) {
  const good = (value) => (typeof value === "bigint" || Number.isInteger(value)) && value >= low && value <= high;
  const list = width === undefined ? [code] : code;
  const repeats = distinct && new Set(Array.from(list ?? [], String)).size < width;
  if (list?.length !== (width ?? 1) || !Array.from(list).every(good) || repeats) {
    throw new OutsideDomain("The law is for other answers. Nothing was reported.");
  }
  return width === undefined ? BigInt(code) : Array.from(list, BigInt);
}

/**
 * The values of the nodes at these places, in order, put into `values`; those that are there already stay. `code` gives that of
 * a node that comes from the encoder: a value, or a function of the draws it takes.
 */
export function evaluate({ nodes }, values, places, code, coins) {
  for (const place of places) {
    if (values[place] !== undefined) continue;
    const { op, args, params, type, value } = nodes[place];
    if (op === "code") {
      const own = code(nodes[place]);
      const draws = () => args.map((arg) => outside(values[arg], nodes[arg].type));
      values[place] = checked(typeof own === "function" ? own(...draws()) : own, type);
    } else {
      const given = args.map((arg) => values[arg]);
      values[place] = value(given, params, coins);
    }
  }
  return values;
}

/** The fields of one report. `codes` has a value for each code of the program, or a function of the draws it takes. */
export function run(program, codes, coins) {
  const { nodes, report } = program;
  if (codes.length !== program.codes.length) throw new InvalidParameter("The law takes another number of codes.");
  let next = 0;
  const values = evaluate(program, [], nodes.keys(), () => codes[next++], coins);
  return Object.fromEntries(report.map(([name, place]) => [name, outside(values[place], nodes[place].type)]));
}
