// How likely a view is. Views are sorted into classes, in each of which the density of a view is one of a few numbers, whatever
// the answer is: its probability, or this over that of a fixed law. So the loss is at most the largest ratio of two numbers
// of one class. Every rule of proof finds such classes by a look at the graph; docs/law.md states them as theorems.

import { equal, largest, less, ONE, over, plus, product, ratio, rest, smallest, times, ZERO } from "./fraction.js";
import { BIT, isDraw, isNumber, NONE, sizeOf } from "./graph.js";
import { listed } from "./lists.js";
import { cost, worlds } from "./worlds.js";

export const FEW = 1 << 10; // worlds that are followed before any other rule is tried
export const MANY = 1 << 16; // worlds that are followed at all

export const isFree = ({ draws, tainted }) => draws.size > 0 && !tainted; // drawn without a look at the answer
const drawsOf = (nodes) => new Set(nodes.flatMap(({ draws }) => [...draws]));

/** Whether these nodes have no draw in common with others. */
function areApart(some, others) {
  const draws = drawsOf(others);
  return some.every((node) => [...node.draws].every((draw) => !draws.has(draw)));
}

/** All nodes that are used, or seen, as often as they are; and whether one is so in one place only. */
export const usesIn = (graph, view) => [...graph.upstream(view).flatMap(({ args }) => args), ...view];
export const isOnce = (uses, node) => uses.filter((each) => each === node).length === 1;
export const isUsedOnce = (graph, node, view) => isOnce(usesIn(graph, view), node);

/** The values of each key, in a list. */
export function gathered(pairs) {
  const found = new Map();
  for (const [key, value] of pairs) {
    if (found.has(key)) found.get(key).push(value);
    else found.set(key, [value]);
  }
  return found;
}

/**
 * For each value of `shared` and of the known codes, the densities that it has with the values of `varied`, for all secret
 * codes. One of them is zero if a value of `varied` is missing of the number that is `possible`.
 */
export function classes(graph, shared, varied = [], { possible = () => 1, scale = () => ONE, few = FEW } = {}) {
  let all = [...shared, ...varied];
  if (cost(graph, all) > few) all = narrowed(graph, all);
  if (cost(graph, all) > MANY) return undefined;
  const secret = graph.codes(all);
  const seen = [...graph.codes(all, false), ...all.slice(0, shared.length)];
  const { whole, ways } = worlds(graph, [...seen, ...secret, ...all.slice(shared.length)]);
  const density = ([values, n]) => {
    const own = values.splice(seen.length).slice(secret.length);
    return [values.join("|"), product({ n, d: whole }, scale(own, values))];
  };
  const every = secret.reduce((all, code) => all * sizeOf(code), 1);
  const ends = ([key, list]) => [key, [list.length < every * possible(key) ? ZERO : smallest(list), largest(list)]];
  return new Map([...gathered(ways.map(density))].map(ends));
}

/** The largest ratio in one of these classes; null if it is unbounded. */
export function oddsOf(found) {
  let odds = found && ONE;
  for (const list of found?.values() ?? []) {
    const [low, high] = [smallest(list), largest(list)];
    if (high.n && !(low.n && high.d)) return null;
    const own = high.n ? { n: high.n * low.d, d: high.d * low.n } : ONE;
    if (less(odds, own)) odds = own;
  }
  return odds;
}

/**
 * A waist. Take some nodes that need no draw but those that depend on the answer themselves. What the other nodes need of them
 * are codes that may be anything: P(y | c) is a mixture of what it is with these. The fewest such codes of all cuts.
 */
function narrowed(graph, targets) {
  const order = graph.upstream(targets);
  const users = new Map();
  for (const { args } of order) for (const arg of new Set(args)) users.set(arg, (users.get(arg) ?? 0) + 1);
  const size = (nodes) => nodes.reduce((product, node) => product * (node.type.row ? Infinity : sizeOf(node)), 1);
  const [early, front] = [new Set(), new Set()];
  const codes = graph.codes(targets);
  let best = codes;
  for (const node of order) {
    if (targets.includes(node) || (isDraw(node) && !node.tainted) || !node.args.every((arg) => early.has(arg))) continue;
    early.add(node);
    if (node.tainted) front.add(node);
    for (const arg of new Set(node.args)) {
      users.set(arg, users.get(arg) - 1);
      if (!users.get(arg)) front.delete(arg);
    }
    graph.spend(front.size + targets.length + codes.length);
    const now = [...front, ...codes.filter((code) => !early.has(code))];
    if (size(now) < size(best)) best = now;
  }
  if (best === codes) return targets;
  graph.rules.add("waist");
  const stand = (node) => [node, node.op === "code" ? node : graph.code(node.type, true, node.values)];
  return graph.rewritten(targets, new Map(best.map(stand)));
}

// Shifts: noise that is moved one to one, whatever the answer is

/** The numbers whose sum this is, modulo `by`; or none if there is no `by`. */
export function termsOf(graph, node, by) {
  const [found, todo] = [[], [node]];
  while (todo.length) {
    graph.spend(1);
    const term = todo.pop();
    const { op, args, params } = term;
    if (op === "add" || (by && op === "mod" && params[0] % by === 0n)) todo.push(...args);
    else found.push(term);
  }
  return found;
}

