// A law as data: the straight-line program that turns the code of an answer into a report. It comes from a server and may be
// anything; what is not a law is refused here, in time and memory that its length bounds.

import { InvalidLaw } from "./errors.js";

const LARGEST = 1n << 62n; // no number of a law lies outside -2^62..2^62
const MOST_NODES = 20_000;
const MOST_ENTRIES = 1 << 16; // of all tables and weights together; Python, which has more memory, allows 2^20
const MOST_CELLS = 1 << 22; // of all rows and vectors together
const WIDEST = 1n << 20n; // cells of a row, and numbers of a vector
const NO_LAW = "This is not a law: it needs the lists nodes and report.";
const TOO_LARGE = "The law is too large for this device.";

function insist(holds, what = NO_LAW) {
  if (!holds) throw new InvalidLaw(what);
}

// Types: a whole number from `low` to `high`; with a width a vector of such numbers, or with `row` as many bits

export const number = (low = 0n, high = 1n, width = undefined) => ({ low, high, width, row: false });
export const row = (width) => ({ low: 0n, high: 1n, width: Number(width), row: true });

const smallest = (all) => all.reduce((a, b) => (b < a ? b : a));
const largest = (all) => all.reduce((a, b) => (b > a ? b : a));
const bits = (value) => (value ? value.toString(2).length : 0);
const absolute = (value) => (value < 0n ? -value : value);
/** Rounded down, also below zero. */
export const remainder = (value, by) => ((value % by) + by) % by;
export const quotient = (value, by) => (value - remainder(value, by)) / by;

/** One operation, the places of the earlier nodes it is applied to, and its parameters: BigInts, fractions, a name, lists. */
class Node {
  constructor(op, args, params) {
    Object.assign(this, { op, args, params });
  }

  need(holds, what) {
    insist(holds, `The operation ${this.op} ${what}.`);
  }

  whole(place, low, high = LARGEST) {
    const value = this.params[place];
    const good = typeof value === "bigint" && value >= low && value <= high;
    this.need(good, `needs a whole number from ${low} to ${high} as parameter ${place + 1}`);
    return value;
  }

  odds(place) {
    const value = this.params[place];
    this.need(value?.d && value.n <= value.d, "needs a probability, an exact fraction from 0 to 1");
    return value;
  }

  /** The sum of a list of weights. */
  weights(list) {
    this.need(wholes(list) && list.every((each) => each >= 0n), "needs weights that are whole numbers from 0");
    const total = list.reduce((a, b) => a + b);
    this.need(total > 0n && total < 1n << 63n, "needs weights with a sum from 1 to 2^63 - 1");
    return total;
  }

  within(low, high, width) {
    this.need(low >= -LARGEST && high <= LARGEST, "gives numbers beyond 2^62, which a law must not hold");
    return number(low, high, width);
  }

  /** A number, or a vector of them. */
  numbers(type) {
    this.need(!type.row, "is for numbers, not for rows of bits");
    return type;
  }

  single(type, low = type.low, high = type.high) {
    this.need(!type.row && type.width === undefined, "needs a single number");
    this.need(type.low >= low && type.high <= high, `needs a number from ${low} to ${high}`);
    return type;
  }

  vector(type) {
    this.need(!type.row && type.width !== undefined, "needs a vector of numbers");
    return type;
  }

  /** The type of a row; the cells that `places` name must be in it. */
  row(type, ...places) {
    this.need(type.row, "needs a row of bits");
    for (const place of places) this.single(place, 0n, BigInt(type.width) - 1n);
    return type;
  }

  wide(width) {
    this.need(width > 0n && width <= WIDEST, "gives too wide a row");
    return row(width);
  }
}

const wholes = (list) => Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === "bigint");

/** Of an operation on two numbers that is extreme where they are. */
const corners = (combine) => (node, [a, b]) => {
  const widths = [a, b].map((type) => node.numbers(type).width);
  node.need(widths.includes(undefined) || a.width === b.width, "needs vectors of the same length");
  const ends = [a.low, a.high].flatMap((x) => [combine(x, b.low), combine(x, b.high)]);
  return node.within(smallest(ends), largest(ends), a.width ?? b.width);
};

const compared = (node, args) => {
  for (const type of args) node.single(type);
  return number();
};

const logical = (node, [a, b]) => {
  if (a.row || b.row) {
    if (node.op === "and" && !b.row) node.single(b, 0n, 1n); // the row, or one without a bit
    else node.need(node.row(a).width === node.row(b).width, "needs rows of the same width");
    return a;
  }
  for (const type of [a, b]) node.single(type, 0n);
  return node.op === "and" ? number(0n, smallest([a.high, b.high])) : node.within(0n, (1n << BigInt(bits(largest([a.high, b.high])))) - 1n);
};

const uniform = (node) => number(0n, node.whole(0, 1n) - 1n);

