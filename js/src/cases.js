// The proof of a question with non-sensitive answers. Reports that disclose an answer come from that answer only; the others are
// compared, from sensitive answers and from those that are not, which a program treats differently: by cases.

import { largest, ONE, over, plus, product, ratio, smallest, sum, times, ZERO } from "./fraction.js";
import { codesOf, constant, fixedTo, isFixed, isSingle, make, NONE, rewritten, rules, sizeOf, spend, unknown, upstream, valuesOf } from "./graph.js";
import { arranged, classes, deciders, FEW, isCertain, isFree, MANY, marked, oddsOf, shifted, unmarked } from "./densities.js";
import { cost, worlds } from "./worlds.js";

const MORE = 1 << 13; // worlds that are all followed
const rangeOf = ({ form: { least, most } }, from) => [least, most < from ? most : from - 1n];

/** Densities of views, by class, of several cases that have the same classes, and their shape; or nothing. */
function aligned(profiles) {
  if (!profiles.every(Boolean)) return [];
  const some = profiles.filter(([found]) => found.size);
  if (new Set(some.map(([, shape]) => shape)).size > 1) return [];
  const isWide = some.some(([found]) => found.has("any")) && some.some(([found]) => !found.has("any"));
  const wide = (found) => new Map(found.size ? [["any", [...found.values()].flat()]] : []);
  const all = profiles.map(([found]) => (isWide ? wide(found) : found));
  const keys = new Set(all.flatMap((found) => [...found.keys()]));
  const filled = (found) => new Map([...keys].map((key) => [key, found.get(key) ?? [ZERO]]));
  return [all.map(filled), some[0]?.[1]];
}

/** The mixture of several cases with these chances. */
function mixed(profiles, chances) {
  const [all, shape] = aligned(profiles);
  if (!all) return null;
  const end = (key, pick) => all.map((found, i) => product(pick(found.get(key)), chances[i])).reduce(sum);
  return [new Map([...all[0].keys()].map((key) => [key, [end(key, smallest), end(key, largest)]])), shape];
}

/**
 * Densities of what is seen, and its shape, if it is not disclosed: by the value of the one node that depends on answers or draws; as "any" if
 * all its values have these; or as "empty" and "other" rows. The others are constants, or draws that everybody knows.
 */
export function profile(view, place, from) {
  const shown = view[place];
  if (shown?.form.least >= from) return [NONE];
  if (shown?.op === "where" && shown.args[1].form.least >= from) {
    const [condition, , other] = shown.args;
    const now = make("where", [condition, constant(from), other]); // whatever is disclosed
    view = view.map((node) => (node === shown ? now : node));
  }
  const [toss] = deciders(view, 2, true, shown?.form.most >= from ? [shown] : []);
  if (toss) {
    const { n, d } = toss.params[0];
    const where = (value) => profile(fixedTo(view, toss, value), place, from);
    return mixed([0n, 1n].map(where), [{ n: d - n, d }, { n, d }]);
  }
  const ones = upstream(view).find((node) => node.op === "ones");
  if (ones?.args[0].form.row) return byEmptiness(view, place, from, ones);
  const moving = view.filter((node) => !isFixed(node) && (node.tainted || node.draws.size));
  const isClear = (node) => isFixed(node) || node.op === "code" || moving.includes(node);
  if (moving.length > 1 || new Set(view).size < view.length || !view.every(isClear)) return null;
  const [node] = moving;
  const end = node === view[place] ? from : 1n << 63n;
  if (view[place] && node !== view[place] && view[place].form.most >= from) return null;
  const kind = (each) => (each === node ? (each.form.width ?? rangeOf(each, end)) : `${each.op} ${rangeOf(each, 1n << 63n)}`);
  const shape = view.map(kind).join(";");
  if (!node) return [new Map([["any", [ONE]]]), shape];
  const [found, more = ""] = node.form.row ? rowProfile(node) : [numberProfile(node, ...rangeOf(node, end))];
  return found && [found, `${shape} ${more}`];
}

