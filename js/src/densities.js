// How likely a view is. Views are sorted into classes, in each of which the density of a view is one of a few numbers, whatever
// the answer is: its probability, or this over that of a fixed law. So the loss is at most the largest ratio of two numbers
// of one class. Every rule of proof finds such classes by a look at the graph; docs/law.md states them as theorems.

import { equal, largest, less, ONE, over, product, ratio, rest, smallest, times, ZERO } from "./fraction.js";
import { BIT, choose, codesOf, constant, isDraw, isNumber, make, NONE, rewritten, rules, sizeOf, spend, unknown, upstream, weighted } from "./graph.js";
import { listed } from "./lists.js";
import { cost, worlds } from "./worlds.js";

export const FEW = 1 << 10; // worlds that are followed before any other rule is tried
export const MANY = 1 << 16; // worlds that are followed at all

export const isFree = (node) => node.draws.size > 0 && !node.tainted; // drawn without a look at the answer
const allDraws = (nodes) => nodes.flatMap((node) => [...node.draws]);
export const drawsOf = (nodes) => new Set(allDraws(nodes));

/** Whether these nodes have no draw in common with others. */
export function areApart(some, others) {
  const draws = drawsOf(others);
  return ![...drawsOf(some)].some((draw) => draws.has(draw));
}

/** All nodes that are used, or seen, as often as they are; and whether one is so in one place only. */
export const usesIn = (view) => [...upstream(view).flatMap((node) => node.args), ...view];
export const isOnce = (uses, node) => uses.filter((each) => each === node).length === 1;
export const isUsedOnce = (node, view) => isOnce(usesIn(view), node);

/** The values of each key, in a list. */
export function gathered(pairs) {
  const found = new Map();
  for (const [key, value] of pairs) {
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(value);
  }
  return found;
}

/**
 * For each value of `shared` and of the known codes, the densities that it has with the values of `varied`, for all secret
 * codes, each times its `scale`. One of them is zero if a value of `varied` is missing of the number that is `possible` with the last of `shared`.
 */
export function classes(shared, varied = [], scale = () => ONE, possible = () => 1, few = FEW) {
  let all = [...shared, ...varied];
  if (cost(all) > few) all = narrowed(all);
  if (cost(all) > MANY) return undefined;
  const secret = codesOf(all);
  const seen = [...codesOf(all, false), ...all.slice(0, shared.length)];
  const [ways, whole] = worlds([...seen, ...secret, ...all.slice(shared.length)]);
  const density = ([values, n]) => {
    const own = values.splice(seen.length).slice(secret.length);
    return [values.join("|"), product({ n, d: whole }, scale(own, values.slice(-shared.length)))];
  };
  const every = secret.reduce((all, code) => all * sizeOf(code), 1);
  const ends = ([key, list]) => [key, [list.length < every * possible(key.split("|").at(-1)) ? ZERO : smallest(list), largest(list)]];
  return new Map([...gathered(ways.map(density))].map(ends));
}

/** The largest ratio in one of these classes; null if it is unbounded. */
export function oddsOf(found) {
  let odds = found && ONE;
  for (const list of found?.values() ?? []) {
    const [least, most] = [smallest(list), largest(list)];
    if (most.n && !(least.n && most.d)) return null;
    const own = most.n ? { n: most.n * least.d, d: most.d * least.n } : ONE;
    if (less(odds, own)) odds = own;
  }
  return odds;
}

/**
 * A waist. Take some nodes that need no draw but those that depend on the answer themselves. What the other nodes need of them
 * are codes that may be anything: P(y | c) is a mixture of what it is with these. The fewest such codes of all cuts.
 */
function narrowed(targets) {
  const order = upstream(targets);
  const users = new Map();
  for (const { args } of order) for (const arg of new Set(args)) users.set(arg, (users.get(arg) ?? 0) + 1);
  const size = (nodes) => nodes.reduce((product, node) => product * (node.form.row ? Infinity : sizeOf(node)), 1);
  const [early, front] = [new Set(), new Set()];
  const codes = codesOf(targets);
  let best = codes;
  for (const node of order) {
    if (targets.includes(node) || (isDraw(node) && !node.tainted) || !node.args.every((arg) => early.has(arg))) continue;
    early.add(node);
    if (node.tainted) front.add(node);
    for (const arg of new Set(node.args)) {
      users.set(arg, users.get(arg) - 1);
      if (!users.get(arg)) front.delete(arg);
    }
    spend(front.size + targets.length + codes.length);
    const now = [...front, ...codes.filter((code) => !early.has(code))];
    if (size(now) < size(best)) best = now;
  }
  if (best === codes) return targets;
  rules.push("waist");
  const stand = (node) => [node, node.op === "code" ? node : unknown(node.form, true, node.among)];
  return rewritten(targets, new Map(best.map(stand)));
}

// Shifts: noise that is moved one to one, whatever the answer is

/** The numbers whose sum this is, modulo `by`; or none if there is no `by`. */
export function termsOf(node, by) {
  const [found, todo] = [[], [node]];
  while (todo.length) {
    spend(1);
    const term = todo.pop();
    const { op, args, params } = term;
    if (op === "add" || (by && op === "mod" && params[0] % by === 0n)) todo.push(...args);
    else found.push(term);
  }
  return found;
}