/** The sum of noise. Draws that keep a number, or move it on evenly, are one such draw together. */
function summed(graph, terms, by, isOwn) {
  let stay = null;
  const found = [];
  for (const term of terms) {
    const { op, params } = term;
    const [p, first, second] = params;
    if (op === "below" && p === by && isOwn(term)) return term; // with anything added it is still uniform
    if (op !== "split" || first !== 1n || !second || second !== by - 1n || !isOwn(term)) found.push(term);
    else stay = stay ? plus(times(stay, p), over(times(rest(stay), rest(p)), ratio(second))) : p;
  }
  if (stay) found.push(graph.add("split", [], [stay, 1n, by - 1n]));
  return graph.add("mod", [found.reduce((a, b) => graph.add("add", [a, b]))], [by]);
}

/** The `noise` that a node moves one to one, whatever `others` are; with `size` values, of which each gives a `share`. */
function moved(graph, node, left) {
  const { op, args, params, type } = node;
  const size = type.high + 1n;
  const [a, b, c] = args;
  if (type.width !== undefined) return undefined;
  const isOwn = (draw) => isDraw(draw) && !draw.args.length && isUsedOnce(graph, draw, [node]) && areApart([draw], left);
  if (op === "mod") {
    const terms = termsOf(graph, a, params[0]);
    const noise = terms.filter((term) => isFree(term) && (node.tainted || isOwn(term)));
    const others = [...new Set(terms)].filter((term) => !noise.includes(term));
    if (noise.length) return { noise: summed(graph, noise, params[0], isOwn), others, size: params[0] };
  }
  if (isFree(node)) return { noise: node, others: [], size };
  if (type.low) return undefined;
  if (op === "table") return permuted(termsOf(graph, a), params[0]);
  // A vector of as many different numbers as there are has each of them once.
  const isOrder = op === "at" && a.op === "code" && a.type.distinct && size === BigInt(a.type.width);
  if ((isOrder || op === "around") && isFree(b)) return { noise: b, others: [a], size };
  if (op === "around" && b.op === op) {
    const inner = moved(graph, b, left);
    return inner && { ...inner, others: [...inner.others, a], size };
  }
  if (op === "aim" && isFree(c) && a.op === "below" && a.params[0] === size && isOwn(a) && areApart([a], [b, c])) {
    return { noise: c, others: [b], size: 2n, share: ratio(2n, size) }; // half of all columns have either parity
  }
  return undefined;
}

/** A table of which the answer selects a row and a draw the column, if every row has every number once. */
function permuted(terms, table) {
  const noise = terms.find(isFree);
  const other = terms.find((term) => term !== noise);
  if (!noise || terms.length !== 2 || noise.type.low) return undefined;
  const size = Number(noise.type.high) + 1;
  const isStep = (arg) => isNumber(arg, BigInt(size));
  if (other.op !== "mul" || !other.args.some(isStep) || table.length % size) return undefined;
  const entries = (line) => table.slice(line * size, (line + 1) * size).filter((each) => each >= 0n && each < size);
  const isWhole = listed(table.length / size, (line) => new Set(entries(line)).size).every((many) => many === size);
  return isWhole ? { noise, others: [other], size: BigInt(size) } : undefined;
}

/** A number that moves noise, together with the rest of the view. */
export function shifted(graph, node, view = [node]) {
  const left = view.filter((each) => each !== node);
  const { noise, others, size, share = ONE } = moved(graph, node, left) ?? {};
  if (!noise || !areApart(others, [noise, ...left])) return undefined;
  const { op, params, type } = noise;
  if (!left.length && (op === "below" || op === "split") && type.high + 1n === size) {
    const [p, first, second] = op === "split" ? params : [ONE, size, 0n]; // two densities, however many values there are
    const list = second ? [over(p, ratio(first)), over(rest(p), ratio(second))] : [ratio(1n, first)];
    return new Map([["", list.map((each) => times(each, share))]]);
  }
  return classes(graph, left, [noise], { possible: () => Number(size), scale: () => share });
}

// Rows of bits

/** What stands for a row where one of its cells is looked at: the marked one, or any other. */
export const cellwise = (graph, isMarked) => ({ op, args, params, type }, given) => {
  if (!type.row && !args.some((arg) => arg.type.row)) return undefined;
  if (op === "flags") return graph.add("toss", [], [params[0]]);
  if (op === "put") return given[isMarked ? 2 : 0];
  if (op === "get" && isMarked) return given[0];
  if (op === "get" || (op === "cells" && !args[0].draws.size)) return graph.code(BIT, true); // any bit
  if (op === "turn") return graph.add("xor", given);
  return ["and", "or", "xor", "not", "where"].includes(op) ? graph.add(op, given) : null;
};

/** Whether a cell is drawn that is any of so many with the same chance, and nothing else depends on it. */
const isEven = (graph, { op, params, draws }, view, width) =>
  op === "below" && params[0] === BigInt(width) && isUsedOnce(graph, [...draws][0], view);

