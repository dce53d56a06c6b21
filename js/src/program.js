// A law as data: the straight-line program that turns the code of an answer into a report. It comes from a server and may be
// anything; what is not a law is refused here, in time and memory that its length bounds.

import { lawful } from "./insist.js";
import { LARGEST, number, OPERATIONS, smallest, WIDEST, wholes } from "./operations.js";
import { evaluate } from "./run.js";

const MOST_NODES = 20_000;
const MOST_ENTRIES = 1 << 16; // of all tables and weights together; Python, which has more memory, allows 2^22
const MOST_CELLS = 1 << 22; // of all rows and vectors together
const NO_LAW = "This is not a law: it needs nodes and report.";
const TOO_LARGE = "The law is too large for this device.";

const insist = (holds, what = NO_LAW) => lawful(holds, what);

/**
 * One operation, the places of the earlier nodes it is applied to, its parameters (BigInts, fractions, a name, lists), and
 * from these its `form`. Its methods refuse types and parameters that the operation is not for, and return
 * those that it is.
 */
export class Node {
  constructor(op, args, params) {
    Object.assign(this, { op, args, params });
  }

  need(holds) {
    insist(holds, `The operation ${this.op} is not given what it takes.`);
  }

  whole(place, least, most = LARGEST) {
    const value = this.params[place];
    const good = typeof value === "bigint" && value >= least && value <= most;
    this.need(good);
    return value;
  }

  chance() {
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

  within(least, most, width) {
    this.need(least >= -LARGEST && most <= LARGEST);
    return number(least, most, width);
  }

  /** A number, or a vector of them. */
  numbers(form, least = form.least, most = form.most) {
    this.need(!form.row && form.least >= least && form.most <= most);
    return form;
  }

  single(form, least, most) {
    this.need(!form.width);
    return this.numbers(form, least, most);
  }

  bit(form) {
    return this.single(form, 0n, 1n);
  }

  vector(form, least) {
    this.need(form.width);
    return this.numbers(form, least);
  }

  /** A row, with the cells that `places` name in it. */
  row(form, ...places) {
    this.need(form.row);
    for (const place of places) this.single(place, 0n, BigInt(form.width) - 1n);
    return form;
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

/** These places and those of all nodes that they are made of, in order. */
export function before(nodes, places) {
  const found = new Set(places);
  for (const place of found) for (const arg of nodes[place].args) found.add(arg);
  return [...found].sort((a, b) => a - b);
}

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
      entries += plain.slice(2, 6).filter(Array.isArray).flat(2).length;
      insist(entries <= MOST_ENTRIES, TOO_LARGE);
      const node = this.#read(plain);
      cells += node.form.width ?? 0;
      insist(cells <= MOST_CELLS, TOO_LARGE);
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
    return this.nodes.filter((node) => node.op === "code");
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
    const [arity, most, form] = OPERATIONS[op];
    const node = new Node(op, Array.from(args), params);
    node.need(arity === null || args.length === arity);
    node.need(params.length <= most);
    node.need(node.args.every((arg) => this.#known(arg)));
    node.params = params.map((each, place) => (op === "code" && !place ? each : parsed(each)));
    const types = node.args.map((arg) => this.nodes[arg].form);
    node.form = form(node, types);
    return node;
  }
}
