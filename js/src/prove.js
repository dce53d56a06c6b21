// What a device proves of a law by itself: how much it loses at most, over all codes of answers and all draws.

import { cost } from "./worlds.js"; // first: in this order the bundle compresses best
import { openBound, profile } from "./cases.js";
import { areApart, arranged, classes, deciders, drawsOf, FEW, isOnce, marked, oddsOf, shifted, unmarked, usesIn } from "./densities.js";
import { DeniableError } from "./errors.js";
import { largest, ONE, product, reduced } from "./fraction.js";
import { before } from "./program.js";
import { sampled, taken } from "./sampling.js";
import { codesOf, constant, fixedTo, isDraw, isSingle, make, rewritten, rules, spend, start, unknown, upstream, valuesOf } from "./graph.js";
import { bitLength, listed } from "./lists.js";

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
  const left = args.filter((arg) => arg.draws.size || arg.tainted);
  const [plain] = args.filter((arg) => !left.includes(arg));
  if (plain && (op !== "mul" || plain.form.least > 0n)) return left;
  return [node];
}

/** The view with what its nodes are made of, where that says the same, and without what says nothing of the answer. */
function cleaned(view) {
  for (;;) {
    const seen = [...new Set(view.flatMap(shown))];
    const instead = new Map();
    const uses = usesIn(seen);
    for (const node of new Set(uses)) {
      const [heads] = node.args;
      // A law is linear in a chance that is used once, so its ends are enough.
      const isChance = node.op === "toss_each" && heads.op === "code" && heads.tainted && !heads.among;
      if (isChance && !heads.form.least && heads.form.most === node.params[0] && isOnce(uses, heads)) {
        instead.set(node, unknown(node.form, true));
      }
    }
    for (const node of seen) {
      if (isDraw(node) && !node.args.length && !node.form.row) instead.set(node, unknown(node.form, false));
    }
    const next = rewritten(seen, instead);
    if (next.length === view.length && next.every((node, place) => node === view[place])) return view;
    view = next;
  }
}

/** The nodes in groups that share no draw. */
function linked(nodes) {
  let groups = [];
  for (const node of nodes) {
    const mine = groups.filter((each) => !areApart([node], [each]));
    const draws = drawsOf([node, ...mine]);
    spend(groups.length + draws.size);
    const members = [...mine.flatMap((each) => each.members), node];
    groups = [...groups.filter((each) => !mine.includes(each)), { members, draws }];
  }
  return groups.map((each) => each.members);
}

// Rules: each gives odds, or nothing where it does not reach

function shift(view) {
  for (const node of view) {
    const odds = node.tainted && oddsOf(shifted(node, view));
    if (odds) return odds;
  }
  return undefined;
}

/** One node, whose tosses may decide what it is made of. */
const mixture = (view) => view.length === 1 && oddsOf(profile(view, -1)?.[0]);

const exchange = (view) => (view[0].op === "swap" ? mixture(view) : view.length === 1 && view[0].form.row && oddsOf(arranged(view[0])));

/** The bits of a row that is the same whatever is drawn, made of rows of zeros and of ones; else with nothing among them. */
function certain({ op, args, params: [p], form: { width } }) {
  spend(width);
  if (op === "join") return args.flatMap(certain);
  return op === "flags" && (!p.n || p.n === p.d) ? listed(width, () => BigInt(p.n > 0n)) : [undefined];
}

function cells(view) {
  const rows = view.filter((node) => node.form.row);
  const left = view.filter((node) => !node.form.row);
  const [width, ...others] = new Set(rows.map((node) => node.form.width));
  if (!width || others.length) return undefined;
  const isJoined = (node) => node.op === "join" && node.form.width === width;
  const joined = upstream(rows).filter(isJoined).map((node) => [node, certain(node)]).filter(([, bits]) => !bits.includes(undefined));
  const kinds = new Map(joined.length ? [] : [["", [0, width]]]); // of cells, by the bits that are certain
  for (let place = 0; joined.length && place < width; place++) {
    const kind = joined.map(([, bits]) => bits[place]).join();
    kinds.set(kind, [place, (kinds.get(kind)?.[1] ?? 0) + 1]);
  }
  let odds = ONE;
  for (const [place, often] of kinds.values()) {
    const known = joined.map(([node, bits]) => [node, constant(bits[place])]);
    const [mark, law] = unmarked(rows, view, new Map(known)) ?? [];
    if (mark) return law && oddsOf(marked(rows, left, law));
    const own = !left.length && oddsOf(law);
    if (!own) return own;
    odds = product(odds, power(own, often));
  }
  return odds;
}

