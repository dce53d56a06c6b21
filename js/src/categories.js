// Mechanisms for choices whose reports are a number or a row of bits: direct, unary, subset, Hadamard.

import { below, float, HALF, minus, ONE, over, plus, ratio, read, times } from "./fraction.js";
import { flags, number } from "./layout.js";
import { chance, PureProtocol, refuseUnless } from "./mechanism.js";

export const cellsOf = (bits) => bits.flatMap((bit, cell) => (bit ? [cell] : []));
const filled = (size, test) => Array.from({ length: size }, (_, cell) => test(cell));

/** Tell the truth with probability p, otherwise any other value. */
export class Direct extends PureProtocol {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    const size = domain.size;
    if (spec.mechanism === "label-1") {
      this.p = read(spec.keep);
      refuseUnless(this.p.n > 0n && below(this.p, ONE), "A label must be kept with a probability between 0 and 1.");
      this.q = over(minus(ONE, this.p), ratio(size - 1));
      this.odds = below(this.p, this.q) ? over(this.q, this.p) : over(this.p, this.q);
    } else {
      this.odds = this.allowed(spec);
      this.q = over(ONE, plus(this.odds, ratio(size - 1)));
      this.p = times(this.odds, this.q);
    }
    this.fields = [number("value", size)];
    this.blankSupport = ratio(1, size);
  }

  randomize(truth, coins) {
    return { value: (truth + coins.split(this.p, 1, this.domain.size - 1)) % this.domain.size };
  }

  blank(coins) {
    return { value: coins.below(this.domain.size) };
  }

  supports({ value }) {
    return [value];
  }
}

/** One bit for each value, each randomized on its own. */
export class Unary extends PureProtocol {
  proof = "factored";

  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.p = read(spec.p);
    this.q = read(spec.q);
    refuseUnless(this.q.n > 0n && below(this.q, this.p) && below(this.p, ONE), "Unary encoding needs 0 < q < p < 1.");
    this.odds = over(times(this.p, minus(ONE, this.q)), times(this.q, minus(ONE, this.p)));
    this.fields = [flags("cells", domain.size)];
    this.blankSupport = this.q;
  }

  randomize(truth, coins) {
    const { cells } = this.blank(coins);
    cells[truth] = coins.flip(this.p);
    return { cells };
  }

  blank(coins) {
    return { cells: coins.toss(this.q, this.domain.size) };
  }

  supports({ cells }) {
    return cellsOf(cells);
  }

  get idle() {
    return this.domain.size <= 4096 ? (1 - float(this.q)) ** this.domain.size : 0;
  }

  isIdle({ cells }) {
    return !cells.includes(true);
  }
}

/** A set of `size` values that contains the true one more often than not. */
export class Subset extends PureProtocol {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.size = spec.size;
    refuseUnless(
      Number.isInteger(this.size) && this.size >= 1 && this.size < domain.size,
      `The subset must have 1 to ${domain.size - 1} of the ${domain.size} values.`,
    );
    Object.assign(this, chance(domain.size, this.size, this.odds));
    this.fields = [flags("cells", domain.size, this.size)];
    this.blankSupport = ratio(this.size, domain.size);
  }

  randomize(truth, coins) {
    const honest = coins.flip(this.p);
    const last = this.domain.size - 1;
    const cells = [...coins.subset(last, this.size, honest), false];
    // Among the others the last value stands in for the truth, whose own bit says whether we were honest.
    cells[last] = cells[truth];
    cells[truth] = honest;
    return { cells };
  }

  blank(coins) {
    return { cells: coins.subset(this.domain.size, this.size) };
  }

  supports({ cells }) {
    return cellsOf(cells);
  }
}

/** A column of Sylvester's matrix, more often one in which the true row has +1. */
export class Hadamard extends PureProtocol {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.odds = this.allowed(spec);
    this.order = 2 ** domain.size.toString(2).length;
    this.p = over(this.odds, plus(this.odds, ONE));
    this.q = this.blankSupport = HALF;
    this.fields = [number("column", this.order)];
  }

  randomize(truth, coins) {
    const row = truth + 1;
    const column = coins.below(this.order);
    const wanted = coins.flip(this.p);
    return { column: odd(row & column) === wanted ? (column ^ (row & -row)) >>> 0 : column };
  }

  blank(coins) {
    return { column: coins.below(this.order) };
  }

  supports({ column }) {
    return cellsOf(filled(this.domain.size, (cell) => !odd((cell + 1) & column)));
  }

  get idle() {
    return [0, 1 / 2, 1 / 4][this.domain.size] ?? 0; // rows 1, 2 and 3 = 1 ^ 2 are never all odd
  }

  isIdle(report) {
    return !this.supports(report).length;
  }
}

function odd(bits) {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) === 1;
}
