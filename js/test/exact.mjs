// The exact loss of small laws, which what is proved of them must never be below.

import { chancesOf } from "../src/enumerate.js";
import { largest, ONE, spread, ZERO } from "../src/fraction.js";

/** Lists of numbers are written as runs. */
export const unpacked = (value) => {
  if (value?.runs) return value.runs.flatMap(([first, step, times]) => Array.from({ length: times }, (_, i) => first + i * step));
  return Array.isArray(value) ? value.map(unpacked) : value && typeof value === "object" ? { nodes: unpacked(value.nodes), report: value.report } : value;
};

/** Every value of a code, if they are few. */
const choices = ({ form: { least, most, width } }) =>
  width === undefined && most - least < 40n ? Array.from({ length: Number(most - least) + 1 }, (_, i) => least + BigInt(i)) : null;

/**
 * The exact loss, by running the program with all outcomes of all draws: null if unbounded, undefined if they are too many. A report
 * that discloses an answer counts only if there is another from which it comes too, or if that answer is sensitive.
 */
export function exactLoss(program, open, most = 5000) {
  const lists = program.codes.map(choices);
  const outcomes = program.nodes.reduce((all, { op, form }) => all * (op === "code" ? 1 : OUTCOMES(op, form)), 1);
  if (lists.some((list) => !list) || lists.reduce((all, list) => all * list.length, outcomes) > most) return undefined;
  const codes = lists.reduce((all, list) => all.flatMap((some) => list.map((value) => [...some, value])), [[]]);
  const laws = codes.map((values) => chancesOf(program, values));
  const reports = new Set(laws.flatMap((law) => [...law.keys()]));
  const field = program.report.findIndex(([name]) => name === open?.field);
  const ratios = [...reports].map((report) => {
    const chances = laws.map((law) => law.get(report) ?? ZERO);
    const owners = codes.filter((_, place) => chances[place].n);
    const isOpen = open && Number(report.split(" ")[field]) >= open.from;
    return isOpen && owners.length === 1 && !open.secret.has(Number(owners[0][0])) ? ONE : spread(chances);
  });
  return ratios.includes(null) ? null : largest([ONE, ...ratios]);
}
const DRAWN = new Set(["toss", "below", "public", "split", "pick", "pick_each", "toss_each", "flags", "subset", "majority"]);
const OUTCOMES = (op, { least, most, width }) => (DRAWN.has(op) ? (width ? 2 ** width : Number(most - least) + 1) : 1);
