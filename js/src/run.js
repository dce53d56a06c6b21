// How a law runs: its program for one answer, with the draws of the coins given. Numbers are BigInts on the way, so that
// nothing is rounded; rows are lists of truth values.

import { InvalidParameter, OutsideDomain } from "./errors.js";
import { listed, trueAt } from "./lists.js";
import { quotient, remainder } from "./program.js";

const truth = (holds) => BigInt(Boolean(holds));
const on = (value) => value !== 0n;
const ones = (value) => value.toString(2).replaceAll("0", "").length;
const changed = (list, place, value) => {
  const copy = list.slice();
  copy[place] = value;
  return copy;
};

/** An operation on two numbers, or on vectors of them, number by number. */
const arithmetic =
  (combine) =>
  ([a, b]) => {
    if (!Array.isArray(a)) return Array.isArray(b) ? b.map((each) => combine(a, each)) : combine(a, b);
    return a.map((each, place) => combine(each, Array.isArray(b) ? b[place] : b));
  };

/** The same for one number and a parameter. */
const each =
  (change) =>
  ([value], { params }) =>
    Array.isArray(value) ? value.map((one) => change(one, params[0])) : change(value, params[0]);

const logical =
  (combine) =>
  ([a, b]) => {
    if (!Array.isArray(a)) return combine(a, b);
    return a.map((bit, place) => combine(truth(bit), Array.isArray(b) ? truth(b[place]) : b) === 1n);
  };

/** Operation: its value, from the values of its arguments, the node and the coins. */
const RUNS = {
  const: (_, { params }) => params[0],
  add: arithmetic((a, b) => a + b),
  sub: arithmetic((a, b) => a - b),
  mul: arithmetic((a, b) => a * b),
  min: arithmetic((a, b) => (a < b ? a : b)),
  max: arithmetic((a, b) => (a > b ? a : b)),
  abs: each((value) => (value < 0n ? -value : value)),
  div: each(quotient),
  mod: each(remainder),
  lt: ([a, b]) => truth(a < b),
  eq: ([a, b]) => truth(a === b),
  not: ([value]) => (Array.isArray(value) ? value.map((bit) => !bit) : 1n - value),
  and: logical((a, b) => a & b),
  or: logical((a, b) => a | b),
  xor: logical((a, b) => a ^ b),
  shr: ([a, b]) => a >> b,
  ones: ([value]) => BigInt(Array.isArray(value) ? trueAt(value).length : ones(value)),
  where: ([condition, a, b]) => (on(condition) ? a : b),
  table: ([index], { params }) => params[0][index],
  aim: ([column, line, odd]) => (BigInt(ones(column & line) % 2) === odd ? column : column ^ (line & -line)),
  around: ([start, place], { params: [near, among] }) => {
    if (place >= among) return place;
    return place < near ? start + place : place - (place - near < start ? near : 0n);
  },
  get: ([row, place]) => truth(row[place]),
  put: ([row, place, value]) => changed(row, place, on(value)),
  swap: ([row, a, b]) => changed(changed(row, a, row[b]), b, row[a]),
  widen: ([row], { type }) => listed(type.width, (place) => row[place] ?? false),
  turn: ([row, which]) => row.map((bit) => bit !== on(which)),
  pack: (args, { params }) => args.flatMap((value) => listed(Number(params[0]), (bit) => on((value >> BigInt(bit)) & 1n))),
  cells: ([vector], { params }) => vector.map((value) => on((value >> params[0]) & 1n)),
  join: (rows) => rows.flat(),
  at: ([vector, index]) => vector[index],
  toss: (_, { params }, coins) => truth(coins.flip(params[0])),
  below: (_, { params }, coins) => coins.below(params[0]),
  public: (_, { params }, coins) => coins.below(params[0]),
  split: (_, { params }, coins) => coins.split(...params),
  pick: (_, { params }, coins) => BigInt(coins.pick(params[0])),
  pick_each: ([index], { params }, coins) => BigInt(coins.pick(params[0][index])),
  toss_each: ([heads], { params }, coins) => {
    const drawn = coins.tossAll([heads].flat(), params[0]).map(truth);
    return Array.isArray(heads) ? drawn : drawn[0];
  },
  flags: (_, { params }, coins) => coins.toss(params[0], Number(params[1])),
  subset: ([less], { params }, coins) => coins.subset(...params.map(Number), on(less)),
  majority: (_, { params }, coins) => coins.majority(Number(params[0])),
};

/** A value as others use it: a row in bytes, the lowest bit first; a number as such where it is exact, else a BigInt. */
function outside(value, { low, high, row }) {
  if (row) {
    const bytes = new Uint8Array(Math.ceil(value.length / 8));
    for (const place of trueAt(value)) bytes[place >> 3] |= 1 << (place & 7);
    return bytes;
  }
  const plain = low >= -Number.MAX_SAFE_INTEGER && high <= Number.MAX_SAFE_INTEGER ? Number : BigInt;
  return Array.isArray(value) ? value.map(plain) : plain(value);
}

/** An encoded answer, if it is one that the law was made for. No message holds it. */
function checked(code, { low, high, width }) {
  const good = (value) => (typeof value === "bigint" || Number.isInteger(value)) && value >= low && value <= high;
  const list = width === undefined ? [code] : code;
  if (!(list?.length === (width ?? 1)) || !Array.from(list).every(good)) {
    throw new OutsideDomain("An encoded answer is none of those that the law is for. Nothing was reported.");
  }
  return width === undefined ? BigInt(code) : Array.from(list, BigInt);
}

/** The fields of one report. `codes` has a value for each code of the program, or a function of the draws it takes. */
export function run(program, codes, coins) {
  const { nodes, report } = program;
  if (codes.length !== program.codes.length) throw new InvalidParameter("The law takes another number of codes.");
  const values = [];
  let next = 0;
  for (const node of nodes) {
    if (node.op === "code") {
      const code = codes[next++];
      const draws = () => node.args.map((arg) => outside(values[arg], nodes[arg].type));
      values.push(checked(typeof code === "function" ? code(...draws()) : code, node.type));
    } else {
      values.push(RUNS[node.op](node.args.map((arg) => values[arg]), node, coins));
    }
  }
  return Object.fromEntries(report.map(([name, place]) => [name, outside(values[place], nodes[place].type)]));
}
