// What a device can prove of a law by itself: how much it loses at most, over all codes of answers and all draws.

import { chancesOf } from "./enumerate.js";
import { largest, ONE, spread, ZERO } from "./fraction.js";
import { listed, sum } from "./lists.js";
import { DRAWS } from "./operations.js";

const WORK = 20_000; // operations on a number or a cell
const DRAWN = 16; // numbers and cells that are drawn: most have two outcomes or more

/** {odds, rules}: odds a fraction or null if unbounded; undefined if no rule reaches the law. `open` = {field, from, secret}: reports
 *  whose `field` is below `from` disclose no answer; `secret` is a Set of the indices of sensitive answers. */
export function proved(program, open) {
  const odds = provedOdds(program, open && ((answer) => open.secret.has(Number(answer))));
  return odds === undefined ? undefined : { odds, rules: ["enumeration"] };
}

/**
 * The largest ratio between the chances of a report under two codes, null if it is unbounded, undefined if there are too many
 * combinations to follow. Reports that no sensitive answer gives may say what they like.
 */
export function provedOdds(program, sensitive = () => true, work = WORK) {
  const { codes, nodes, report } = program;
  const cells = ({ type }) => type.width ?? 1;
  const most = Math.floor(work / sum(nodes, cells));
  if (!most || sum(nodes.filter(({ op }) => Object.hasOwn(DRAWS, op)), cells) > DRAWN) return undefined;
  const disclosed = new Set(report.map(([, place]) => nodes[place]));
  // A code that depends on a draw is as good as one that does not, if the report says what was drawn.
  if (!codes.every(({ args }) => args.every((arg) => disclosed.has(nodes[arg])))) return undefined;
  const sets = codes.flatMap((code) => listed(cells(code), () => valuesOf(code, nodes, disclosed, most)));
  const many = sets.reduce((product, set) => product * (set?.length ?? Infinity), 1);
  if (many > most) return undefined;
  const combinations = listed(many, (way) => chosen(codes, sets, way));
  const laws = [];
  for (const values of combinations) {
    const law = chancesOf(program, values, Math.floor(most / many));
    if (!law) return undefined;
    laws.push(law);
  }
  const hidden = laws.filter((_, way) => sensitive(...combinations[way]));
  const reports = [...new Set(hidden.flatMap((law) => [...law.keys()]))];
  const ratios = reports.map((report) => spread(laws.map((law) => law.get(report) ?? ZERO)));
  return ratios.includes(null) ? null : largest([ONE, ...ratios]);
}

/** All values of a code; of one that is the chance of one toss and nothing else the ends, since the law is linear in it. */
function valuesOf(code, nodes, disclosed, most) {
  const { users, type } = code;
  const { low, high } = type;
  if (users.length === 1 && nodes[users[0]].op === "toss_each" && !disclosed.has(code)) return [low, high];
  return high - low < most ? listed(Number(high - low) + 1, (i) => low + BigInt(i)) : undefined;
}

/** The codes of one of all combinations of values, vectors put together again. */
function chosen(codes, sets, way) {
  const values = sets.map((set) => {
    const value = set[way % set.length];
    way = Math.floor(way / set.length);
    return value;
  });
  return codes.map(({ type: { width } }) => (width === undefined ? values.shift() : values.splice(0, width)));
}