/** The law of one of the cells of rows which are drawn one by one, by the codes, and the cell that is drawn differently. */
export function unmarked(graph, rows, view, fixed = NONE) {
  const all = graph.upstream(view);
  const [mark, ...others] = new Set(all.filter(({ op }) => op === "put" || op === "get").map(({ args }) => args[1]));
  const decides = ({ type, args }) => (type.row ? args.filter((arg) => !arg.type.row) : []);
  const shared = all.filter(({ op }) => op === "where" || op === "turn" || op === "and").flatMap(decides);
  const isDrawn = mark?.draws.size > 0;
  const isOdd = isDrawn && !isEven(graph, mark, view, rows[0].type.width);
  if (others.length || isOdd || [...drawsOf(shared)].some(({ type }) => !type.row)) return undefined;
  const cells = graph.rewritten(rows, fixed, cellwise(graph, false));
  if (!cells || graph.codes(cells, false).length) return undefined;
  return { mark, isDrawn, law: classes(graph, cells) };
}

/** Whether each class has one density only. */
export const isCertain = (found) => [...found.values()].every((list) => equal(smallest(list), largest(list)));

/** The density of the marked cell of rows, over that of any other cell: by the cell if it is shared, else all together. */
export function marked(graph, rows, left, law, isShared) {
  if (!isCertain(law)) return undefined;
  const here = graph.rewritten([...left, ...rows], NONE, cellwise(graph, true));
  const scale = (own, shared) => {
    const [{ n, d }] = law.get((isShared ? shared.slice(-rows.length) : own).join("|")) ?? [{ n: 1n, d: 0n }];
    return { n: d, d: n };
  };
  if (!here || isShared) return here && classes(graph, here, [], { scale });
  return classes(graph, here.splice(0, left.length), here, { scale, possible: () => law.size });
}

/** What stands for a row all of whose arrangements are equally likely: how many of its bits are set. */
const counted = (graph, view) => (node, given) => {
  const { op, args, params, type } = node;
  if (!type.row && !args.some((arg) => arg.type.row)) return undefined;
  const { width } = type;
  const less = (all, some) => graph.add("sub", [graph.constant(all), some]);
  if (op === "where") return graph.add(op, given);
  if (op === "turn") return graph.add("where", [given[1], less(BigInt(width), given[0]), given[0]]);
  if (!isUsedOnce(graph, node, view)) return null;
  if (op === "subset") return less(params[1], given[0]);
  return op === "majority" ? graph.weighted(listed(width + 1, (ones) => (2 * ones > width ? graph.choose(width, ones) : 0n))) : null;
};

/** The densities of a row whose arrangements are equally likely, by how many bits are set; or of all rows that it masks. */
export function arranged(graph, node) {
  const { op, args, type } = node;
  const { width } = type;
  const each = (wide, ones) => ({ n: 1n, d: graph.choose(wide, Number(ones)) });
  const count = (...targets) => graph.rewritten(targets, NONE, counted(graph, [node]));
  if (op === "swap") {
    const [row, place, last] = args;
    const [wide, at, bit] = row.args;
    const [inner] = wide?.args ?? [];
    const isLast = (each) => isNumber(each, BigInt(width - 1));
    if (row.op !== "put" || wide.op !== "widen" || inner.type.width !== width - 1) return undefined;
    if (!isLast(last) || !isLast(at) || row.tainted || !areApart([place], [row])) return undefined;
    const found = count(bit, inner);
    if (!found) return undefined;
    if (isEven(graph, place, [node], width)) {
      return classes(graph, [graph.add("add", found)], [], { scale: (_, [ones]) => each(width, ones) });
    }
    const possible = (total) => (total === "0" || total === String(width) ? 1 : 2);
    const scale = ([marked], [total]) => each(width - 1, total - marked);
    return classes(graph, [graph.add("add", found)], [found[0]], { possible, scale });
  }
  if (op === "xor") {
    for (const [noise, other] of [args, [...args].reverse()]) {
      const ones = isFree(noise) && areApart([other], [noise]) && count(noise);
      if (ones) return classes(graph, [], ones, { possible: () => width + 1, scale: ([ones]) => each(width, ones) });
    }
  }
  const ones = isFree(node) && count(node);
  return ones ? classes(graph, ones, [], { scale: (_, [ones]) => each(width, ones) }) : undefined;
}

/** Draws of few values, and known codes, that conditions are made of. */
export function deciders(graph, view, most, isOpen, others = []) {
  const condition = ({ op, args, type }) => (op === "where" ? [args[0]] : op === "and" && type.row ? [args[1]] : []);
  const conditions = [...graph.upstream(view).flatMap(condition), ...others];
  const isKnown = (node) => (node.op === "code" && !node.tainted) || (isDraw(node) && !node.args.length);
  const decides = (node) => (isOpen ? node.op === "toss" : isKnown(node) && !node.type.row) && sizeOf(node) <= most;
  return graph.upstream(conditions.filter(({ tainted, type }) => !type.row && (isOpen || !tainted))).filter(decides);
}
