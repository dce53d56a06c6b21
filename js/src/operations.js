// The operations of a law: for each how many arguments it takes (null: any number), how many parameters at most, the type of
// what it gives, and its value. Numbers are BigInts, so that nothing is rounded; rows are lists of truth values.

import { bitLength, listed, trueAt } from "./lists.js";

export const LARGEST = 1n << 62n; // no number of a law lies outside -2^62..2^62
export const WIDEST = 1n << 20n; // cells of a row, and numbers of a vector

// Types: a whole number from `least` to `most`; with a width a vector of such numbers, or with `row` as many bits

export const number = (least = 0n, most = 1n, width) => ({ least, most, width, row: false });
const row = (width) => ({ least: 0n, most: 1n, width: Number(width), row: true });

export const smallest = (all) => all.reduce((a, b) => (b < a ? b : a));
export const largest = (all) => all.reduce((a, b) => (b > a ? b : a));
export const wholes = (list) => Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === "bigint");
const ones = (value) => value.toString(2).replaceAll("0", "").length;
const absolute = (value) => (value < 0n ? -value : value);
const remainder = (value, by) => ((value % by) + by) % by;
const quotient = (value, by) => (value - remainder(value, by)) / by; // rounded down, also below zero
const truth = (holds) => BigInt(Boolean(holds));
const on = (value) => value !== 0n;
const bitAt = (value, place) => on((value >> BigInt(place)) & 1n);

/** Of two numbers, or of vectors of them, number by number; it is extreme where they are. */
const arithmetic = (combine) => [
  2,
  0,
  (node, [a, b]) => {
    const width = node.numbers(a).width ?? node.numbers(b).width;
    node.same(node.numbers(b).width ?? width, width);
    const ends = [a.least, a.most].flatMap((x) => [combine(x, b.least), combine(x, b.most)]);
    return node.within(smallest(ends), largest(ends), width);
  },
  ([a, b]) => {
    if (!Array.isArray(a)) return Array.isArray(b) ? b.map((each) => combine(a, each)) : combine(a, b);
    return a.map((each, place) => combine(each, Array.isArray(b) ? b[place] : b));
  },
];

/** Of a number, or of each of a vector, and a parameter if there is one. */
const each = (parameters, bounds, change) => [
  1,
  parameters,
  (node, [form]) => {
    const [least, most] = bounds(node.numbers(form), parameters && node.whole(0, 1n));
    return number(least, most, form.width);
  },
  ([value], [by]) => (Array.isArray(value) ? value.map((one) => change(one, by)) : change(value, by)),
];

const compared = (holds) => [
  2,
  0,
  (node, args) => {
    for (const form of args) node.single(form);
    return number();
  },
  ([a, b]) => truth(holds(a, b)),
];

const logical = (combine, most) => [
  2,
  0,
  (node, [a, b]) => {
    if (!a.row && !b.row) return node.within(0n, most(node.single(a, 0n).most, node.single(b, 0n).most));
    if (node.op === "and" && !b.row) node.bit(b); // the row, or one without a bit
    else node.same(node.row(a).width, node.row(b).width);
    return a;
  },
  ([a, b]) => {
    if (!Array.isArray(a)) return combine(a, b);
    return a.map((bit, place) => on(combine(truth(bit), Array.isArray(b) ? truth(b[place]) : b)));
  },
];
const filled = (a, b) => (1n << BigInt(bitLength(a > b ? a : b))) - 1n;

const changed = (list, place, value) => {
  const copy = list.slice();
  copy[place] = value;
  return copy;
};

const uniform = [0, 1, (node) => number(0n, node.whole(0, 1n) - 1n), (_, [n], coins) => coins.below(n)];

