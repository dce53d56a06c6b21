// The graph of a law as proofs see it. Proofs make new graphs of it, in which codes and constants stand for nodes; what becomes
// simple by that is simplified at once. Nodes refer to nodes, so that what does not change is shared.

import { DeniableError } from "./errors.js";
import { computed, DRAWS, OPERATIONS, smallest, largest } from "./operations.js";
import { listed } from "./lists.js";
import { Node } from "./program.js";

export const NONE = new Map();
const NO_DRAWS = new Set();
export const BIT = { least: 0n, most: 1n };


export const isDraw = (node) => node.op in DRAWS;
export const isSingle = (node) => !node.form.width;
export const isFixed = (node) => isSingle(node) && node.form.least === node.form.most;
export const isNumber = (node, value) => isFixed(node) && node.form.least === value;

/** How many values a node may have; vectors, and codes that are rows, are not followed value by value. */
export const sizeOf = ({ op, form: { least, most, width, row }, among }) =>
  width ? (row && op !== "code" ? 2 ** width : Infinity) : (among?.length ?? Number(most - least) + 1);

export const valuesOf = ({ form: { least, most }, among }) =>
  among ?? listed(Number(most - least) + 1, (place) => least + BigInt(place));

// There is one proof at a time: its nodes are numbered, it takes so many steps at most, and it uses these rules.
let [ids, left, chosen] = [0, 0, new Map()];
export const rules = [];

/** Begin a proof that may take so many steps. */
export function start(steps) {
  [ids, left, chosen, rules.length] = [0, steps, new Map(), 0];
}

export function spend(steps) {
  if ((left -= steps) < 0) throw new DeniableError(); // the proof is given up
}

/** These nodes and all that they are made of, in order; what those of `known` are made of is not asked. */
export function upstream(targets, known = NONE) {
  const found = new Set(targets);
  for (const node of found) {
    spend(1 + node.args.length);
    if (!known.has(node)) for (const arg of node.args) found.add(arg);
  }
  return [...found].sort((a, b) => a.rank - b.rank);
}

/** The codes that these nodes are made of: of answers if they are tainted, else known ones. */
export const codesOf = (targets, isTainted = true) => upstream(targets).filter((node) => node.op === "code" && node.tainted === isTainted);

/** These nodes where one of those that they are made of has this value. */
export const fixedTo = (targets, node, value) => rewritten(targets, new Map([[node, constant(value)]]));

/** The number of subsets of this size. */
export function choose(all, some) {
  if (!chosen.has(all)) chosen.set(all, [1n]);
  const row = chosen.get(all);
  for (let k = row.length; k <= some; k++) {
    spend(1 + k / 64);
    row.push((row[k - 1] * BigInt(all - k + 1)) / BigInt(k));
  }
  return row[some];
}

/** A node with the draws that it depends on. It is tainted if it depends on a secret code. */
function placed(node, form, tainted, among) {
  const sets = new Set(node.args.map((arg) => arg.draws).filter((draws) => draws.size));
  let [draws = NO_DRAWS] = sets;
  if (sets.size > 1 || isDraw(node)) draws = new Set([...sets].flatMap((set) => [...set]));
  if (isDraw(node)) draws.add(node);
  spend(2 + node.args.length + draws.size * (sets.size > 1));
  return Object.assign(node, { rank: ids++, form, draws, tainted, among });
}

/** A code that may be anything of this type, or one of these values. */
export const unknown = (form, tainted, among) => placed(new Node("code", [], []), form, tainted, among);

export const constant = (value) => make("const", [], [value]);

/** A draw of 0, 1, 2, ... with such weights. */
export function weighted(weights) {
  return placed(new Node("pick", [], [weights]), { least: 0n, most: BigInt(weights.length - 1) }, false);
}

export function make(op, args, params = []) {
  const simple = simpler(op, args, params);
  if (simple) return simple;
  const node = new Node(op, args, params);
  let form = OPERATIONS[op][2](
    node,
    args.map((arg) => arg.form),
  );
  let values;
  if (op === "table") {
    spend(params[0].length);
    values = [...new Set(valuesOf(args[0]).map((place) => params[0][place]))];
    form = { least: smallest(values), most: largest(values) };
  }
  if (op !== "const" && !isDraw(node) && !form.width) {
    if (form.least === form.most) return constant(form.least);
    if (args.every(isFixed)) return constant(computed(node, args.map((arg) => arg.form.least)));
  }
  return placed(node, form, args.some((arg) => arg.tainted), values);
}

/** What gives the same. */
function simpler(op, args, [by]) {
  const [a, b, c] = args;
  const [x, y] = args.map((arg) => arg.form);
  const other = (value) => args[1 - args.findIndex((arg) => isNumber(arg, value))]; // of two, if one is this
  if (op === "where" && isFixed(a)) return x.least ? b : c;
  if (op === "mod") return isSingle(a) && x.least >= 0n && x.most < by && a;
  if (op === "add" || (op === "or" && !x.row)) return other(0n);
  if (op === "and" && x.row && !y.row) return isFixed(b) && y.least && a;
  if (op === "lt" && (x.most < y.least || x.least >= y.most)) return constant(BigInt(x.most < y.least));
  if (op === "eq" && (x.most < y.least || x.least > y.most || a === b)) return constant(BigInt(a === b));
  return undefined;
}

/**
 * These nodes, with some of those that they are made of replaced: by those of `instead`, or by what `change` makes of a node
 * and its new arguments, where it makes something. Null if it makes null.
 */
export function rewritten(targets, instead, change = () => undefined) {
  const now = new Map(instead);
  for (const node of upstream(targets, instead)) {
    if (now.has(node)) continue;
    const args = node.args.map((arg) => now.get(arg));
    let made = change(node, args);
    if (made === null) return null;
    if (!made) made = args.every((arg, place) => arg === node.args[place]) ? node : make(node.op, args, node.params);
    now.set(node, made);
  }
  return targets.map((node) => now.get(node));
}
