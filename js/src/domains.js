// What an answer may be: a domain turns an answer into what mechanisms start from, and refuses anything else unseen.

import { WHOLE } from "./coins.js";
import { InvalidParameter, OutsideDomain } from "./errors.js";

const range = (start, stop, step = 1) => Array.from({ length: Math.max(0, Math.ceil((stop - start) / step)) }, (_, i) => start + i * step);
const whole = (number) => typeof number === "number" && Number.isInteger(number);
const isLabel = (label) => typeof label === "string" || whole(label);

function checkedLabels(labels, least = 2) {
  if (!Array.isArray(labels) || labels.length < least || !labels.every(isLabel) || new Set(labels).size < labels.length) {
    throw new InvalidParameter(`A question needs a list of at least ${least} different words or whole numbers.`);
  }
  return labels;
}

/** Round half to even, as Python and NumPy do. */
export function rint(x) {
  const floor = Math.floor(x);
  const past = x - floor;
  return past < 0.5 || (past === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

class Choices {
  constructor(labels, other) {
    this.labels = labels;
    this.places = new Map(labels.map((label, place) => [label, place]));
    this.other = other;
    if (other !== undefined && !this.places.has(other)) {
      throw new InvalidParameter("The answer that stands for all others must be one of the categories.");
    }
  }

  get size() {
    return this.labels.length;
  }

  place(value) {
    const place = this.places.get(value) ?? this.places.get(this.other);
    if (place === undefined) {
      const shown = this.labels.slice(0, 4).map((label) => (typeof label === "string" ? `'${label}'` : label)).join(", ");
      const these = this.size > 4 ? `the ${this.size} categories ${shown}, ...` : shown;
      throw new OutsideDomain(`An answer is not one of ${these}. Choose one of them.`);
    }
    return place;
  }
}

export class Categories extends Choices {
  constructor(spec) {
    super(checkedLabels("size" in spec ? range(0, spec.size) : spec.labels), spec.other);
  }
}

export class Points extends Choices {
  constructor(spec) {
    super(checkedLabels(spec.labels ?? range(0, spec.points.length)));
    this.points = spec.points;
    if (this.size !== spec.points.length) throw new InvalidParameter("Give each point one label.");
  }
}

/** Ordered answers, on a line: words are one apart from their neighbours. */
export class Ordered extends Choices {
  constructor(spec) {
    const labels = spec.range ? range(...spec.range) : spec.labels;
    const numbers = Array.isArray(labels) && labels.every((label) => typeof label === "number" && Number.isFinite(label));
    super(numbers && labels.length > 1 ? labels : checkedLabels(labels));
    if (numbers && labels.some((label, i) => i && !(label > labels[i - 1]))) {
      throw new InvalidParameter("Numbers must be in increasing order, each once.");
    }
    this.line = numbers && !spec.by_rank ? labels : range(0, labels.length);
    this.power = spec.power ?? 1;
    this.table = spec.by_rank;
    this.snap = numbers && spec.snap;
  }

  place(value) {
    if (!this.snap || typeof value !== "number" || !(value >= this.labels[0] && value <= this.labels.at(-1))) {
      return super.place(value);
    }
    const above = this.labels.findIndex((label) => label >= value);
    return above && value - this.labels[above - 1] <= this.labels[above] - value ? above - 1 : above;
  }
}

/** Numbers on a grid; what lies between two points is rounded to either of them by a coin. */
export class Interval {
  constructor({ low, high, steps, clip = false }) {
    const good = Number.isFinite(low) && Number.isFinite(high) && low < high && whole(steps) && steps >= 1 && steps <= 2 ** 22;
    if (!good) throw new InvalidParameter("An interval needs two finite ends, the lower one first, and 1 to 4194304 steps.");
    Object.assign(this, { low, high, steps, clip });
  }

  get size() {
    return this.steps + 1;
  }

  get labels() {
    return Array.from({ length: this.size }, (_, place) => this.point(place));
  }

  get line() {
    return this.labels;
  }

  power = 1;

  point(place) {
    return place === this.steps ? this.high : place * ((this.high - this.low) / this.steps) + this.low;
  }

  position(value) {
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw new OutsideDomain("An answer is not a finite number. Leave it out, or replace it before it is randomized.");
    }
    if (!this.clip && !(value >= this.low && value <= this.high)) {
      throw new OutsideDomain(`An answer lies outside the interval from ${this.low} to ${this.high}.`);
    }
    const inside = Math.min(Math.max(value, this.low), this.high);
    const position = Math.min(Math.max(((inside - this.low) / (this.high - this.low)) * this.steps, 0), this.steps);
    const near = rint(position);
    return inside === this.point(near) ? near : position;
  }

  place(value, coins) {
    const position = this.position(value);
    const below = Math.min(Math.floor(position), this.steps - 1);
    return below + (coins.tossEach(rint((position - below) * WHOLE)) ? 1 : 0);
  }

  /** The nearest point, the lower of two, for releases: the coin is tossed all the same. */
  nearest(value, coins) {
    return this.place(this.point(Math.ceil(this.position(value) - 0.5)), coins);
  }
}

export class Features {
  constructor(spec) {
    if (!whole(spec.dimensions) || spec.dimensions < 1 || spec.dimensions > 65536) {
      throw new InvalidParameter("Vectors have 1 to 65536 dimensions.");
    }
    this.coordinate = new Interval(spec);
    this.dimensions = spec.dimensions;
    this.labels = range(0, spec.dimensions);
  }

  get low() {
    return this.coordinate.low;
  }

  get high() {
    return this.coordinate.high;
  }

  place(value, coins) {
    if (!Array.isArray(value) && !ArrayBuffer.isView(value)) value = [];
    if (value.length !== this.dimensions) {
      throw new OutsideDomain(`An answer is not a vector of ${this.dimensions} numbers. Give one row of them.`);
    }
    return Array.from(value, (number) => this.coordinate.place(number, coins));
  }
}

/** Sets of at most `at_most` keys, each with a value: placed as [key, value] in the order of the keys. */
export class KeyValue {
  constructor(spec) {
    this.labels = checkedLabels("size" in spec ? range(0, spec.size) : spec.keys, 1);
    Object.assign(this, { low: spec.low, high: spec.high, atMost: spec.at_most, cut: spec.cut ?? false });
    const good = Number.isFinite(this.low) && this.low < this.high && whole(this.atMost);
    if (!good || !(this.high < Infinity && this.atMost >= 1 && this.atMost <= this.labels.length)) {
      throw new InvalidParameter("Keys have values between two finite ends, and at_most of them, at least 1, count.");
    }
    this.places = new Map(this.labels.map((label, place) => [label, place]));
    this.names = new Map(this.labels.map((label, place) => [String(label), place])); // of objects, whose keys are words
  }

  place(value) {
    if (value === null || typeof value !== "object") {
      throw new OutsideDomain("An answer must be an object or a Map of keys and values, or a list of such pairs.");
    }
    const plainObject = !(value instanceof Map) && !Array.isArray(value);
    const given = [...(plainObject ? Object.entries(value) : value)].map(([key, number]) => {
      const place = this.places.get(key) ?? (plainObject ? this.names.get(key) : undefined);
      if (place === undefined) throw new OutsideDomain(`A key is not one of the ${this.labels.length} keys of this question.`);
      if (typeof number !== "number" || !(number >= this.low && number <= this.high)) {
        throw new OutsideDomain(`A value lies outside the range from ${this.low} to ${this.high}, or is no number.`);
      }
      return [place, number];
    });
    if (new Set(given.map(([place]) => place)).size < given.length) {
      throw new OutsideDomain("A person has the same key twice. Give every key of a person one value.");
    }
    if (given.length > this.atMost && !this.cut) {
      throw new OutsideDomain(`A person has more keys than the ${this.atMost} that are allowed.`);
    }
    return given.slice(0, this.atMost).sort(([a], [b]) => a - b);
  }

  /** With which share of 2^53 a value is rounded up to the high end. */
  heads(value) {
    return rint(((value - this.low) / (this.high - this.low)) * WHOLE);
  }
}

const KINDS = {
  categories: Categories,
  ordered: Ordered,
  points: Points,
  interval: Interval,
  features: Features,
  "key-value": KeyValue,
};

export function domainFrom(spec) {
  if (!Object.hasOwn(KINDS, spec?.kind)) {
    throw new InvalidParameter(`This client knows domains of kind ${Object.keys(KINDS).join(", ")}.`);
  }
  const domain = new KINDS[spec.kind](spec);
  domain.kind = spec.kind;
  return domain;
}