/** The sum of noise. Draws that keep a number, or move it on evenly, are one such draw together. */
function summed(terms, by, isOwn) {
  let bias = ONE; // how much more often than evenly all such draws together stay at 0, as a share of the most that is possible
  const found = [];
  for (const term of terms) {
    const { op, params } = term;
    const [p, first, second] = params;
    if (op === "below" && p === by && isOwn(term)) return term; // with anything added it is still uniform
    if (op !== "split" || first !== 1n || !second || second !== by - 1n || !isOwn(term)) found.push(term);
    else bias = product(bias, { n: p.n * by - p.d, d: p.d * second });
  }
  if (bias !== ONE) found.push(make("split", [], [ratio(bias.d + bias.n * (by - 1n), bias.d * by), 1n, by - 1n]));
  return make("mod", [found.reduce((a, b) => make("add", [a, b]))], [by]);
}

/** [noise, others, size, share]: the noise that a node moves one to one, whatever others are; of so many values, of which each gives a share. */
function moved(node, left) {
  const { op, args, params, form } = node;
  const size = form.most + 1n;
  const [a, b, c] = args;
  if (form.width) return undefined;
  const terms = op === "mod" ? termsOf(a, params[0]) : args;
  const draws = allDraws([...terms, ...left]); // each as often as something depends on it
  spend(draws.length);
  const isOwn = (draw) => {
    spend(draws.length);
    return isDraw(draw) && !draw.args.length && isOnce(draws, draw);
  };
  if (op === "mod") {
    const noise = terms.filter((term) => isFree(term) && (node.tainted || isOwn(term)));
    const others = [...new Set(terms)].filter((term) => !noise.includes(term));
    if (noise.length) return [summed(noise, params[0], isOwn), others, params[0]];
  }
  if (isFree(node)) return [node, [], size];
  if (form.least) return undefined;
  if (op === "table") return permuted(termsOf(a), params[0]);
  const free = op === "xor" && args.find(isFree); // of numbers below a power of two
  if (free) return [free, [free === a ? b : a], size];
  // A vector of as many different numbers as there are has each of them once.
  const isOrder = op === "at" && a.op === "code" && a.form.distinct && size === BigInt(a.form.width);
  if ((isOrder || op === "around") && isFree(b)) return [b, [a], size];
  if (op === "around" && b.op === op) {
    const [noise, others, , share] = moved(b, left) ?? [];
    return noise && [noise, [...others, a], size, share];
  }
  if (op === "aim" && isFree(c) && a.op === "below" && a.params[0] === size && isOwn(a)) {
    return [c, [b], 2n, ratio(2n, size)]; // half of all columns have either parity
  }
  return undefined;
}

/** A table of which the answer selects a row and a draw the column, if every row has every number once. */
function permuted(terms, table) {
  const noise = terms.find(isFree);
  const other = terms.find((term) => term !== noise);
  if (!noise || terms.length !== 2 || noise.form.least) return undefined;
  const size = Number(noise.form.most) + 1;
  const isStep = (arg) => isNumber(arg, BigInt(size));
  if (other.op !== "mul" || !other.args.some(isStep) || table.length % size) return undefined;
  const entries = (line) => table.slice(line * size, (line + 1) * size).filter((each) => each >= 0n && each < size);
  const isWhole = listed(table.length / size, (line) => new Set(entries(line)).size).every((many) => many === size);
  return isWhole ? [noise, [other], BigInt(size)] : undefined;
}

/** A number that moves noise, together with the rest of the view. */
export function shifted(node, view = [node]) {
  const left = view.filter((each) => each !== node);
  const [noise, others, size, share = ONE] = moved(node, left) ?? [];
  if (!noise || !areApart(others, [noise, ...left])) return undefined;
  const { op, params, form } = noise;
  if (!left.length && (op === "below" || op === "split") && form.most + 1n === size) {
    const [p, first, second] = op === "split" ? params : [ONE, size, 0n]; // two densities, however many values there are
    const list = second ? [over(p, ratio(first)), over(rest(p), ratio(second))] : [ratio(1n, first)];
    return new Map([["", list.map((each) => times(each, share))]]);
  }
  return classes(left, [noise], () => share, () => Number(size));
}

// Rows of bits

/** What stands for a row where one of its cells is looked at: the marked one, or any other. */
export const cellwise = (isMarked) => ({ op, args, params, form }, given) => {
  if (!form.row && !args.some((arg) => arg.form.row)) return undefined;
  if (op === "flags") return make("toss", [], [params[0]]);
  if (op === "put") return given[isMarked ? 2 : 0];
  if (op === "get" && isMarked) return given[0];
  if (op === "get" || (op === "cells" && !args[0].draws.size)) return unknown(BIT, true); // any bit
  if (op === "turn") return make("xor", given);
  return ["and", "or", "xor", "not", "where"].includes(op) ? make(op, given) : null;
};