/** Operation: how many arguments (null: any number), how many parameters at most, the type of what it gives. */
const OPERATIONS = {
  code: [
    null,
    4,
    (node) => {
      node.need(typeof node.params[0] === "string", "needs a name");
      const low = node.whole(1, -LARGEST);
      return number(low, node.whole(2, low), node.params.length > 3 ? Number(node.whole(3, 1n, WIDEST)) : undefined);
    },
  ],
  const: [0, 1, (node) => number(node.whole(0, -LARGEST), node.params[0])],
  add: [2, 0, corners((a, b) => a + b)],
  sub: [2, 0, corners((a, b) => a - b)],
  mul: [2, 0, corners((a, b) => a * b)],
  min: [2, 0, corners((a, b) => (a < b ? a : b))],
  max: [2, 0, corners((a, b) => (a > b ? a : b))],
  abs: [
    1,
    0,
    (node, [type]) => {
      const ends = [node.numbers(type).low, type.high].map(absolute);
      return number(type.low <= 0n && type.high >= 0n ? 0n : smallest(ends), largest(ends), type.width);
    },
  ],
  div: [
    1,
    1,
    (node, [type]) => {
      const by = node.whole(0, 1n);
      return number(quotient(node.numbers(type).low, by), quotient(type.high, by), type.width);
    },
  ],
  mod: [
    1,
    1,
    (node, [type]) => {
      const by = node.whole(0, 1n);
      return node.numbers(type).low >= 0n && type.high < by ? type : number(0n, by - 1n, type.width);
    },
  ],
  lt: [2, 0, compared],
  eq: [2, 0, compared],
  not: [1, 0, (node, [type]) => (type.row ? type : number(1n - node.single(type, 0n, 1n).high, 1n - type.low))],
  and: [2, 0, logical],
  or: [2, 0, logical],
  xor: [2, 0, logical],
  shr: [2, 0, (node, [a, b]) => number(node.single(a, 0n).low >> node.single(b, 0n, 62n).high, a.high >> b.low)],
  ones: [1, 0, (node, [type]) => number(0n, BigInt(type.row ? type.width : bits(node.single(type, 0n).high)))],
  where: [
    3,
    0,
    (node, [condition, a, b]) => {
      node.single(condition, 0n, 1n);
      node.need(a.row === b.row && a.width === b.width, "needs two values of the same kind");
      return { ...a, low: smallest([a.low, b.low]), high: largest([a.high, b.high]) };
    },
  ],
  table: [
    1,
    1,
    (node, [index]) => {
      const [table] = node.params;
      node.need(wholes(table), "needs a table of whole numbers");
      node.single(index, 0n, BigInt(table.length - 1));
      return node.within(smallest(table), largest(table));
    },
  ],
  aim: [
    3,
    0,
    (node, [column, line, odd]) => {
      const { high } = node.single(column, 0n);
      node.need((high & (high + 1n)) === 0n, "needs columns 0 to 2^k - 1");
      node.single(line, 1n, high);
      node.single(odd, 0n, 1n);
      return number(0n, high);
    },
  ],
  around: [
    2,
    2,
    (node, [start, place]) => {
      const near = node.whole(0, 1n);
      const among = node.whole(1, near);
      node.single(start, 0n, among - near);
      return number(0n, largest([node.single(place, 0n).high, among - 1n]));
    },
  ],
  get: [2, 0, (node, [type, place]) => (node.row(type, place), number())],
  put: [3, 0, (node, [type, place, value]) => (node.single(value, 0n, 1n), node.row(type, place))],
  swap: [3, 0, (node, [type, ...places]) => node.row(type, ...places)],
  widen: [1, 1, (node, [type]) => row(node.whole(0, BigInt(node.row(type).width), WIDEST))],
  turn: [2, 0, (node, [type, which]) => (node.single(which, 0n, 1n), node.row(type))],
  pack: [
    null,
    1,
    (node, args) => {
      const each = node.whole(0, 1n, 62n);
      for (const type of args) node.single(type, 0n, (1n << each) - 1n);
      return node.wide(each * BigInt(args.length));
    },
  ],
  cells: [
    1,
    1,
    (node, [type]) => {
      node.need(node.vector(type).low >= 0n, "needs a vector of numbers from 0");
      node.whole(0, 0n, 61n);
      return row(type.width);
    },
  ],
  join: [null, 0, (node, args) => node.wide(args.reduce((sum, type) => sum + BigInt(node.row(type).width), 0n))],
  at: [
    2,
    0,
    (node, [type, index]) => {
      node.single(index, 0n, BigInt(node.vector(type).width - 1));
      return number(type.low, type.high);
    },
  ],
  toss: [0, 1, (node) => (node.odds(0), number())],
  below: [0, 1, uniform],
  public: [0, 1, uniform],
  split: [
    0,
    3,
    (node) => {
      const { n, d } = node.odds(0);
      const [first, second] = [node.whole(1, 1n), node.whole(2, 0n)];
      node.need(second || n === d, "needs a second part, unless the first is certain");
      return node.within(0n, first + second - 1n);
    },
  ],
  pick: [0, 1, (node) => (node.weights(node.params[0]), number(0n, BigInt(node.params[0].length - 1)))],
  pick_each: [
    1,
    1,
    (node, [index]) => {
      const [table] = node.params;
      node.need(Array.isArray(table) && table.length, "needs rows of weights");
      const sums = new Set(table.map((list) => `${node.weights(list)} ${list.length}`));
      node.need(sums.size === 1, "needs rows of the same length and sum");
      node.single(index, 0n, BigInt(table.length - 1));
      return number(0n, BigInt(table[0].length - 1));
    },
  ],
  toss_each: [
    1,
    1,
    (node, [type]) => {
      node.need(node.numbers(type).low >= 0n && type.high <= node.whole(0, 1n), "needs numbers from 0 to its whole");
      return number(0n, 1n, type.width);
    },
  ],
  flags: [0, 2, (node) => (node.odds(0), row(node.whole(1, 1n, WIDEST)))],
  subset: [
    1,
    2,
    (node, [less]) => {
      const size = node.whole(0, 1n, WIDEST);
      node.whole(1, 1n, size);
      node.single(less, 0n, 1n);
      return row(size);
    },
  ],
  majority: [0, 1, (node) => row(node.whole(0, 1n, WIDEST))],
};