/** So many times the same odds. */
function power({ n, d }, times) {
  const bits = bitLength(n) * times;
  spend(bits + bits ** 2 / 2 ** 16);
  return { n: n ** BigInt(times), d: d ** BigInt(times) };
}

/** A draw, or what is known, decides what is sent: the worst of the cases. */
function selection(view, depth) {
  const size = upstream(view).length - 1;
  for (const node of deciders(view, CASES)) {
    const cases = valuesOf(node).map((value) => fixedTo(view, node, value));
    if (!cases.every((each) => upstream(each).length < size)) continue;
    const odds = [];
    if (cases.every((each) => odds.push(bound(each, depth + 1)) && odds.at(-1))) return largest(odds);
  }
  return undefined;
}

/** A number that with some probability has nothing to do with the answer. */
const replacement = (view) => isSingle(view[0]) && mixture(view);

/** One of several codes, which a draw takes; where they need not differ, it may be anything. */
function sampling(view, depth) {
  const [key, width, seen] = taken(view) ?? [];
  return key ? sampled(key, width, cleaned(seen)) : seen && bound(seen, depth + 1);
}

const enumeration = (view) => oddsOf(classes(view));

/** What an operation is made of is shown in its place, which says at least as much. */
function unfolding(view, depth) {
  for (const node of view) {
    const { op, args, tainted } = node;
    if (!tainted || isDraw(node) || !args.length || op === "mod") continue;
    const odds = bound(view.flatMap((each) => (each === node ? args : [each])), depth + 1);
    if (odds) return odds;
  }
  return undefined;
}

const RULES = { shift, exchange, "marked cell": cells, sampling, selection, enumeration, replacement, unfolding };

/** The odds that the rules find for a view; null if they are unbounded, undefined if no rule reaches it. */
function bound(view, depth = 0) {
  const groups = linked(cleaned(view)).filter((group) => group.some((node) => node.tainted));
  if (groups.length > 1) rules.push("independence");
  let all = ONE;
  for (const group of groups) {
    const odds = groups.length > 1 ? bound(group, depth) : attempt(group, depth);
    if (!odds) return odds;
    spend(all.n.toString(16).length / 16);
    all = product(all, odds);
  }
  return all;
}

function attempt(view, depth) {
  const isSmall = cost(view) <= FEW;
  for (const [name, rule] of isSmall ? [["enumeration", enumeration]] : Object.entries(RULES)) {
    const used = rules.length;
    const odds = depth <= DEEPEST && rule(view, depth);
    if (odds || isSmall) {
      rules.push(name);
      return odds;
    }
    rules.length = used;
  }
  return undefined;
}

/** The graph of a program: public draws are known, and so are those that an encoder is given. */
function read({ nodes, codes }, isOpen) {
  const given = before(nodes, codes.flatMap((node) => node.args));
  // An encoder may not be given what depends on the answer already, and none at all where answers are disclosed.
  if (given.some((place) => isOpen || nodes[place].op === "code")) return undefined;
  const made = [];
  nodes.forEach((node, place) => {
    const { op, args, params, form } = node;
    spend(params.some((each) => each.d > LONGEST) ? STEPS : 1);
    const isKnown = op === "public" || (isDraw(node) && given.includes(place));
    if (isKnown || op === "code") made.push(unknown(form, !isKnown));
    else made.push(make(op, args.map((arg) => made[arg]), params));
  });
  return made;
}

/** Whether some codes, or already their smallest and largest values, have reports that others of them do not. Nothing is rounded up here. */
function isUnbounded(view) {
  const ends = codesOf(view).map((code) => [code, unknown(code.form, true, [code.form.least, code.form.most])]);
  return [view, rewritten(view, new Map(ends))].some((each) => cost(each) <= FEW && enumeration(each) === null);
}

/**
 * A bound on the loss of a law over all answers and draws: {odds, rules}, odds a fraction or null if it is unbounded; undefined
 * if no rule reaches the law within its effort. `open` is {field, from, secret} for a question with non-sensitive answers:
 * reports whose `field` is below `from` disclose no answer, and `secret` is the set of the places of sensitive answers.
 */
export function proved(program, open) {
  start(STEPS);
  try {
    const made = read(program, open);
    if (!made) return undefined;
    const view = program.report.map(([, place]) => made[place]);
    const place = program.report.findIndex(([name]) => name === open?.field);
    const odds = open ? openBound(view, place, BigInt(open.from), open.secret) : bound(view);
    if (odds) return { odds: reduced(odds), rules: [...new Set(rules)] };
    if (!open && isUnbounded(view)) return { odds: null, rules: ["counterexample"] };
  } catch (error) {
    if (!(error instanceof DeniableError || error instanceof RangeError)) throw error;
  }
  return undefined;
}
