// The rule of sampling. Of a vector of w numbers, all different, a uniform draw that does nothing else takes one. P(y | c) is then
// the mean of what it is with each of them: between that of the w least likely and that of the w most likely of all numbers.

import { cellwise, classes, isCertain, isFree, isUsedOnce, marked, MANY, termsOf, unmarked } from "./densities.js";
import { equal, largest, less, ONE, over, plus, ratio, rest, smallest, times } from "./fraction.js";
import { isFixed, sizeOf } from "./graph.js";
import { cost } from "./worlds.js";

/** What is seen where a code is the number that is taken, and of how many; if there is such a draw. */
export function taken(graph, view) {
  const all = graph.upstream(view);
  for (const draw of all) {
    if (draw.op !== "below" || view.includes(draw)) continue;
    const users = all.filter(({ args }) => args.includes(draw));
    const width = Number(draw.params[0]);
    const takes = ({ op, args: [vector, index] }) =>
      op === "at" && index === draw && vector.op === "code" && vector.tainted && vector.type.width === width && isUsedOnce(graph, vector, view);
    const [own, ...more] = users.filter(({ args: [vector] }) => vector.type.distinct);
    if (!own || more.length || !users.every(takes)) continue;
    const stands = new Map(users.map((node) => [node, graph.code(node.type, true)]));
    return { key: stands.get(own), width, seen: graph.rewritten(view, stands) };
  }
  return undefined;
}

/** The odds of a view, where so many different numbers may be the key, each as often. */
export function sampled(graph, key, width, view) {
  const open = graph.code(key.type, false); // for each key classes of its own
  view = graph.rewritten(view, new Map([[key, open]]));
  if (graph.upstream(view).some((node) => node.op === "code" && !node.tainted && node !== open)) return undefined;
  if (view.every(({ type }) => type.row)) return ofRows(graph, width, view);
  return view.some(({ type }) => type.row) ? undefined : ofNumbers(graph, open, width, view);
}

function ofNumbers(graph, key, width, view) {
  const parts = cost(graph, view) <= MANY ? [[ONE, view]] : parted(graph, view);
  const laws = parts?.map(([, part]) => classes(graph, part));
  if (!laws?.every(Boolean)) return undefined;
  const wholes = laws.map((law, i) => parts[i][0].d * largest([...law.values()].flat()).d);
  const whole = wholes.reduce((a, b) => a * b); // of all weights
  const found = new Map(); // for each view the least and the most weight with each key, and what is the same with all of them
  laws.forEach((law, i) => {
    const by = parts[i][0].n * (whole / wholes[i]);
    const isSame = !graph.upstream(parts[i][1]).includes(key);
    for (const [text, list] of law) {
      const [, own = "", seen] = isSame ? [, , text] : /^(.*?)\|(.*)$/.exec(text);
      if (!found.has(seen)) found.set(seen, new Map([["", [0n, 0n]]]));
      const ends = list.map(({ n }) => n * by).sort((a, b) => (a < b ? -1 : 1));
      const before = found.get(seen).get(own) ?? [0n, 0n];
      found.get(seen).set(own, before.map((weight, end) => weight + ends[end]));
    }
  });
  let odds = ONE;
  for (const [[bottom, top], ...each] of [...found.values()].map((keys) => [...keys.values()])) {
    for (let more = Math.min(width, sizeOf(key) - each.length); more > 0; more--) each.push([0n, 0n]);
    graph.spend(each.length);
    const sum = (end, sign) => {
      const list = each.map((ends) => ends[end]).sort((a, b) => (a < b ? -sign : sign));
      return list.slice(0, width).reduce((a, b) => a + b);
    };
    const own = { n: BigInt(width) * top + sum(1, -1), d: BigInt(width) * bottom + sum(0, 1) };
    if (own.d <= 0n) return null;
    if (less(odds, own)) odds = own;
  }
  return odds;
}

/**
 * Noise that stays at 0 or moves a sum on evenly, and of which else it is only asked whether it is 0: moved on evenly is the same
 * as moved anywhere, less the share that stays. So a law is the sum of three, each with its weight.
 */
function parted(graph, view) {
  const all = graph.upstream(view);
  for (const node of all) {
    const [by] = node.params;
    const drawn = node.op === "mod" ? termsOf(graph, node.args[0], by).filter(({ draws }) => draws.size) : [];
    const [noise] = drawn;
    if (drawn.length !== 1 || noise.op !== "split" || noise.params[1] !== 1n || noise.params[2] !== by - 1n || by < 3n) continue;
    const isAsked = ({ op, args: [own, other] }) => op === "eq" && own === noise && isFixed(other) && !other.type.low;
    const zero = graph.constant(0n);
    const asked = all.filter(isAsked).map((each) => [each, zero]);
    const even = graph.rewritten(view, new Map([...asked, [node, graph.add("below", [], [by])]]));
    if (graph.upstream(even).includes(noise)) continue;
    const [p] = noise.params;
    const move = over(rest(p), ratio(by - 1n));
    return [
      [p, graph.rewritten(view, new Map([[noise, zero]]))],
      [{ n: -move.n, d: move.d }, graph.rewritten(view, new Map([...asked, [noise, zero]]))],
      [times(move, ratio(by)), even],
    ];
  }
  return undefined;
}

/** Rows of cells that are drawn one by one, of which the key names one. Two answers compete for the same cells. */
function ofRows(graph, width, view) {
  const { mark, law } = unmarked(graph, view, view) ?? {};
  const found = mark && law && marked(graph, view, [], law, true);
  if (!found) return undefined;
  const [keys, cells] = [new Map(), new Map()];
  for (const [text, ends] of found) {
    const [, key, cell] = /^(.*?)\|(.*)$/.exec(text);
    keys.set(key, [...(keys.get(key) ?? []), [cell, ends]]);
  }
  let many = 0; // keys that name a cell, which is drawn otherwise than others
  for (const list of keys.values()) {
    if (list.length !== law.size) return undefined;
    if (list.every(([, ends]) => ends.every((end) => equal(end, ONE)))) continue;
    many++;
    for (const [cell, ends] of list) cells.set(cell, [...(cells.get(cell) ?? ends), ...ends]);
  }
  const gains = [...cells.values()].map((list) => [smallest(list), largest(list)]);
  if (!many) return ONE;
  const [least, most] = [smallest(gains.flat()), largest(gains.flat())];
  if (!least.n || !most.d) return null;
  // So many keys are in both sets, or in one of them; all others have gain 1. A ratio of linear functions is largest at a corner.
  const total = (shared, gain, own, end) =>
    plus(plus(times(ratio(shared), gain), times(ratio(own), end)), ratio(width - shared - own));
  const odds = [ONE];
  for (const both of [0, width, many, 2 * width - many]) {
    for (const first of [0, width - both, many - both, many - width]) {
      for (const second of [0, width - both, many - both - first]) {
        const isSet = (own) => own >= 0 && both + own <= width;
        if (both < 0 || !isSet(first) || !isSet(second) || both + first + second > many) continue;
        for (const [low, high] of gains) odds.push(over(total(both, high, first, most), total(both, low, second, least)));
      }
    }
  }
  return largest(odds);
}
