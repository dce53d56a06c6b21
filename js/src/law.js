// The law that a survey carries for a question: the program that turns an answer into a report.

import { InvalidLaw } from "./errors.js";
import { listed } from "./lists.js";
import { Program } from "./program.js";
import { run } from "./run.js";

/** The program in this data, if it is one for these answers and these fields of a report. */
export function lawFor(data, { inputs }, fields) {
  const program = new Program(data);
  const { nodes, codes, report } = program;
  const expected = codes.every(({ params: [name], type: { low, high, width } }) => {
    const [most, wide] = (Object.hasOwn(inputs, name) && inputs[name]) || [-1];
    return low === 0n && high === BigInt(most) && width === wide;
  });
  if (!expected) throw new InvalidLaw("The law is for other answers than the question has.");
  const fits = ({ name, bits, below }, [given, place]) => {
    const { low, high, width, row } = nodes[place].type;
    if (given !== name || row === Boolean(below)) return false;
    return row ? width === bits : width === undefined && low >= 0n && high < below;
  };
  if (report.length !== fields.length || !fields.every((field, i) => fits(field, report[i]))) {
    throw new InvalidLaw("The law gives other reports than the mechanism.");
  }
  return program;
}

/** The report that a law gives, from the codes of an answer by name. */
export function perturbed(program, codes, coins) {
  const given = program.codes.map(({ params: [name] }) => codes[name]);
  const fields = run(program, given, coins);
  for (const [name, place] of program.report) {
    const { row, width } = program.nodes[place].type;
    const bytes = fields[name];
    if (row) fields[name] = listed(width, (at) => ((bytes[at >> 3] >> (at & 7)) & 1) === 1);
  }
  return fields;
}
