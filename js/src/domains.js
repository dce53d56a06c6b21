// What an answer may be: a domain refuses anything else unseen, and encodes an answer for a law. `inputs` are the names of the
// codes with their largest values, their widths, and whether all numbers of a list differ. `codes` gives them: numbers, lists of
// numbers, or functions of a draw.

import { WHOLE } from "./coins.js";
import { OutsideDomain } from "./errors.js";
import { insist, lawful, whole } from "./insist.js";
import { listed } from "./lists.js";

const MOST = 2 ** 17; // answers of a question, so that a description of a few bytes takes no more memory than these
let left; // of them, for the other parts of the question

const refuse = (what, holds) => lawful(holds, what, OutsideDomain);

const isLabel = (label) => typeof label === "string" || Number.isFinite(label);
const few = (size) => {
  left -= whole(size, 1, left);
  return size;
};
const placesOf = (labels) => new Map(labels.map((label, place) => [label, place]));

/** Round half to even, as Python and NumPy do. */
function rint(x) {
  const floor = Math.floor(x);
  const past = x - floor;
  return past > 0.5 || (past === 0.5 && floor % 2) ? floor + 1 : floor;
}

/** Labels, or so many numbers, or places, or numbers in order; of these, with `snap`, the nearest is taken. */
function choices({ labels: given, size, points, range, other, snap }) {
  const [start, stop, step] = range ?? [0, size ?? points?.length, 1];
  const labels = given ?? listed(few(Math.ceil((stop - start) / step)), (i) => start + i * step);
  const places = placesOf(labels);
  const isWhole = labels.length > 1 && places.size === labels.length && (!points || points.length === labels.length);
  insist(labels.every(isLabel) && isWhole && (other === undefined || places.has(other)));
  const place = (value) => {
    const above = snap && typeof value === "number" ? labels.findIndex((label) => label >= value) : -1;
    if (above > 0) return value - labels[above - 1] <= labels[above] - value ? above - 1 : above;
    return places.get(value) ?? places.get(other) ?? refuse("An answer is not one of the choices. Choose one of them.");
  };
  return { labels, size: labels.length, other, points, places, place };
}

/** Numbers on a grid; the law rounds what lies between two points to either of them by a coin. */
function interval({ low, high, steps, clip = false }) {
  insist(low < high && high - low < Infinity);
  const size = whole(steps, 1, 2 ** 22) + 1;
  const point = (place) => (place === steps ? high : place * ((high - low) / steps) + low);
  const position = (value) => {
    const inside = Math.min(Math.max(value, low), high);
    if (!Number.isFinite(value) || (!clip && inside !== value)) refuse(`An answer is not a number from ${low} to ${high}.`);
    const at = Math.min(Math.max(((inside - low) / (high - low)) * steps, 0), steps);
    return inside === point(rint(at)) ? rint(at) : at;
  };
  return {
    low,
    high,
    steps,
    clip,
    size,
    inputs: { below: [steps - 1], up: [WHOLE] },
    /** With `snaps`, those of the nearest point, the lower of two. */
    codes: (value, snaps) => {
      const at = snaps ? Math.ceil(position(value) - 0.5) : position(value);
      const below = Math.min(Math.floor(at), steps - 1);
      return { below, up: rint((at - below) * WHOLE) };
    },
    name: (code) => String(rint(code.below + code.up / WHOLE)),
    get labels() {
      return listed(size, point);
    },
  };
}

function features(spec) {
  const dimensions = whole(spec.dimensions, 1, 65536);
  const coordinate = interval(spec);
  return {
    labels: listed(dimensions, Number),
    dimensions,
    low: spec.low,
    high: spec.high,
    inputs: { below: [coordinate.steps - 1, dimensions], up: [WHOLE, dimensions] },
    codes: (value) => {
      if (value?.length !== dimensions) refuse(`An answer is not a vector of ${dimensions} numbers.`);
      const all = Array.from(value, (number) => coordinate.codes(number));
      return { below: all.map((each) => each.below), up: all.map((each) => each.up) };
    },
  };
}