const FRACTION = /^(\d{1,4300})\/(\d{1,4300})$/;
const WHOLE = /^-?\d{1,4300}$/;

/** A parameter as it was written: fractions are text, and so are whole numbers from 2^53 on. */
function parsed(value, deep = 2) {
  if (Array.isArray(value) && deep) return Array.from(value, (each) => parsed(each, deep - 1));
  if (Number.isSafeInteger(value)) return BigInt(value);
  insist(typeof value === "string" && value.length < 9000);
  if (WHOLE.test(value)) return BigInt(value);
  const [n, d] = (FRACTION.exec(value) ?? []).slice(1).map(BigInt);
  insist(d);
  return { n, d }; // not in lowest terms, which takes long for numbers from anywhere
}

const entriesOf = (value) =>
  Array.isArray(value) ? value.reduce((sum, each) => sum + (Array.isArray(each) ? each.length : 1), 0) : 0;

/** The nodes of a law in order, each with its type and the places of its users, and the node of each field of the report. */
export class Program {
  constructor(data) {
    const { nodes, report } = data ?? {};
    insist(Array.isArray(nodes) && Array.isArray(report));
    insist(nodes.length && nodes.length <= MOST_NODES, `A law has from 1 to ${MOST_NODES} operations.`);
    this.nodes = [];
    let [entries, cells] = [0, 0];
    for (const plain of nodes) {
      insist(Array.isArray(plain));
      entries += plain.slice(2, 6).reduce((sum, each) => sum + entriesOf(each), 0);
      insist(entries <= MOST_ENTRIES, TOO_LARGE);
      const node = this.#read(plain);
      cells += node.type.width ?? 0;
      insist(cells <= MOST_CELLS, TOO_LARGE);
      this.nodes.push(node);
    }
    this.report = Array.from(report, (field) => {
      insist(Array.isArray(field) && field.length === 2 && typeof field[0] === "string");
      insist(this.#known(field[1]), "A field of the report refers to an operation that does not exist.");
      return [...field];
    });
    const names = new Set(report.map(([name]) => name));
    insist(names.size && names.size === report.length, "The fields of a report need names, each its own.");
  }

  #known(place) {
    return Number.isInteger(place) && place >= 0 && place < this.nodes.length;
  }

  #read([op, args, ...params]) {
    insist(typeof op === "string" && Array.isArray(args));
    const known = Object.hasOwn(OPERATIONS, op);
    insist(known, `There is no operation ${JSON.stringify(op.slice(0, 30))}. A newer release may know it.`);
    const [arity, most, infer] = OPERATIONS[op];
    const named = op === "code" ? 1 : 0;
    const place = this.nodes.length;
    const node = new Node(op, Array.from(args), []);
    node.need(arity === null || args.length === arity, `needs ${arity} arguments`);
    node.need(params.length <= most, `has at most ${most} parameters`);
    node.need(node.args.every((arg) => this.#known(arg)), "must refer to earlier operations only");
    node.params = params.map((each, i) => (i < named ? each : parsed(each)));
    node.type = infer(
      node,
      node.args.map((arg) => this.nodes[arg].type),
    );
    node.users = [];
    for (const arg of node.args) this.nodes[arg].users.push(place);
    return node;
  }

  /** The nodes whose values come from the encoder, in order. */
  get codes() {
    return this.nodes.filter(({ op }) => op === "code");
  }
}

/** The operations that take random bytes. */
export const DRAWS = new Set("toss below public split pick pick_each toss_each flags subset majority".split(" "));