/** What takes random bytes. */
export const DRAWS = {
  toss: [0, 1, (node) => (node.chance(), number()), (_, [odds], coins) => truth(coins.flip(odds))],
  below: uniform,
  public: uniform,
  split: [
    0,
    3,
    (node) => {
      const { n, d } = node.chance();
      const [first, second] = [node.whole(1, 1n), node.whole(2, 0n)];
      node.need(second || n === d);
      return node.within(0n, first + second - 1n);
    },
    (_, params, coins) => coins.split(...params),
  ],
  pick: [
    0,
    1,
    (node) => (node.weights(node.params[0]), number(0n, BigInt(node.params[0].length - 1))),
    (_, [weights], coins) => BigInt(coins.pick(weights)),
  ],
  pick_each: [
    1,
    1,
    (node, [index]) => {
      const [table] = node.params;
      node.need(Array.isArray(table) && table.length);
      const sums = new Set(table.map((list) => `${node.weights(list)} ${list.length}`));
      node.need(sums.size === 1);
      node.single(index, 0n, BigInt(table.length - 1));
      return number(0n, BigInt(table[0].length - 1));
    },
    ([index], [table], coins) => BigInt(coins.pick(table[index])),
  ],
  toss_each: [
    1,
    1,
    (node, [form]) => number(0n, 1n, node.numbers(form, 0n, node.whole(0, 1n)).width),
    ([heads], [whole], coins) => {
      const drawn = coins.tossAll([heads].flat(), whole).map(truth);
      return Array.isArray(heads) ? drawn : drawn[0];
    },
  ],
  flags: [
    0,
    2,
    (node) => (node.chance(), row(node.whole(1, 1n, WIDEST))),
    (_, [odds, width], coins) => coins.toss(odds, Number(width)),
  ],
  subset: [
    1,
    2,
    (node, [less]) => {
      node.bit(less);
      const n = node.whole(0, 1n, WIDEST);
      node.need(n * node.whole(1, 1n, n) <= 1n << 32n); // beyond, some word would always be refused
      return row(n);
    },
    ([less], params, coins) => coins.subset(...params.map(Number), on(less)),
  ],
  majority: [0, 1, (node) => row(node.whole(0, 1n, WIDEST)), (_, [n], coins) => coins.majority(Number(n))],
};

