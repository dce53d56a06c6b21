// How a law runs: its program for one answer, with the draws of the coins given.

import { InvalidParameter, OutsideDomain } from "./errors.js";
import { lawful } from "./insist.js";
import { computed } from "./operations.js";
import { trueAt } from "./lists.js";

const EXACT = 2n ** 53n;

/** A value as others use it: a row in bytes, the lowest bit first; a number as such where it is exact, else a BigInt. */
function outside(value, { least, most, row }) {
  if (row) {
    const bytes = new Uint8Array(Math.ceil(value.length / 8));
    for (const place of trueAt(value)) bytes[place >> 3] |= 1 << (place & 7);
    return bytes;
  }
  const plain = least > -EXACT && most < EXACT ? Number : BigInt;
  return Array.isArray(value) ? value.map(plain) : plain(value);
}

/** An encoded answer, if it is one that the law was made for. No message holds it. */
function checked(code, { least, most, width, distinct }) {
  const good = (value) => (typeof value === "bigint" || Number.isInteger(value)) && value >= least && value <= most;
  const list = width ? Array.from(code ?? []) : [code];
  const isOne = list.length === (width ?? 1) && list.every(good) && !(distinct && new Set(list.map(String)).size < width);
  lawful(isOne, "The law is for other answers than this device encodes. Use the Python client.", OutsideDomain);
  return width ? list.map(BigInt) : BigInt(code);
}

/**
 * The values of the nodes at these places, in order, put into `values`; those that are there already stay. `code` gives that of
 * a node that comes from the encoder: a value, or a function of the draws it takes.
 */
export function evaluate({ nodes }, values, places, code, coins) {
  for (const place of places) {
    if (values[place] !== undefined) continue;
    const { op, args, form } = nodes[place];
    if (op === "code") {
      const own = code(nodes[place]);
      const draws = () => args.map((arg) => outside(values[arg], nodes[arg].form));
      values[place] = checked(typeof own === "function" ? own(...draws()) : own, form);
    } else {
      const given = args.map((arg) => values[arg]);
      values[place] = computed(nodes[place], given, coins);
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
  return Object.fromEntries(report.map(([name, place]) => [name, outside(values[place], nodes[place].form)]));
}
