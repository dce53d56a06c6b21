// A law as data: the straight-line program that turns the code of an answer into a report. It comes from a server and may be
// anything; what is not a law is refused here, in time and memory that its length bounds.

import { lawful } from "./insist.js";
import { LARGEST, OPERATIONS, smallest, WIDEST, wholes } from "./operations.js";
import { evaluate } from "./run.js";

const MOST_NODES = 20_000;
const MOST_ENTRIES = 1 << 16; // of all tables and weights together; Python, which has more memory, allows 2^20
const MOST_CELLS = 1 << 22; // of all rows and vectors together
const NO_LAW = "This is not a law: it needs the lists nodes and report.";
const TOO_LARGE = "The law is too large for this device.";

const insist = (holds, what = NO_LAW) => lawful(holds, what);

/**
 * One operation, the places of the earlier nodes it is applied to, its parameters (BigInts, fractions, a name, lists), and
 * from these its `type` and the `value` it computes; `users` are the places of the nodes that it is an argument of. Its
 * methods refuse types and parameters that the operation is not for, and return those that it is.
 */
export class Node {
  users = [];

  constructor(op, args, params) {
    Object.assign(this, { op, args, params });
  }

  need(holds) {
    insist(holds, `The operation ${this.op} is not given what it takes.`);
  }

  whole(place, low, high = LARGEST) {
    const value = this.params[place];
    const good = typeof value === "bigint" && value >= low && value <= high;
    this.need(good);
    return value;
  }

  odds() {
    const [value] = this.params;
    this.need(value?.d && value.n <= value.d);
    return value;
  }

  /** The sum of a list of weights. */
  weights(list) {
    const total = wholes(list) && smallest(list) >= 0n ? list.reduce((a, b) => a + b) : 0n;
    this.need(total > 0n && total < 1n << 63n);
    return total;
  }

  within(low, high, width) {
    this.need(low >= -LARGEST && high <= LARGEST);
    return { low, high, width, row: false };
  }

  /** A number, or a vector of them. */
  numbers(type, low = type.low, high = type.high) {
    this.need(!type.row);
    this.need(type.low >= low && type.high <= high);
    return type;
  }

  single(type, low, high) {
    this.need(type.width === undefined);
    return this.numbers(type, low, high);
  }

  bit(type) {
    return this.single(type, 0n, 1n);
  }

  vector(type, low) {
    this.need(type.width !== undefined);
    return this.numbers(type, low);
  }

  /** A row, with the cells that `places` name in it. */
  row(type, ...places) {
    this.need(type.row);
    for (const place of places) this.single(place, 0n, BigInt(type.width) - 1n);
    return type;
  }

  same(a, b) {
    this.need(a === b);
  }

  wide(width) {
    this.need(width > 0n && width <= WIDEST);
    return width;
  }
}

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

/** The nodes of a law in order, and the place of the node of each field of the report. */
export class Program {
  nodes = [];

  constructor(data) {
    const { nodes, report } = data ?? {};
    insist(Array.isArray(nodes) && Array.isArray(report));
    insist(nodes.length && nodes.length <= MOST_NODES, TOO_LARGE);
    let [entries, cells] = [0, 0];
    for (const plain of nodes) {
      insist(Array.isArray(plain));
      entries += plain.slice(2, 6).reduce((sum, each) => sum + entriesOf(each), 0);
      insist(entries <= MOST_ENTRIES, TOO_LARGE);
      const node = this.#read(plain);
      cells += node.type.width ?? 0;
      insist(cells <= MOST_CELLS, TOO_LARGE);
      for (const arg of node.args) this.nodes[arg].users.push(this.nodes.length);
      this.nodes.push(node);
    }
    this.report = Array.from(report, (field) => {
      insist(Array.isArray(field) && field.length === 2 && typeof field[0] === "string");
      insist(this.#known(field[1]));
      return [...field];
    });
    const names = new Set(this.report.map(([name]) => name));
    insist(names.size && names.size === report.length);
  }

  /** The nodes whose values come from the encoder, in order. */
  get codes() {
    return this.nodes.filter(({ op }) => op === "code");
  }

  /** The values of the nodes at these places, or of all, where the codes have these values by name; added to those there are. */
  run(codes, coins, values = [], places = this.nodes.keys()) {
    return evaluate(this, values, places, ({ params: [name] }) => codes[name], coins);
  }

  #known(place) {
    return Number.isInteger(place) && place >= 0 && place < this.nodes.length;
  }

  #read([op, args, ...params]) {
    insist(typeof op === "string" && Array.isArray(args));
    insist(Object.hasOwn(OPERATIONS, op), `There is no operation ${JSON.stringify(op.slice(0, 30))}.`);
    const [arity, most, type, value] = OPERATIONS[op];
    const node = new Node(op, Array.from(args), params);
    node.need(arity === null || args.length === arity);
    node.need(params.length <= most);
    node.need(node.args.every((arg) => this.#known(arg)));
    node.params = params.map((each, place) => (op === "code" && !place ? each : parsed(each)));
    const types = node.args.map((arg) => this.nodes[arg].type);
    return Object.assign(node, { type: type(node, types), value });
  }
}