/** What depends on whether the row that is shown has any bit set: both cases. */
function byEmptiness(view, place, from, ones) {
  const row = ones.args[0];
  const stands = [constant(0n), unknown({ least: 1n, most: BigInt(row.form.width) }, false)];
  const cases = stands.map((stand) => {
    const now = rewritten(view, new Map([[ones, stand]]));
    const own = profile(now, place, from);
    return own && (!own[0].size || now.includes(row)) ? own : null;
  });
  const [all, shape] = aligned(cases);
  return all?.[1].has("other") && [new Map(["empty", "other"].map((kind, i) => [kind, all[i].get(kind)])), shape];
}

function numberProfile(node, least, most) {
  if (!codesOf([node], false).length && cost([node]) <= FEW && most - least < FEW) {
    const found = classes([node]);
    return new Map(valuesOf({ form: { least, most } }).map((value) => [`${value}`, found.get(`${value}`) ?? [ZERO]]));
  }
  const list = shifted(node)?.get("");
  return new Map([["any", list ?? [ZERO, ONE]]]);
}

function rowProfile(node) {
  const found = arranged(node);
  if (found) return [found];
  const [mark, law, isDrawn] = unmarked([node], [node]) ?? [];
  if (!law?.has("0") || !isCertain(law)) return [];
  const cells = mark ? marked([node], [], law, true) : new Map([...law.keys()].map((key) => [key, [ONE]]));
  if (cells?.size !== law.size) return [];
  const shape = [...law].map(([key, [{ n, d }]]) => `${key} ${n}/${d}`).sort();
  const empty = cells.get("0");
  let other = [...cells.values()].flat();
  if (isDrawn && isCertain(cells) && law.size > 1) {
    // Any cell is marked with the same chance: what counts is how many bits are set, from one to all.
    const [[none], [one]] = [empty, cells.get("1")];
    const width = BigInt(node.form.width);
    other = [one, over(plus(one, times(none, ratio(width - 1n))), ratio(width))];
  }
  return [new Map([["empty", empty], ["other", other]]), shape];
}

/** Whether every number that discloses an answer comes from that answer only. What is drawn may be anything. */
function disclosesItself(shown, from, answer) {
  const [condition, open, other] = shown.args;
  if (shown.op === "where" && other.form.most < from) shown = make("where", [condition, open, constant(from - 1n)]);
  const all = new Set(upstream([shown]).flatMap((node) => node.args.filter((arg) => node.tainted && isFree(arg))));
  const drawn = [...all].filter((node) => !upstream(node.args).some((each) => all.has(each))); // not made of others
  [shown] = rewritten([shown], new Map(drawn.map((node) => [node, unknown(node.form, false)])));
  if (cost([answer, shown]) > MANY) return false;
  const owners = new Map();
  return worlds([answer, shown])[0].every(([[own, value]]) => {
    if (value >= from && !owners.has(value)) owners.set(value, own);
    return value < from || owners.get(value) === own;
  });
}

/** The bound of reports whose field at this place is below `from`, if others come from one answer each, and no sensitive one. */
export function openBound(view, place, from, secret) {
  const answers = codesOf(view);
  const [answer] = answers;
  if (answers.length !== 1 || !isSingle(answer) || !view[place] || !isSingle(view[place])) return undefined;
  spend(sizeOf(answer));
  const every = valuesOf(answer);
  const codes = [true, false]
    .map((isSecret) => every.filter((value) => secret.has(Number(value)) === isSecret))
    .map((values) => values.length && unknown(answer.form, true, values));
  if (!codes.every(Boolean)) return undefined;
  const cases = codes.map((code) => rewritten(view, new Map([[answer, code]])));
  const [own, other] = cases.map((nodes) => nodes[place]);
  if (own.form.most >= from || !disclosesItself(other, from, codes[1])) return undefined;
  rules.push("cases");
  const exact = cost(view) <= MORE && oddsOf(hidden(classes(view, [], undefined, undefined, MORE), view, place, from));
  return exact || oddsOf(union(cases.map((nodes) => profile(nodes, place, from)))) || undefined;
}

const hidden = (found, view, place, from) =>
  new Map([...found].filter(([key]) => BigInt(key.split("|").at(place - view.length)) < from));

/** The densities of a report in one case or another. */
function union(profiles) {
  const [all] = aligned(profiles);
  return all && new Map([...all[0]].map(([key, list]) => [key, [...list, ...all[1].get(key)]]));
}
