// Permanent answers: the part of a law that is made once for an answer and kept, and the reports that are made from it alone.

import { fingerprint } from "./bytes.js";
import { InvalidParameter } from "./errors.js";
import { lawful } from "./insist.js";
import { UNREAD } from "./ledger.js";
import { isDraw, isSingle } from "./graph.js";
import { before, Program } from "./program.js";

const NOT_KEPT = "The law does not keep its permanent answer.";

/**
 * The part of a program that is kept: its base, the places of its report, and what an answer is kept under, where that is a
 * value of the program. What follows the part may look at its report, and at nothing else before. Last comes the name of all
 * this: a server that changes it would get another permanent answer.
 */
export function keeping({ nodes, report }, kept, plain) {
  const { nodes: many, report: fields, under } = kept;
  const base = new Program({ nodes: plain.slice(0, many), report: fields });
  const places = base.report.map(([, place]) => place);
  const free = (place) => place >= many || places.includes(place) || nodes[place].op === "const";
  const upstream = before(nodes, under === undefined ? [] : [under]);
  const drawn = upstream.filter((place) => isDraw(nodes[place]));
  lawful(
    nodes.every((node, place) => place < many || (node.op !== "code" && node.args.every(free))) &&
    report.every(([, place]) => free(place)) &&
    places.every((place) => nodes[place].form.row || isSingle(nodes[place])) &&
    base.codes.every((node) => isSingle(node) && node.args.every((place) => nodes[place].op === "public")) &&
    upstream.every((place) => place < many && isSingle(nodes[place])) &&
    drawn.every((place) => nodes[place].op === "public"),
    NOT_KEPT,
  );
  return [base, many, places, under, upstream, drawn, fingerprint(JSON.stringify([kept, plain.slice(0, many)]))];
}

/** As text, and back: a row as its bits, a number in digits. */
const written = (value) => (Array.isArray(value) ? value.map(Number).join("") : String(value));

function parsed(text, { row, width, least, most }) {
  const value = row ? Array.from(text, (bit) => bit === "1") : BigInt(text);
  lawful(row ? text.length === width : value >= least && value <= most, UNREAD, InvalidParameter);
  return value;
}

/**
 * The values of a law whose kept part comes from `memory`, a plain object, or is made now and put there. `name` is what the
 * answer is kept under where the law does not say.
 */
export function remembered(program, [, many, places, under, upstream, drawn, part], memory, codes, name, coins) {
  const { nodes } = program;
  lawful((memory.part ??= part) === part, NOT_KEPT);
  const known = [];
  if (under !== undefined) {
    memory.public ??= drawn.map((place) => String(coins.below(nodes[place].params[0])));
    drawn.forEach((place, i) => (known[place] = parsed(memory.public[i], nodes[place].form)));
    name = String(program.run(codes, coins, known, upstream)[under]);
  }
  memory.answers ??= {};
  if (!Object.hasOwn(memory.answers, name)) {
    program.run(codes, coins, known, nodes.slice(0, many).keys());
    memory.answers[name] = places.map((place) => written(known[place]));
  }
  const values = [];
  places.forEach((place, i) => (values[place] = parsed(memory.answers[name][i], nodes[place].form)));
  const later = [...nodes.keys()].filter((place) => place >= many || nodes[place].op === "const");
  return program.run(codes, coins, values, later);
}
