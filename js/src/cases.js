// The proof of a question with non-sensitive answers. Reports that disclose an answer come from that answer only; the others are
// compared, from sensitive answers and from those that are not, which a program treats differently: by cases.

import { largest, ONE, over, plus, product, ratio, smallest, sum, times, ZERO } from "./fraction.js";
import { isFixed, isSingle, NONE, sizeOf, valuesOf } from "./graph.js";
import { arranged, classes, deciders, FEW, isCertain, isFree, MANY, marked, oddsOf, shifted, unmarked } from "./densities.js";
import { cost, worlds } from "./worlds.js";

const MORE = 1 << 13; // worlds that are all followed
const rangeOf = ({ type: { low, high } }, from) => [low, high < from ? high : from - 1n];

/** Densities of views, by class, of several cases that have the same classes; or nothing. */
function aligned(profiles) {
  if (!profiles.every(Boolean)) return {};
  const some = profiles.filter(({ found }) => found.size);
  if (new Set(some.map(({ shape }) => shape)).size > 1) return {};
  const isWide = some.some(({ found }) => found.has("any")) && some.some(({ found }) => !found.has("any"));
  const wide = (found) => new Map(found.size ? [["any", [...found.values()].flat()]] : []);
  const all = profiles.map(({ found }) => (isWide ? wide(found) : found));
  const keys = new Set(all.flatMap((found) => [...found.keys()]));
  const filled = (found) => new Map([...keys].map((key) => [key, found.get(key) ?? [ZERO]]));
  return { shape: some[0]?.shape, all: all.map(filled) };
}

/** The mixture of several cases with these chances. */
function mixed(profiles, chances) {
  const { shape, all } = aligned(profiles);
  if (!all) return null;
  const end = (key, pick) => all.map((found, i) => product(pick(found.get(key)), chances[i])).reduce(sum);
  return { shape, found: new Map([...all[0].keys()].map((key) => [key, [end(key, smallest), end(key, largest)]])) };
}

/**
 * Densities of what is seen, if it is not disclosed: by the value of the one node that depends on answers or draws; as "any" if
 * all its values have these; or as "empty" and "other" rows. The others are constants, or draws that everybody knows.
 */
export function profile(graph, view, place, from) {
  const [shown] = place < 0 ? [] : [view[place]];
  if (shown?.type.low >= from) return { found: NONE };
  if (shown?.op === "where" && shown.args[1].type.low >= from) {
    const [condition, , other] = shown.args;
    const now = graph.add("where", [condition, graph.constant(from), other]); // whatever is disclosed
    view = view.map((node) => (node === shown ? now : node));
  }
  const [toss] = deciders(graph, view, 2, true, shown?.type.high >= from ? [shown] : []);
  if (toss) {
    const { n, d } = toss.params[0];
    const where = (value) => profile(graph, graph.fixed(view, toss, value), place, from);
    return mixed([0n, 1n].map(where), [{ n: d - n, d }, { n, d }]);
  }
  const ones = graph.upstream(view).find(({ op }) => op === "ones");
  if (ones?.args[0].type.row) return byEmptiness(graph, view, place, from, ones);
  const moving = view.filter((node) => !isFixed(node) && (node.tainted || node.draws.size));
  const isClear = (node) => isFixed(node) || node.op === "code" || moving.includes(node);
  if (moving.length > 1 || new Set(view).size < view.length || !view.every(isClear)) return null;
  const [node] = moving;
  const most = node === view[place] ? from : 1n << 63n;
  if (view[place] && node !== view[place] && view[place].type.high >= from) return null;
  const kind = (each) => (each === node ? (each.type.width ?? rangeOf(each, most)) : `${each.op} ${rangeOf(each, 1n << 63n)}`);
  const shape = view.map(kind).join(";");
  if (!node) return { shape, found: new Map([["any", [ONE]]]) };
  const found = node.type.row ? rowProfile(graph, node) : numberProfile(graph, node, ...rangeOf(node, most));
  return found && { shape: `${shape} ${found.shape ?? ""}`, found: found.found ?? found };
}

