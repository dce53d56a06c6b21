// What a device proves of a law by itself: how much it loses at most, over all codes of answers and all draws.

import { openBound, profile } from "./cases.js";
import { arranged, classes, deciders, FEW, isFree, isOnce, marked, oddsOf, shifted, unmarked, usesIn } from "./densities.js";
import { DeniableError } from "./errors.js";
import { largest, ONE, product, ratio } from "./fraction.js";
import { sampled, taken } from "./sampling.js";
import { Graph, isDraw, valuesOf } from "./graph.js";
import { cost } from "./worlds.js";

const STEPS = 1_000_000; // of a proof: nodes that are made, and values of nodes in worlds that are followed
const CASES = 256; // of a draw that decides
const DEEPEST = 8; // rules one inside the other
const LONGEST = 1n << 256n; // denominators of chances

// Before anything else

/** What says the same as this node. */
function shown(node) {
  const { op, args } = node;
  if (["not", "widen", "pack", "join"].includes(op)) return args;
  if (!["add", "sub", "mul"].includes(op)) return [node];
  const left = args.filter(({ draws, tainted }) => draws.size || tainted);
  const [plain] = args.filter((arg) => !left.includes(arg));
  if (plain && (op !== "mul" || plain.type.low > 0n)) return left;
  return [node];
}

/** The view with what its nodes are made of, where that says the same, and without what says nothing of the answer. */
function cleaned(graph, view) {
  for (;;) {
    const seen = [...new Set(view.flatMap(shown))];
    const instead = new Map();
    const uses = usesIn(graph, seen);
    for (const node of new Set(uses)) {
      const [heads] = node.args;
      // A law is linear in a chance that is used once, so its ends are enough.
      const isChance = node.op === "toss_each" && heads.op === "code" && heads.tainted && !heads.values;
      if (isChance && !heads.type.low && heads.type.high === node.params[0] && isOnce(uses, heads)) {
        instead.set(node, graph.code(node.type, true));
      }
    }
    for (const node of seen) {
      if (isDraw(node) && isFree(node) && !node.args.length && !node.type.row) instead.set(node, graph.code(node.type, false));
    }
    const next = graph.rewritten(seen, instead);
    if (next.length === view.length && next.every((node, place) => node === view[place])) return view;
    view = next;
  }
}

/** The nodes in groups that share no draw. */
function linked(graph, nodes) {
  let groups = [];
  for (const node of nodes) {
    const mine = groups.filter(({ draws }) => [...node.draws].some((draw) => draws.has(draw)));
    const draws = new Set([node, ...mine].flatMap((each) => [...each.draws]));
    graph.spend(groups.length + draws.size);
    const members = [...mine.flatMap((each) => each.members), node];
    groups = [...groups.filter((each) => !mine.includes(each)), { members, draws }];
  }
  return groups.map(({ members }) => members);
}

// Rules: each gives odds, or nothing where it does not reach

function shift(graph, view) {
  for (const node of view) {
    const odds = node.tainted && oddsOf(shifted(graph, node, view));
    if (odds) return odds;
  }
  return undefined;
}

const exchange = (graph, view) => view.length === 1 && view[0].type.row && oddsOf(arranged(graph, view[0]));

/** The bits of a row that is the same whatever is drawn, made of rows of zeros and of ones; else with nothing among them. */
function certain({ op, args, params: [p], type: { width } }) {
  if (op === "join") return args.flatMap(certain);
  return op === "flags" && (!p.n || p.n === p.d) ? new Array(width).fill(BigInt(p.n > 0n)) : [undefined];
}

function cells(graph, view) {
  const rows = view.filter(({ type }) => type.row);
  const left = view.filter(({ type }) => !type.row);
  const [width, ...others] = new Set(rows.map(({ type }) => type.width));
  if (!width || others.length) return undefined;
  const joined = graph.upstream(rows).filter((node) => node.op === "join" && node.type.width === width);
  const bits = joined.map(certain);
  const kinds = new Map(joined.length ? [] : [["", [0, width]]]); // of cells, by the bits that are certain
  for (let place = 0; joined.length && place < width; place++) {
    const kind = bits.map((list) => list[place]).join();
    kinds.set(kind, [place, (kinds.get(kind)?.[1] ?? 0) + 1]);
  }
  graph.spend(width * joined.length);
  let odds = ONE;
  for (const [place, often] of kinds.values()) {
    const known = joined.flatMap((node, i) => (bits[i].includes(undefined) ? [] : [[node, graph.constant(bits[i][place])]]));
    const { mark, law } = unmarked(graph, rows, view, new Map(known)) ?? {};
    if (mark) return law && oddsOf(marked(graph, rows, left, law));
    const own = !left.length && oddsOf(law);
    if (!own) return own;
    odds = product(odds, power(graph, own, often));
  }
  return odds;
}

/** So many times the same odds. */
function power(graph, { n, d }, times) {
  const bits = n.toString(2).length * times;
  graph.spend(bits + bits ** 2 / 2 ** 16);
  return { n: n ** BigInt(times), d: d ** BigInt(times) };
}