/** Sets of at most `at_most` keys, each with a value. */
function keyValue({ size, keys, low, high, at_most: atMost, cut }) {
  const labels = keys ?? listed(few(size), Number);
  const places = placesOf(labels);
  const names = placesOf(labels.map(String)); // of objects, whose keys are words
  insist(labels.every(isLabel) && places.size === labels.length && low < high && high - low < Infinity);
  whole(atMost, 1, labels.length);
  /** [key, value] in the order of the keys. */
  const place = (value) => {
    const fits = (good) => refuse(`An answer is not a set of at most ${atMost} keys, each with a number from ${low} to ${high}.`, good);
    fits(value && typeof value === "object");
    const pairs = value[Symbol.iterator] ? [...value] : Object.entries(value);
    const found = new Map();
    for (const pair of pairs.slice(0, cut ? atMost : undefined)) {
      const [key, number] = Array.isArray(pair) ? pair : [];
      const at = (value[Symbol.iterator] ? places : names).get(key);
      fits(at !== undefined && !found.has(at) && typeof number === "number" && number >= low && number <= high);
      found.set(at, number);
    }
    fits(found.size <= atMost);
    return [...found].sort(([a], [b]) => a - b);
  };
  // with which share of 2^53 a value is rounded up to the high end
  const heads = (value) => rint(((value - low) / (high - low)) * WHOLE);
  const none = BigInt(WHOLE) + 1n; // of who does not have the key
  const codes = (value) => {
    const pairs = place(value);
    return {
      key: (draw) => pairs[draw]?.[0] ?? labels.length,
      high: (draw) => (pairs[draw] ? heads(pairs[draw][1]) : WHOLE / 2),
      keys: listed(atMost, (at) => pairs[at]?.[0] ?? labels.length + at), // padding has a key of its own each
      highs: listed(atMost, (at) => (pairs[at] ? heads(pairs[at][1]) : WHOLE / 2)),
      asked: (key) => pairs.flatMap(([at, own]) => (at === key ? heads(own) : []))[0] ?? none,
    };
  };
  const protects = "any two sets of pairs";
  const inputs = { key: [labels.length], high: [WHOLE], asked: [none], keys: [labels.length + atMost - 1, atMost, true], highs: [WHOLE, atMost] };
  return { labels, low, high, atMost, protects, inputs, codes };
}

/** Several answers: each has a code of its own. */
function vectors({ parts }) {
  const all = parts.map((part) => domainFrom(part, left));
  const place = (values) => all.map((part, i) => part.place(values[i]));
  const inputs = Object.fromEntries(all.map((each, i) => [`answer${i}`, [each.size - 1]]));
  const codes = (values) => Object.fromEntries(place(values).map((at, i) => [`answer${i}`, at]));
  return { parts: all, place, inputs, codes, labels: [], protects: "any two records" };
}

/** The combinations of several answers, as one answer; the last varies fastest. */
function product(spec) {
  const { parts, place } = vectors(spec);
  const size = whole(parts.reduce((all, part) => all * part.size, 1), 1, MOST);
  return {
    parts,
    size,
    place: (values) => place(values).reduce((sum, at, i) => sum * parts[i].size + at, 0),
    get labels() {
      return parts.map((part) => part.labels).reduce((all, own) => all.flatMap((a) => own.map((b) => `${a}, ${b}`)));
    },
  };
}

const KINDS = {
  vectors,
  product,
  categories: choices,
  ordered: choices,
  points: choices,
  interval,
  features,
  "key-value": keyValue,
};

/** Another kind of domain: `make` gives what is seen of it, the bounds of its codes, and what encodes an answer. */
export const addDomain = (kind, make) => {
  KINDS[kind] = (spec) => {
    const [domain, inputs, codes] = make(spec);
    return { ...domain, inputs, codes };
  };
};

export function domainFrom(spec, room = MOST) {
  left = room;
  insist(Object.hasOwn(KINDS, spec.kind));
  const domain = KINDS[spec.kind](spec);
  domain.kind = spec.kind;
  domain.protects ??= "any two values";
  domain.inputs ??= { answer: [domain.size - 1] };
  domain.codes ??= (value) => ({ answer: domain.place(value) });
  domain.name ??= (code) => String(code.answer); // what a permanent answer is kept under
  return domain;
}