/** What depends on whether the row that is shown has any bit set: both cases. */
function byEmptiness(graph, view, place, from, ones) {
  const row = ones.args[0];
  const stands = [graph.constant(0n), graph.code({ low: 1n, high: BigInt(row.type.width) }, false)];
  const cases = stands.map((stand) => {
    const now = graph.rewritten(view, new Map([[ones, stand]]));
    const own = profile(graph, now, place, from);
    return own && (!own.found.size || now.includes(row)) ? own : null;
  });
  const { shape, all } = aligned(cases);
  return all ? { shape, found: new Map(["empty", "other"].map((kind, i) => [kind, all[i].get(kind) ?? [ZERO]])) } : null;
}

function numberProfile(graph, node, low, high) {
  if (!graph.codes([node], false).length && cost(graph, [node]) <= FEW && high - low < FEW) {
    const found = classes(graph, [node]);
    return new Map(valuesOf({ type: { low, high } }).map((value) => [`${value}`, found.get(`${value}`) ?? [ZERO]]));
  }
  const list = shifted(graph, node)?.get("");
  return new Map([["any", list ?? [ZERO, ONE]]]);
}

function rowProfile(graph, node) {
  const found = arranged(graph, node);
  if (found) return found;
  const { mark, isDrawn, law } = unmarked(graph, [node], [node]) ?? {};
  if (!law?.has("0") || !isCertain(law)) return null;
  const cells = mark ? marked(graph, [node], [], law, true) : new Map([...law.keys()].map((key) => [key, [ONE]]));
  if (cells?.size !== law.size) return null;
  const shape = [...law].map(([key, [{ n, d }]]) => `${key} ${n}/${d}`).sort();
  const empty = cells.get("0");
  let other = [...cells.values()].flat();
  if (isDrawn && isCertain(cells) && law.size > 1) {
    // Any cell is marked with the same chance: what counts is how many bits are set, from one to all.
    const [[none], [one]] = [empty, cells.get("1")];
    const width = BigInt(node.type.width);
    other = [one, over(plus(one, times(none, ratio(width - 1n))), ratio(width))];
  }
  return { shape, found: new Map([["empty", empty], ["other", other]]) };
}

/** Whether every number that discloses an answer comes from that answer only. What is drawn may be anything. */
function disclosesItself(graph, shown, from, answer) {
  const [condition, open, other] = shown.args;
  if (shown.op === "where" && other.type.high < from) shown = graph.add("where", [condition, open, graph.constant(from - 1n)]);
  const all = new Set(graph.upstream([shown]).flatMap(({ args, tainted }) => args.filter((arg) => tainted && isFree(arg))));
  const drawn = [...all].filter((node) => !graph.upstream(node.args).some((each) => all.has(each))); // not made of others
  [shown] = graph.rewritten([shown], new Map(drawn.map((node) => [node, graph.code(node.type, false)])));
  if (cost(graph, [answer, shown]) > MANY) return false;
  const owners = new Map();
  return worlds(graph, [answer, shown]).ways.every(([[own, value]]) => {
    if (value >= from && !owners.has(value)) owners.set(value, own);
    return value < from || owners.get(value) === own;
  });
}

/** The bound of reports whose field at this place is below `from`, if others come from one answer each, and no sensitive one. */
export function openBound(graph, view, place, from, secret) {
  const answers = graph.codes(view);
  const [answer] = answers;
  if (answers.length !== 1 || !isSingle(answer) || !view[place] || !isSingle(view[place])) return undefined;
  graph.spend(sizeOf(answer));
  const every = valuesOf(answer);
  const codes = [true, false]
    .map((isSecret) => every.filter((value) => secret.has(Number(value)) === isSecret))
    .map((values) => values.length && graph.code(answer.type, true, values));
  if (!codes.every(Boolean)) return undefined;
  const cases = codes.map((code) => graph.rewritten(view, new Map([[answer, code]])));
  const [own, other] = cases.map((nodes) => nodes[place]);
  if (own.type.high >= from || !disclosesItself(graph, other, from, codes[1])) return undefined;
  graph.rules.add("cases");
  const exact = cost(graph, view) <= MORE && oddsOf(hidden(classes(graph, view, [], { few: MORE }), view, place, from));
  return exact || oddsOf(union(cases.map((nodes) => profile(graph, nodes, place, from)))) || undefined;
}

const hidden = (found, view, place, from) =>
  new Map([...found].filter(([key]) => BigInt(key.split("|").at(place - view.length)) < from));

/** The densities of a report in one case or another. */
function union(profiles) {
  const { all } = aligned(profiles);
  return all && new Map([...all[0]].map(([key, list]) => [key, [...list, ...all[1].get(key)]]));
}
