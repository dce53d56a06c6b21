// The rule of sampling. Of a vector of w numbers, all different, a uniform draw that does nothing else takes one. P(y | c) is then
// the mean of what it is with each of them: between that of the w least likely and that of the w most likely of all numbers.

import { classes, gathered, isUsedOnce, MANY, marked, termsOf, unmarked } from "./densities.js";
import { equal, largest, ONE, over, ratio, rest, smallest } from "./fraction.js";
import { isNumber, sizeOf } from "./graph.js";
import { listed } from "./lists.js";
import { cost } from "./worlds.js";

/** What is seen where a code, the key, is the number that is taken; if there is a draw that takes one of so many. */
export function taken(graph, view) {
  const all = graph.upstream(view);
  for (const draw of all.filter(({ op }) => op === "below")) {
    const users = all.filter(({ args }) => args.includes(draw));
    const width = Number(draw.params[0]);
    const isTake = ({ op, args: [vector, index] }) =>
      op === "at" && index === draw && vector.op === "code" && vector.tainted && vector.type.width === width && isUsedOnce(graph, vector, view);
    const [own, ...more] = users.filter(({ args: [vector] }) => vector.type.distinct);
    if (!own || more.length || view.includes(draw) || !users.every(isTake)) continue;
    const stands = new Map(users.map((node) => [node, graph.code(node.type, true)]));
    return { key: stands.get(own), width, seen: graph.rewritten(view, stands) };
  }
  return undefined;
}

/** The odds of a view, where so many different numbers may be the key, each as often. */
export function sampled(graph, key, width, view) {
  const own = graph.code(key.type, false); // each key has classes of its own
  view = graph.rewritten(view, new Map([[key, own]]));
  if (graph.codes(view, false).some((node) => node !== own) || new Set(view.map(({ type }) => type.row)).size > 1) return undefined;
  return view[0].type.row ? ofRows(graph, own, width, view) : ofNumbers(graph, own, width, view);
}

/** The most over the least weight of so many keys, of which `each` has its [least, most], and `same` is that of all besides. */
function worst(graph, width, each, [least, most] = [0n, 0n]) {
  graph.spend(each.length);
  const sum = (list) => list.sort((a, b) => (a < b ? -1 : 1)).slice(0, width).reduce((a, b) => a + b);
  const n = BigInt(width) * most - sum(each.map(([, high]) => -high));
  return { n, d: BigInt(width) * least + sum(each.map(([low]) => low)) };
}

const oddsOf = (all) => (all.every(({ d }) => d > 0n) ? largest([ONE, ...all]) : null);

function ofNumbers(graph, key, width, view) {
  const parts = cost(graph, view) <= MANY ? [[ONE, view]] : parted(graph, view);
  const laws = parts?.map(([, part]) => classes(graph, part));
  if (!laws?.every(Boolean)) return undefined;
  const wholes = laws.map((law, i) => parts[i][0].d * largest([...law.values()].flat()).d);
  const whole = wholes.reduce((a, b) => a * b); // of all weights
  const found = new Map(); // for each view its least and its most weight with each key, and what is the same with all of them
  laws.forEach((law, i) => {
    const by = parts[i][0].n * (whole / wholes[i]);
    const isSame = !graph.upstream(parts[i][1]).includes(key);
    for (const [text, list] of law) {
      const [own, seen] = isSame ? ["", text] : divided(text);
      if (!found.has(seen)) found.set(seen, new Map([["", [0n, 0n]]]));
      const keys = found.get(seen);
      const ends = list.map(({ n }) => n * by);
      if (by < 0n) ends.reverse();
      keys.set(own, (keys.get(own) ?? [0n, 0n]).map((weight, end) => weight + ends[end]));
    }
  });
  const odds = [...found.values()].map((keys) => {
    const [same, ...each] = keys.values();
    const none = listed(Math.min(width, sizeOf(key) - each.length), () => [0n, 0n]);
    return worst(graph, width, [...each, ...none], same);
  });
  return oddsOf(odds);
}

/** The key of a class, and the rest of what is seen. */
const divided = (text) => [text.slice(0, text.indexOf("|")), text.slice(text.indexOf("|") + 1)];

/**
 * Noise that stays at 0 or moves a sum on evenly, and of which else it is only asked whether it is 0: moved on evenly is the same
 * as moved anywhere, less the share that stays. So a law is the sum of three, each with its weight.
 */
function parted(graph, view) {
  const all = graph.upstream(view);
  for (const node of all.filter(({ op }) => op === "mod")) {
    const [by] = node.params;
    const [noise, ...more] = termsOf(graph, node.args[0], by).filter(({ draws }) => draws.size);
    const [p, first, second] = noise?.params ?? [];
    if (more.length || noise?.op !== "split" || first !== 1n || second !== by - 1n) continue;
    const zero = graph.constant(0n);
    const isAsked = ({ op, args: [own, other] }) => op === "eq" && own === noise && isNumber(other, 0n);
    const asked = all.filter(isAsked).map((each) => [each, zero]);
    const even = graph.rewritten(view, new Map([...asked, [node, graph.add("below", [], [by])]]));
    if (graph.upstream(even).includes(noise)) continue;
    const { n, d } = over(rest(p), ratio(second));
    const stays = [noise, zero];
    return [
      [p, graph.rewritten(view, new Map([stays]))],
      [{ n: -n, d }, graph.rewritten(view, new Map([...asked, stays]))],
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
function ofRows(graph, key, width, view) {
  const { mark, law } = unmarked(graph, view, view) ?? {};
  const found = mark && law && marked(graph, view, [key], law, true); // of each key, also where it only marks a cell
  if (!found) return undefined;
  const cellsOf = ([text, ends]) => {
    const [own, , ...cell] = text.split("|");
    return [own, [cell.join(), ends]];
  };
  const keys = gathered([...found].map(cellsOf));
  const named = [...keys.values()].filter((list) => !list.every(([, ends]) => ends.every((end) => equal(end, ONE))));
  if (named.some((list) => list.length < law.size)) return undefined;
  const cells = [...gathered(named.flat()).values()].map((list) => list.flat());
  const whole = cells.flat().reduce((all, { d }) => (all % d ? all * d : all), 1n);
  if (!whole) return null;
  const gains = cells.map((list) => [smallest(list), largest(list)].map(({ n, d }) => (n * whole) / d));
  const many = named.length;
  const by = (end) => [...gains].sort((a, b) => (a[end] < b[end] ? -1 : 1));
  const [[least], most] = [by(0), by(1).at(-1)];
  const corners = [0, width, many - width, many].filter((number) => number >= 0);
  const plain = listed(Math.min(width, sizeOf(key) - many), () => [whole, whole]);
  const odds = corners.flatMap((first) =>
    corners.flatMap((second) =>
      gains.map((gain) => {
        const counts = [[first, most], [second, least], [many - first - second, gain]];
        if (first + second > many) return ONE;
        return worst(graph, width, [...plain, ...counts.flatMap(([often, each]) => listed(Math.min(often, width), () => each))]);
      }),
    ),
  );
  return oddsOf(odds);
}
