// How a report is read: which answers it supports, or which number it stands for, by what came with the law. Nothing that a
// report discloses depends on it.

import { InvalidReport } from "./errors.js";
import { listed, numberOf, trueAt } from "./lists.js";
import { Program } from "./program.js";

/** The answers for which a program says yes, given the fields of a report. */
function asked(program, report, size) {
  const plain = Object.entries(report).map(([name, value]) => [name, Array.isArray(value) ? value.map(Number) : value]);
  const codes = Object.fromEntries(plain);
  const [[, place]] = program.report;
  return trueAt(listed(size, (cell) => program.run({ ...codes, cell })[place]));
}

export class Reader {
  /** From what came with a law; without anything of it a report is shown as it is. */
  constructor({ supports = [], denies, numbers, coordinates } = {}, domain) {
    const size = domain.size ?? domain.labels.length;
    const program = (data) => {
      const made = new Program(data);
      return (report) => asked(made, report, size);
    };
    /** For each end of a rating, or once: the places of the answers that a report names. */
    this.ends = Array.from(supports, program);
    this.denies = denies && program(denies);
    this.numbers = numbers;
    this.coordinates = coordinates;
  }

  /** The places of the answers that a report supports; null if it names none. */
  supports(report) {
    return this.ends.length ? [...new Set(this.ends.flatMap((end) => end(report)))].sort((a, b) => a - b) : null;
  }

  /** The number that a report stands for. */
  number(value) {
    const [first, number, step] = this.numbers.findLast(([start]) => value >= start);
    return number + step * (value - first);
  }

  /** The coordinates in a report, and the number of each. */
  vector({ start = 0, values }) {
    const [count, dimensions, bits, below] = this.coordinates;
    return listed(count, (i) => {
      const value = numberOf(values.slice(i * bits, (i + 1) * bits));
      if (value >= below) throw new InvalidReport("A report holds a number that this mechanism does not send.");
      return [(start + Math.floor((i * dimensions) / count)) % dimensions, this.number(value)];
    });
  }
}
