// The loss of a law that reports one pair of a padded set, drawn in private. Every chance of a report is followed, for each
// pair; the pairs of a set have different keys, since the encoder takes them from a set, and only padding comes repeatedly.

import { largest, ONE, ratio } from "./fraction.js";
import { listed } from "./lists.js";
import { DRAWS } from "./operations.js";
import { outcomes } from "./outcomes.js";

const MANY = 400_000; // combinations of a pair and of draws
const DRAWN = ["toss", "below", "split", "pick"];

/**
 * The largest ratio between the chances of a report under two sets of at most so many pairs: null if it is unbounded, undefined
 * if the law is another one, or too large.
 */
export function paddedOdds(program, atMost) {
  const { nodes, codes, report } = program;
  const [key, high] = ["key", "high"].map((name) => nodes.findIndex(({ op, params }) => op === "code" && params[0] === name));
  const [draw, rounded] = [nodes[key]?.args[0], nodes[high]?.users[0]];
  const only = (place, ...users) =>
    String(nodes[place].users) === String(users.sort((a, b) => a - b)) && report.every(([, each]) => each !== place);
  const padded =
    codes.length === 2 &&
    codes.every(({ args }) => String(args) === String(draw)) &&
    nodes[draw]?.op === "below" &&
    nodes[draw].params[0] === BigInt(atMost) &&
    nodes[rounded]?.op === "toss_each" &&
    only(draw, key, high) &&
    only(high, rounded);
  if (!padded) return undefined;

  const steps = [...nodes.keys()].filter((place) => ![draw, key, high, rounded].includes(place));
  const drawn = steps.filter((place) => Object.hasOwn(DRAWS, nodes[place].op));
  const keys = Number(nodes[key].type.high); // this one is padding
  const many = drawn.reduce((product, place) => product * Number(nodes[place].type.high + 1n), 2 * (keys + 1));
  if (!drawn.every((place) => DRAWN.includes(nodes[place].op)) || many > MANY || steps.length > 200) return undefined;
  // All draws are made whatever comes up, so weights over one denominator are enough.
  const chances = steps.map((place) => {
    const found = drawn.includes(place) && outcomes(nodes[place]);
    const common = found && found.reduce((d, [, own]) => d * (d % own.d ? own.d : 1n), 1n);
    return found && found.map(([value, { n, d }]) => [value, (n * common) / d]);
  });

  const values = [];
  const follow = (law, at, weight) => {
    for (; at < steps.length && !chances[at]; at++) {
      const { args, params, value } = nodes[steps[at]];
      values[steps[at]] = value(
        args.map((arg) => values[arg]),
        params,
      );
    }
    if (at < steps.length) {
      for (const [value, own] of chances[at]) {
        values[steps[at]] = value;
        if (own) follow(law, at + 1, weight * own);
      }
    } else {
      const text = String(report.map(([, place]) => values[place]));
      law.set(text, (law.get(text) ?? 0n) + weight);
    }
  };
  const laws = listed(2 * (keys + 1), (way) => {
    values[key] = BigInt(way >> 1);
    values[rounded] = BigInt(way & 1);
    const law = new Map();
    follow(law, 0, 1n);
    return law;
  });

  /** The largest sum of chances over the pairs of a set, and the smallest, in any order of them. */
  const extreme = (text, order) => {
    const best = listed(keys + 1, (at) => [0, 1].map((end) => laws[2 * at + end].get(text) ?? 0n).sort(order)[0]);
    const all = [...best, ...listed(atMost - 1, () => best[keys])].sort(order);
    return all.slice(0, atMost).reduce((a, b) => a + b);
  };
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const ratios = [...new Set(laws.flatMap((law) => [...law.keys()]))].map((text) => {
    const least = extreme(text, compare);
    return least ? ratio(extreme(text, (a, b) => compare(b, a)), least) : null;
  });
  return ratios.includes(null) ? null : largest([ONE, ...ratios]);
}