/** Whether a cell is drawn that is any of so many with the same chance, and nothing else depends on it. */
const isEven = (node, view, width) =>
  node.op === "below" && node.params[0] === BigInt(width) && isUsedOnce([...node.draws][0], view);

/** The law of one of the cells of rows which are drawn one by one, by the codes, and the cell that is drawn differently. */
export function unmarked(rows, view, fixed = NONE) {
  const all = upstream(view);
  const [mark, ...others] = new Set(all.filter((node) => node.op === "put" || node.op === "get").map((node) => node.args[1]));
  const decides = (node) => (node.form.row ? node.args.filter((arg) => !arg.form.row) : []);
  const shared = all.filter(({ op }) => op === "where" || op === "turn" || op === "and").flatMap(decides);
  const isDrawn = mark?.draws.size > 0;
  const isOdd = isDrawn && !isEven(mark, view, rows[0].form.width);
  if (others.length || isOdd || [...drawsOf(shared)].some((node) => !node.form.row)) return undefined;
  const cells = rewritten(rows, fixed, cellwise(false));
  if (!cells || codesOf(cells, false).length) return undefined;
  return [mark, classes(cells), isDrawn];
}

/** Whether each class has one density only. */
export const isCertain = (found) => [...found.values()].every((list) => equal(smallest(list), largest(list)));

/** The density of the marked cell of rows, over that of any other cell: by the cell if it is shared, else all together. */
export function marked(rows, left, law, isShared) {
  if (!isCertain(law)) return undefined;
  const here = rewritten([...left, ...rows], NONE, cellwise(true));
  const scale = (own, shared) => {
    const [{ n, d }] = law.get((isShared ? shared.slice(-rows.length) : own).join("|")) ?? [{ n: 1n, d: 0n }];
    return { n: d, d: n };
  };
  if (!here || isShared) return here && classes(here, [], scale);
  return classes(here.splice(0, left.length), here, scale, () => law.size);
}

/** What stands for a row all of whose arrangements are equally likely: how many of its bits are set. */
const counted = (view) => (node, given) => {
  const { op, args, params, form } = node;
  if (!form.row && !args.some((arg) => arg.form.row)) return undefined;
  const { width } = form;
  const less = (all, some) => make("sub", [constant(all), some]);
  if (!isUsedOnce(node, view)) return null;
  if (op === "where") return make(op, given);
  if (op === "turn") return make("where", [given[1], less(BigInt(width), given[0]), given[0]]);
  if (op === "subset") return less(params[1], given[0]);
  return op === "majority" ? weighted(listed(width + 1, (ones) => (2 * ones > width ? choose(width, ones) : 0n))) : null;
};

/** The densities of a row whose arrangements are equally likely, by how many bits are set; or of all rows that it masks. */
export function arranged(node) {
  const { op, args, form } = node;
  const { width } = form;
  const each = (wide, ones) => ({ n: 1n, d: choose(wide, Number(ones)) });
  const count = (...targets) => rewritten(targets, NONE, counted([node]));
  if (op === "swap") {
    // Cells of a row of two parts are exchanged as the answer says: a permutation, which keeps the number of bits that are set.
    const [row, place, last] = args;
    const [wide, at, bit] = row.args;
    const isLast = (each) => isNumber(each, BigInt(width - 1));
    const isBeside = row.op === "put" && isLast(at) && wide.args[0]?.form.width === width - 1; // a cell beside a row of all others
    const parts = isBeside ? [wide.args[0], bit] : row.op === "join" && row.args;
    
    if (!areApart([place, last], [row])) return undefined;
    const found = parts.length === 2 && count(...parts);
    const first = parts[0]?.form.width;
    if (!found) return arranged(row);
    const all = [make("add", found)];
    if (isBeside && isLast(last) && isEven(place, [node], width)) return classes(all, [], (_, [ones]) => each(width, ones));
    return classes(all, [found[0]], ([ones], [total]) => product(each(first, ones), each(width - first, total - ones)), (total) => 1 + Math.min(first, width - first, total, width - total));
  }
  if (op === "xor") {
    for (const [noise, other] of [args, [...args].reverse()]) {
      const ones = isFree(noise) && areApart([other], [noise]) && count(noise);
      if (ones) return classes([], ones, ([ones]) => each(width, ones), () => width + 1);
    }
  }
  const ones = isFree(node) && count(node);
  return ones ? classes(ones, [], (_, [ones]) => each(width, ones)) : undefined;
}

/** Draws of few values, and known codes, that conditions are made of. */
export function deciders(view, most, isOpen, others = []) {
  const condition = ({ op, args, form }) => (op === "where" ? [args[0]] : op === "and" && form.row ? [args[1]] : []);
  const conditions = [...upstream(view).flatMap(condition), ...others];
  const isKnown = (node) => (node.op === "code" && !node.tainted) || (isDraw(node) && !node.args.length);
  const decides = (node) => (isOpen ? node.op === "toss" : isKnown(node) && !node.form.row) && sizeOf(node) <= most;
  return upstream(conditions.filter((node) => !node.form.row && (isOpen || !node.tainted))).filter(decides);
}
