// Permanent answers: the part of a law that is made once for an answer and kept, and the reports that are made from it alone.

import { InvalidParameter } from "./errors.js";
import { lawful } from "./insist.js";
import { UNREAD } from "./ledger.js";
import { DRAWS } from "./operations.js";
import { Program } from "./program.js";

/**
 * The part of a program that is kept: its `base`, the `places` of its report, and what an answer is kept `under`, where that is a
 * value of the program. What follows the part may look at its report, and at nothing else before.
 */
export function keeping({ nodes, report }, { nodes: many, report: fields, under }, plain) {
  const base = new Program({ nodes: plain.slice(0, many), report: fields });
  const places = base.report.map(([, place]) => place);
  const single = ({ type }) => type.width === undefined;
  const free = (place) => place >= many || places.includes(place) || nodes[place].op === "const";
  const upstream = under === undefined ? [] : [under];
  for (const place of upstream) upstream.push(...nodes[place].args.filter((arg) => !upstream.includes(arg)));
  const drawn = upstream.sort((a, b) => a - b).filter((place) => Object.hasOwn(DRAWS, nodes[place].op));
  lawful(
    nodes.every(({ op, args }, place) => place < many || (op !== "code" && args.every(free))) &&
    report.every(([, place]) => free(place)) &&
    places.every((place) => nodes[place].type.row || single(nodes[place])) &&
    base.codes.every((node) => single(node) && !node.args.length) &&
    upstream.every((place) => place < many && single(nodes[place])) &&
    drawn.every((place) => nodes[place].op === "public"),
    "The law does not keep its permanent answer.",
  );
  return { base, many, places, under, upstream, drawn };
}

/** As text, and back: a row as its bits, a number in digits. */
const written = (value) => (Array.isArray(value) ? value.map(Number).join("") : String(value));

function parsed(text, { row, width, low, high }) {
  const value = row ? Array.from(text, (bit) => bit === "1") : BigInt(text);
  if (row ? text.length !== width : value < low || value > high) {
    throw new InvalidParameter(UNREAD);
  }
  return value;
}

/**
 * The values of a law whose kept part comes from `memory`, a plain object, or is made now and put there. `name` is what the
 * answer is kept under where the law does not say.
 */
export function remembered(program, { many, places, under, upstream, drawn }, memory, codes, name, coins) {
  const { nodes } = program;
  const known = [];
  if (under !== undefined) {
    memory.public ??= drawn.map((place) => String(coins.below(nodes[place].params[0])));
    drawn.forEach((place, i) => (known[place] = parsed(memory.public[i], nodes[place].type)));
    name = String(program.run(codes, coins, known, upstream)[under]);
  }
  memory.answers ??= {};
  if (!Object.hasOwn(memory.answers, name)) {
    program.run(codes, coins, known, nodes.slice(0, many).keys());
    memory.answers[name] = places.map((place) => written(known[place]));
  }
  const values = [];
  places.forEach((place, i) => (values[place] = parsed(memory.answers[name][i], nodes[place].type)));
  const later = [...nodes.keys()].filter((place) => place >= many || nodes[place].op === "const");
  return program.run(codes, coins, values, later);
}
