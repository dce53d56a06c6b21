// Everything that may happen in a graph, with its exact weight: what all rules of proof come down to in the end.

import { outcomes } from "./outcomes.js";
import { gcd, ONE } from "./fraction.js";
import { computed } from "./operations.js";
import { isDraw, sizeOf, spend, upstream, valuesOf } from "./graph.js";

const isSource = (node) => node.op === "code" || isDraw(node);

/** At most so many worlds there are of these nodes. */
export const cost = (targets) =>
  upstream(targets).reduce((product, node) => product * (isSource(node) ? sizeOf(node) : 1), 1);

/** What a code or a draw may be where its arguments are given, each with its chance. */
function waysOf(node, given) {
  spend(sizeOf(node) * (node.form.width ?? 1));
  return node.op === "code" ? valuesOf(node).map((value) => [value, ONE]) : outcomes(node, given);
}

/**
 * The values that these nodes may have together, and the weight of each of these ways: its chance, where the codes are given,
 * times `whole`. Worlds that agree in all that is still needed are one.
 */
export function worlds(targets) {
  const order = upstream(targets);
  const last = new Map(order.flatMap((node, place) => node.args.map((arg) => [arg, place])));
  for (const node of targets) last.set(node, Infinity);
  let [live, states, whole] = [[], [[[], 1n]], 1n]; // of each state the values of the nodes that are live, and its weight

  function merge(needed) {
    const [places, merged] = [needed.map((node) => live.indexOf(node)), new Map()];
    spend(states.length * (1 + whole.toString(16).length / 64));
    for (const [values, weight] of states) {
      const own = places.map((place) => values[place]);
      const key = own.join("|");
      if (merged.has(key)) merged.get(key)[1] += weight;
      else merged.set(key, [own, weight]);
    }
    [live, states] = [needed, [...merged.values()]];
  }

  order.forEach((node, place) => {
    if (isSource(node)) merge(live.filter((each) => last.get(each) >= place));
    spend(states.length + live.length);
    const at = node.args.map((arg) => live.indexOf(arg));
    live = [...live, node];
    if (!isSource(node)) {
      for (const [values] of states) values.push(computed(node, at.map((i) => values[i])));
      return;
    }
    const known = new Map();
    const all = states.map(([values]) => {
      const given = at.map((i) => values[i]);
      const key = given.join();
      if (!known.has(key)) known.set(key, waysOf(node, given));
      return known.get(key);
    });
    let common = 1n; // denominator of all chances
    for (const list of known.values()) for (const [, { d }] of list) if (common % d) common *= d / gcd(common, d);
    whole *= common;
    states = states.flatMap(([values, weight], i) => {
      spend(all[i].length);
      return all[i].filter(([, { n }]) => n).map(([value, { n, d }]) => [[...values, value], weight * n * (common / d)]);
    });
  });
  merge(targets);
  return [states, whole];
}
