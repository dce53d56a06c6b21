// The rule of sampling. Of a vector of w numbers, all different, a uniform draw that does nothing else takes one. P(y | c) is then
// the mean of what it is with each of them: between that of the w least likely and that of the w most likely of all numbers.

import { classes, gathered, isUsedOnce, MANY, marked, oddsOf, termsOf, unmarked } from "./densities.js";
import { equal, largest, ONE, over, ratio, rest, smallest } from "./fraction.js";
import { codesOf, constant, isNumber, make, rewritten, sizeOf, spend, unknown, upstream } from "./graph.js";
import { listed } from "./lists.js";
import { cost } from "./worlds.js";

/**
 * What is seen where codes stand for the numbers that are taken, if there is a draw that takes one of so many and does nothing else.
 * The first is the key, if it is one of numbers that all differ.
 */
export function taken(view) {
  const all = upstream(view);
  for (const draw of all.filter((node) => node.op === "below")) {
    const users = all.filter((node) => node.args.includes(draw));
    const width = Number(draw.params[0]);
    const isTake = ({ op, args: [vector, index] }) =>
      op === "at" && index === draw && vector.op === "code" && vector.tainted && vector.form.width === width && isUsedOnce(vector, view);
    const [own, ...more] = users.filter(({ args: [vector] }) => vector.form.distinct);
    if (more.length || view.includes(draw) || !users.every(isTake)) continue;
    const stands = new Map(users.map((node) => [node, unknown(node.form, true)]));
    return [stands.get(own), width, rewritten(view, stands)];
  }
  return undefined;
}

/** The odds of a view, where so many different numbers may be the key, each as often. */
export function sampled(key, width, view) {
  const own = unknown(key.form, false); // each key has classes of its own
  view = rewritten(view, new Map([[key, own]]));
  if (codesOf(view, false).some((node) => node !== own) || new Set(view.map((node) => node.form.row)).size > 1) return undefined;
  return view[0].form.row ? ofRows(own, width, view) : ofNumbers(own, width, view);
}

/** The least and the most weight of so many keys, of which `each` has its [least, most], and `same` is that of all besides. */
function worst(width, each, [least, most] = [0n, 0n]) {
  spend(each.length);
  const sum = (list) => list.sort((a, b) => (a < b ? -1 : 1)).slice(0, width).reduce((a, b) => a + b);
  const low = BigInt(width) * least + sum(each.map(([low]) => low));
  return [low > 0n ? low : 0n, BigInt(width) * most - sum(each.map(([, high]) => -high))].map((n) => ({ n, d: 1n }));
}

function ofNumbers(key, width, view) {
  const parts = cost(view) <= MANY ? [[ONE, view]] : parted(view);
  const laws = parts?.map(([, part]) => classes(part));
  if (!laws?.every(Boolean)) return undefined;
  const wholes = laws.map((law, i) => parts[i][0].d * largest([...law.values()].flat()).d);
  const whole = wholes.reduce((a, b) => a * b); // of all weights
  const found = new Map(); // for each view its least and its most weight with each key, and what is the same with all of them
  laws.forEach((law, i) => {
    const by = parts[i][0].n * (whole / wholes[i]);
    const isSame = !upstream(parts[i][1]).includes(key);
    for (const [text, list] of law) {
      const [own, seen] = isSame ? ["", text] : text.split(/\|(.*)/); // the key of a class, and the rest of what is seen
      if (!found.has(seen)) found.set(seen, new Map([["", [0n, 0n]]]));
      const keys = found.get(seen);
      const ends = list.map((each) => each.n * by);
      if (by < 0n) ends.reverse();
      keys.set(own, (keys.get(own) ?? [0n, 0n]).map((weight, end) => weight + ends[end]));
    }
  });
  const odds = [...found.values()].map((keys) => {
    const [same, ...each] = keys.values();
    const none = listed(Math.min(width, sizeOf(key) - each.length), () => [0n, 0n]);
    return worst(width, [...each, ...none], same);
  });
  return oddsOf(odds);
}

/**
 * Noise that stays at 0 or moves a sum on evenly, and of which else it is only asked whether it is 0: moved on evenly is the same
 * as moved anywhere, less the share that stays. So a law is the sum of three, each with its weight.
 */
function parted(view) {
  const all = upstream(view);
  for (const node of all.filter((node) => node.op === "mod")) {
    const [by] = node.params;
    const [noise, ...more] = termsOf(node.args[0], by).filter((node) => node.draws.size);
    const [p, first, second] = noise?.params ?? [];
    if (more.length || noise?.op !== "split" || first !== 1n || second !== by - 1n) continue;
    const zero = constant(0n);
    const isAsked = ({ op, args: [own, other] }) => op === "eq" && own === noise && isNumber(other, 0n);
    const asked = all.filter(isAsked).map((each) => [each, zero]);
    const even = rewritten(view, new Map([...asked, [node, make("below", [], [by])]]));
    if (upstream(even).includes(noise)) continue;
    const { n, d } = over(rest(p), ratio(second));
    const stays = [noise, zero];
    return [
      [p, rewritten(view, new Map([stays]))],
      [{ n: -n, d }, rewritten(view, new Map([...asked, stays]))],
      [{ n: n * by, d }, even],
    ];
  }
  return undefined;
}

/**
 * Rows of cells that are drawn one by one, of which the key names one: how much more likely a row is with it. The worst row has
 * so many cells that are the most likely with their key, so many that are the least likely, and all others alike; a ratio of linear
 * functions is largest at a corner.
 */
function ofRows(key, width, view) {
  const [mark, law] = unmarked(view, view) ?? [];
  // Of each key, also where it only marks a cell; but nothing else of the answer says which cell that is.
  const found = mark && !mark.tainted && law && marked(view, [key], law, true);
  if (!found) return undefined;
  const cellsOf = ([text, ends]) => {
    const [own, , ...cell] = text.split("|");
    return [own, [cell.join(), ends]];
  };
  const keys = gathered([...found].map(cellsOf));
  const named = [...keys.values()].filter((list) => !list.every(([, ends]) => ends.every((end) => equal(end, ONE))));
  if (named.some((list) => list.length < law.size)) return undefined;
  const cells = [...gathered(named.flat()).values()].map((list) => list.flat());
  const whole = cells.flat().reduce((all, each) => (all % each.d ? all * each.d : all), 1n);
  if (!whole) return null;
  const gains = cells.map((list) => [smallest(list), largest(list)].map((each) => (each.n * whole) / each.d));
  const many = named.length;
  const by = (end) => [...gains].sort((a, b) => (a[end] < b[end] ? -1 : 1));
  const [[least], most] = [by(0), by(1).at(-1)];
  const corners = [0, width, many - width, sizeOf(key) - width, many].filter((number) => number >= 0);
  const plain = listed(Math.min(width, sizeOf(key) - many), () => [whole, whole]);
  const odds = corners.flatMap((first) =>
    corners.flatMap((second) =>
      gains.map((gain) => {
        const counts = [[first, most], [second, least], [many - first - second, gain]];
        if (first + second > many) return [ONE];
        return worst(width, [...plain, ...counts.flatMap(([often, each]) => listed(Math.min(often, width), () => each))]);
      }),
    ),
  );
  return oddsOf(odds);
}