export const OPERATIONS = {
  ...DRAWS,
  code: [
    null,
    5,
    (node) => {
      node.need(typeof node.params[0] === "string" && node.args.length < 65);
      const least = node.whole(1, -LARGEST);
      const form = number(least, node.whole(2, least), node.params.length > 3 ? Number(node.whole(3, 1n, WIDEST)) : undefined);
      const distinct = node.params.length > 4 && node.whole(4, 0n, 1n) === 1n;
      node.need(!distinct || form.width <= form.most - least + 1n); // else there are too few numbers for a vector of different ones
      return { ...form, distinct };
    },
  ],
  const: [0, 1, (node) => number(node.whole(0, -LARGEST), node.params[0]), (_, [value]) => value],
  add: arithmetic((a, b) => a + b),
  sub: arithmetic((a, b) => a - b),
  mul: arithmetic((a, b) => a * b),
  min: arithmetic((a, b) => (a < b ? a : b)),
  max: arithmetic((a, b) => (a > b ? a : b)),
  abs: each(
    0,
    ({ least, most }) => {
      const ends = [least, most].map(absolute);
      return [least <= 0n && most >= 0n ? 0n : smallest(ends), largest(ends)];
    },
    absolute,
  ),
  div: each(1, (form, by) => [quotient(form.least, by), quotient(form.most, by)], quotient),
  mod: each(
    1,
    ({ least, most }, by) =>
      quotient(least, by) === quotient(most, by) ? [remainder(least, by), remainder(most, by)] : [0n, by - 1n],
    remainder,
  ),
  lt: compared((a, b) => a < b),
  eq: compared((a, b) => a === b),
  not: [
    1,
    0,
    (node, [form]) => (form.row ? form : number(1n - node.bit(form).most, 1n - form.least)),
    ([value]) => (Array.isArray(value) ? value.map((bit) => !bit) : 1n - value),
  ],
  and: logical(
    (a, b) => a & b,
    (a, b) => (a < b ? a : b),
  ),
  or: logical((a, b) => a | b, filled),
  xor: logical((a, b) => a ^ b, filled),
  shr: [
    2,
    0,
    (node, [a, b]) => number(node.single(a, 0n).least >> node.single(b, 0n, 62n).most, a.most >> b.least),
    ([a, b]) => a >> b,
  ],
  ones: [
    1,
    0,
    (node, [form]) => number(0n, BigInt(form.row ? form.width : bitLength(node.single(form, 0n).most))),
    ([value]) => BigInt(Array.isArray(value) ? trueAt(value).length : ones(value)),
  ],
  where: [
    3,
    0,
    (node, [condition, a, b]) => {
      node.bit(condition);
      node.same(a.width, b.width);
      node.same(!a.row, !b.row);
      return { ...a, least: smallest([a.least, b.least]), most: largest([a.most, b.most]) };
    },
    ([condition, a, b]) => (on(condition) ? a : b),
  ],
  table: [
    1,
    1,
    (node, [index]) => {
      const [table] = node.params;
      node.need(wholes(table));
      node.single(index, 0n, BigInt(table.length - 1));
      return node.within(smallest(table), largest(table));
    },
    ([index], [table]) => table[index],
  ],
  aim: [
    3,
    0,
    (node, [column, line, odd]) => {
      const { most } = node.single(column, 0n);
      node.need((most & (most + 1n)) === 0n);
      node.single(line, 1n, most);
      node.bit(odd);
      return number(0n, most);
    },
    ([column, line, odd]) => (BigInt(ones(column & line) % 2) === odd ? column : column ^ (line & -line)),
  ],
  around: [
    2,
    2,
    (node, [start, place]) => {
      const near = node.whole(0, 1n);
      const among = node.whole(1, near);
      node.single(start, 0n, among - near);
      return number(0n, largest([node.single(place, 0n).most, among - 1n]));
    },
    ([start, place], [near, among]) => {
      if (place >= among) return place;
      return place < near ? start + place : place - (place - near < start ? near : 0n);
    },
  ],
  get: [2, 0, (node, [form, place]) => (node.row(form, place), number()), ([cells, place]) => truth(cells[place])],
  put: [
    3,
    0,
    (node, [form, place, value]) => (node.bit(value), node.row(form, place)),
    ([cells, place, value]) => changed(cells, place, on(value)),
  ],
  swap: [
    3,
    0,
    (node, args) => node.row(...args),
    ([cells, a, b]) => changed(changed(cells, a, cells[b]), b, cells[a]),
  ],
  widen: [
    1,
    1,
    (node, [form]) => row(node.whole(0, BigInt(node.row(form).width), WIDEST)),
    ([cells], [width]) => listed(Number(width), (place) => cells[place] ?? false),
  ],
  turn: [
    2,
    0,
    (node, [form, which]) => (node.bit(which), node.row(form)),
    ([cells, which]) => cells.map((bit) => bit !== on(which)),
  ],
  pack: [
    null,
    1,
    (node, args) => {
      const width = node.whole(0, 1n, 62n);
      for (const form of args) node.single(form, 0n, (1n << width) - 1n);
      return row(node.wide(width * BigInt(args.length)));
    },
    (args, [width]) => args.flatMap((value) => listed(Number(width), (place) => bitAt(value, place))),
  ],
  cells: [
    1,
    1,
    (node, [form]) => (node.whole(0, 0n, 61n), row(node.vector(form, 0n).width)),
    ([vector], [place]) => vector.map((value) => bitAt(value, place)),
  ],
  join: [
    null,
    0,
    (node, args) => row(node.wide(args.reduce((sum, form) => sum + BigInt(node.row(form).width), 0n))),
    (rows) => rows.flat(),
  ],
  at: [
    2,
    0,
    (node, [form, index]) => {
      node.single(index, 0n, BigInt(node.vector(form).width - 1));
      return number(form.least, form.most);
    },
    ([vector, index]) => vector[index],
  ],
};

/** What an operation gives of these arguments, and of coins if it is a draw. */
export const computed = ({ op, params }, given, coins) => OPERATIONS[op][3](given, params, coins);
