// Everything that may happen in a graph, with its exact weight: what all rules of proof come down to in the end.

import { gcd, ONE } from "./fraction.js";
import { isDraw, sizeOf, upstream, valuesOf } from "./graph.js";
import { outcomes } from "./outcomes.js";

/** At most so many worlds there are of these nodes. */
export const cost = (targets) =>
  upstream(targets).reduce((product, node) => (node.op === "code" || isDraw(node) ? product * sizeOf(node) : product), 1);

/**
 * The values that these nodes may have together, and the weight of each of these ways: its chance, where the codes are given,
 * times `whole`. A world keeps only values that are still needed, and worlds that agree in these are one.
 */
export function worlds(graph, targets) {
  const order = upstream(targets);
  const last = new Map(order.flatMap((node, place) => node.args.map((arg) => [arg, place])));
  for (const node of targets) last.set(node, Infinity);
  let [live, states, whole] = [[], [[[], 1n]], 1n];
  order.forEach((node, place) => {
    const at = node.args.map((arg) => live.indexOf(arg));
    const kept = live.flatMap((each, i) => (last.get(each) > place ? [i] : []));
    const [known, next] = [new Map(), new Map()];
    const following = states.map(([values]) => {
      const given = at.map((i) => values[i]);
      const key = given.join("|");
      if (!known.has(key)) known.set(key, node.op === "code" ? valuesOf(node).map((value) => [value, ONE]) : outcomes(node, given));
      graph.spend(1);
      return known.get(key);
    });
    const common = [...known.values()].flat().reduce((all, [, { d }]) => (all % d ? (all / gcd(all, d)) * d : all), 1n);
    whole *= common;
    const words = 1 + whole.toString(16).length / 64;
    states.forEach(([values, weight], i) => {
      graph.spend(following[i].length * words);
      const rest = kept.map((each) => values[each]);
      for (const [value, { n, d }] of following[i]) {
        const [now, own] = [[...rest, value], weight * n * (common / d)];
        const key = now.join("|");
        const same = next.get(key);
        if (same) same[1] += own;
        else if (own) next.set(key, [now, own]);
      }
    });
    live = [...kept.map((i) => live[i]), node];
    states = [...next.values()];
  });
  const places = targets.map((node) => live.indexOf(node));
  return { whole, ways: states.map(([values, weight]) => [places.map((place) => values[place]), weight]) };
}
