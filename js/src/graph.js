// The graph of a law as proofs see it. Proofs make new graphs of it, in which codes and constants stand for nodes; what becomes
// simple by that is simplified at once. Nodes refer to nodes, so that what does not change is shared.

import { DeniableError } from "./errors.js";
import { DRAWS, OPERATIONS, smallest, largest } from "./operations.js";
import { listed } from "./lists.js";
import { Node } from "./program.js";

export const NONE = new Map();
const NO_DRAWS = new Set();
export const BIT = { low: 0n, high: 1n };


export const isDraw = ({ op }) => Object.hasOwn(DRAWS, op);
export const isSingle = ({ type }) => type.width === undefined;
export const isFixed = (node) => isSingle(node) && node.type.low === node.type.high;
export const isNumber = (node, value) => isFixed(node) && node.type.low === value;

/** What a proof throws that takes too many steps. */
class TooLong extends DeniableError {}

/** How many values a node may have; vectors, and codes that are rows, are not followed value by value. */
export const sizeOf = ({ op, type: { low, high, width, row }, values }) =>
  width === undefined ? (values?.length ?? Number(high - low) + 1) : row && op !== "code" ? 2 ** width : Infinity;

export const valuesOf = ({ type: { low, high }, values }) =>
  values ?? listed(Number(high - low) + 1, (place) => low + BigInt(place));

/** The nodes of one proof, and how many steps it may still take. */
export class Graph {
  #ids = 0;
  #chosen = new Map();
  rules = new Set(); // that were used

  constructor(steps) {
    this.steps = steps;
  }

  spend(steps) {
    if ((this.steps -= steps) < 0) throw new TooLong();
  }

  /** These nodes and all that they are made of, in order; what those of `known` are made of is not asked. */
  upstream(targets, known = NONE) {
    const [found, todo] = [new Set(), [...targets]];
    while (todo.length) {
      const node = todo.pop();
      if (found.has(node)) continue;
      found.add(node);
      this.spend(1 + node.args.length);
      if (!known.has(node)) for (const arg of node.args) todo.push(arg);
    }
    return [...found].sort((a, b) => a.id - b.id);
  }

  /** The codes that these nodes are made of: of answers if they are tainted, else known ones. */
  codes(targets, isTainted = true) {
    return this.upstream(targets).filter(({ op, tainted }) => op === "code" && tainted === isTainted);
  }

  /** These nodes where one of those that they are made of has this value. */
  fixed(targets, node, value) {
    return this.rewritten(targets, new Map([[node, this.constant(value)]]));
  }

  /** The number of subsets of this size. */
  choose(all, some) {
    if (!this.#chosen.has(all)) this.#chosen.set(all, [1n]);
    const row = this.#chosen.get(all);
    for (let k = row.length; k <= some; k++) {
      this.spend(1 + k / 64);
      row.push((row[k - 1] * BigInt(all - k + 1)) / BigInt(k));
    }
    return row[some];
  }

  /** A node with the draws that it depends on. It is tainted if it depends on a secret code. */
  #placed(node, type, tainted, values) {
    const sets = new Set(node.args.map(({ draws }) => draws).filter(({ size }) => size));
    let [draws = NO_DRAWS] = sets;
    if (sets.size > 1 || isDraw(node)) draws = new Set([...sets].flatMap((set) => [...set]));
    if (isDraw(node)) draws.add(node);
    this.spend(2 + node.args.length + draws.size * (sets.size > 1));
    return Object.assign(node, { id: this.#ids++, type, draws, tainted, values });
  }

  /** A code that may be anything of this type, or one of these values. */
  code(type, tainted, values) {
    return this.#placed(new Node("code", [], []), type, tainted, values);
  }

  constant(value) {
    return this.add("const", [], [value]);
  }

  /** A draw of 0, 1, 2, ... with such weights. */
  weighted(weights) {
    const node = Object.assign(new Node("pick", [], [weights]), { value: OPERATIONS.pick[3] });
    return this.#placed(node, { low: 0n, high: BigInt(weights.length - 1) }, false);
  }

  add(op, args, params = []) {
    const simple = this.#simpler(op, args, params);
    if (simple) return simple;
    const node = new Node(op, args, params);
    let type = OPERATIONS[op][2](
      node,
      args.map((arg) => arg.type),
    );
    node.value = OPERATIONS[op][3];
    let values;
    if (op === "table") {
      this.spend(params[0].length);
      values = [...new Set(valuesOf(args[0]).map((place) => params[0][place]))];
      type = { low: smallest(values), high: largest(values) };
    }
    if (op !== "const" && !isDraw(node) && type.width === undefined) {
      if (type.low === type.high) return this.constant(type.low);
      if (args.every(isFixed)) return this.constant(node.value(args.map((arg) => arg.type.low), params));
    }
    return this.#placed(node, type, args.some(({ tainted }) => tainted), values);
  }

  /** What gives the same. */
  #simpler(op, args, [by]) {
    const [a, b, c] = args;
    const [x, y] = args.map(({ type }) => type);
    const other = (value) => args[1 - args.findIndex((arg) => isNumber(arg, value))]; // of two, if one is this
    if (op === "where" && isFixed(a)) return x.low ? b : c;
    if (op === "mod") return isSingle(a) && x.low >= 0n && x.high < by && a;
    if (op === "add" || (op === "or" && !x.row)) return other(0n);
    if (op === "and" && x.row && !y.row) return isFixed(b) && y.low && a;
    if (op === "lt" && (x.high < y.low || x.low >= y.high)) return this.constant(BigInt(x.high < y.low));
    if (op === "eq" && (x.high < y.low || x.low > y.high)) return this.constant(0n);
    return undefined;
  }

  /**
   * These nodes, with some of those that they are made of replaced: by those of `instead`, or by what `change` makes of a node
   * and its new arguments, where it makes something. Null if it makes null.
   */
  rewritten(targets, instead, change = () => undefined) {
    const now = new Map(instead);
    for (const node of this.upstream(targets, instead)) {
      if (now.has(node)) continue;
      const args = node.args.map((arg) => now.get(arg));
      let made = change(node, args);
      if (made === null) return null;
      if (!made) made = args.every((arg, place) => arg === node.args[place]) ? node : this.add(node.op, args, node.params);
      now.set(node, made);
    }
    return targets.map((node) => now.get(node));
  }
}