/** A draw, or what is known, decides what is sent: the worst of the cases. */
function selection(graph, view, depth) {
  const size = graph.upstream(view).length - 1;
  for (const node of deciders(graph, view, CASES)) {
    const cases = valuesOf(node).map((value) => graph.fixed(view, node, value));
    if (!cases.every((each) => graph.upstream(each).length < size)) continue;
    const odds = [];
    if (cases.every((each) => odds.push(bound(graph, each, depth + 1)) && odds.at(-1))) return largest(odds);
  }
  return undefined;
}

/** A number that with some probability has nothing to do with the answer. */
function replacement(graph, view) {
  return view.length === 1 && view[0].type.width === undefined && oddsOf(profile(graph, view, -1)?.found);
}

/** One of several different codes, which a draw takes. */
function sampling(graph, view) {
  const { key, width, seen } = taken(graph, view) ?? {};
  return key && sampled(graph, key, width, cleaned(graph, seen));
}

const enumeration = (graph, view) => oddsOf(classes(graph, view));

/** What an operation is made of is shown in its place, which says at least as much. */
function unfolding(graph, view, depth) {
  for (const node of view) {
    const { op, args, tainted } = node;
    if (!tainted || isDraw(node) || !args.length || op === "mod") continue;
    const odds = bound(graph, view.flatMap((each) => (each === node ? args : [each])), depth + 1);
    if (odds) return odds;
  }
  return undefined;
}

const RULES = { shift, exchange, "marked cell": cells, sampling, selection, enumeration, replacement, unfolding };

/** The odds that the rules find for a view; null if they are unbounded, undefined if no rule reaches it. */
function bound(graph, view, depth = 0) {
  const groups = linked(graph, cleaned(graph, view)).filter((group) => group.some(({ tainted }) => tainted));
  if (groups.length > 1) graph.rules.add("independence");
  let all = ONE;
  for (const group of groups) {
    const odds = groups.length > 1 ? bound(graph, group, depth) : attempt(graph, group, depth);
    if (!odds) return odds;
    graph.spend(all.n.toString(16).length / 16);
    all = product(all, odds);
  }
  return all;
}

function attempt(graph, view, depth) {
  const isSmall = cost(graph, view) <= FEW;
  for (const [name, rule] of isSmall ? [["enumeration", enumeration]] : Object.entries(RULES)) {
    const before = graph.rules;
    graph.rules = new Set(before);
    const odds = depth <= DEEPEST && rule(graph, view, depth);
    if (odds || isSmall) {
      graph.rules.add(name);
      return odds;
    }
    graph.rules = before;
  }
  return undefined;
}

/** The graph of a program: public draws are known, and so are those that an encoder is given. */
function read(graph, { nodes, codes }, isOpen) {
  const given = new Set();
  for (const todo = codes.flatMap(({ args }) => args); todo.length; ) {
    const place = todo.pop();
    if (nodes[place].op === "code") return undefined; // an encoder is given what depends on the answer already
    if (!given.has(place)) for (const arg of nodes[place].args) todo.push(arg);
    given.add(place);
  }
  if (isOpen && given.size) return undefined;
  const made = [];
  nodes.forEach((node, place) => {
    const { op, args, params, type } = node;
    graph.spend(params.some((each) => each.d > LONGEST) ? STEPS : 1);
    const isKnown = op === "public" || (given.has(place) && isDraw(node));
    if (isKnown || op === "code") made.push(graph.code(type, !isKnown));
    else made.push(graph.add(op, args.map((arg) => made[arg]), params));
  });
  return made;
}

/** Whether some codes, or already their smallest and largest values, have reports that others of them do not. Nothing is rounded up here. */
function isUnbounded(graph, view) {
  const ends = graph.codes(view).map((code) => [code, graph.code(code.type, true, [code.type.low, code.type.high])]);
  return [view, graph.rewritten(view, new Map(ends))].some((each) => cost(graph, each) <= FEW && enumeration(graph, each) === null);
}

/**
 * A bound on the loss of a law over all answers and draws: {odds, rules}, odds a fraction or null if it is unbounded; undefined
 * if no rule reaches the law within its effort. `open` is {field, from, secret} for a question with non-sensitive answers:
 * reports whose `field` is below `from` disclose no answer, and `secret` is the set of the places of sensitive answers.
 */
export function proved(program, open) {
  const graph = new Graph(STEPS);
  try {
    const made = read(graph, program, open);
    if (!made) return undefined;
    const view = program.report.map(([, place]) => made[place]);
    const { field, from, secret } = open ?? {};
    const place = program.report.findIndex(([name]) => name === field);
    const odds = open ? openBound(graph, view, place, BigInt(from), secret) : bound(graph, view);
    if (odds) return { odds: odds.n < LONGEST ** 128n ? ratio(odds.n, odds.d) : odds, rules: [...graph.rules] };
    if (!open && isUnbounded(graph, view)) return { odds: null, rules: ["counterexample"] };
  } catch (error) {
    if (!(error instanceof DeniableError || error instanceof RangeError)) throw error;
  }
  return undefined;
}
