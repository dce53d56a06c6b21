// What an answer may be: a domain turns an answer into what mechanisms start from, and refuses anything else unseen. For a
// law it has `inputs`, the names of its codes with their largest values and widths, and `codes`, which gives them for an
// answer: numbers, lists of numbers, or functions of a draw.

import { WHOLE } from "./coins.js";
import { OutsideDomain } from "./errors.js";
import { insist, whole } from "./insist.js";
import { listed } from "./lists.js";

const refuse = (what) => {
  throw new OutsideDomain(what);
};

const isLabel = (label) => typeof label === "string" || Number.isInteger(label);
const placesOf = (labels) => new Map(labels.map((label, place) => [label, place]));

/** Round half to even, as Python and NumPy do. */
function rint(x) {
  const floor = Math.floor(x);
  const past = x - floor;
  return past < 0.5 || (past === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

function choices(labels, { other } = {}, good = labels.every(isLabel)) {
  const places = placesOf(labels);
  insist(good && labels.length > 1 && places.size === labels.length && (other === undefined || places.has(other)));
  const place = (value) =>
    places.get(value) ?? places.get(other) ?? refuse("An answer is not one of the choices. Choose one of them.");
  return { labels, size: labels.length, other, places, place };
}

const categories = (spec) => choices(spec.labels ?? listed(spec.size, Number), spec);

function points(spec) {
  insist(!spec.labels || spec.labels.length === spec.points.length);
  return { ...choices(spec.labels ?? listed(spec.points.length, Number)), points: spec.points };
}

/** On a line: words are one apart from their neighbours. */
function ordered({ range, labels: given, by_rank: table, power = 1, snap }) {
  const labels = range ? listed(Math.ceil((range[1] - range[0]) / range[2]), (i) => range[0] + i * range[2]) : given;
  const numbers = labels.every(Number.isFinite);
  const made = choices(
    labels,
    {},
    numbers ? labels.every((label, i) => !i || label > labels[i - 1]) : labels.every(isLabel),
  );
  const place = (value) => {
    if (!snap || typeof value !== "number" || !(value >= labels[0] && value <= labels.at(-1))) return made.place(value);
    const above = labels.findIndex((label) => label >= value);
    return above && value - labels[above - 1] <= labels[above] - value ? above - 1 : above;
  };
  return { ...made, place, line: numbers && !table ? labels : listed(labels.length, Number), table, power };
}

/** Numbers on a grid; what lies between two points is rounded to either of them by a coin. */
export function interval({ low, high, steps, clip = false }) {
  insist(low < high && high - low < Infinity);
  const size = whole(steps, 1, 2 ** 22) + 1;
  const point = (place) => (place === steps ? high : place * ((high - low) / steps) + low);
  const position = (value) => {
    if (!Number.isFinite(value)) refuse("An answer is not a finite number.");
    const inside = Math.min(Math.max(value, low), high);
    if (!clip && inside !== value) refuse(`An answer lies outside the interval from ${low} to ${high}.`);
    const at = Math.min(Math.max(((inside - low) / (high - low)) * steps, 0), steps);
    return inside === point(rint(at)) ? rint(at) : at;
  };
  const codes = (value) => {
    const at = position(value);
    const below = Math.min(Math.floor(at), steps - 1);
    return { below, up: rint((at - below) * WHOLE) };
  };
  const place = (value, coins) => {
    const { below, up } = codes(value);
    return below + Number(coins.tossEach(up));
  };
  // for releases: the nearest point, the lower of two; the coin is tossed all the same
  const snapped = (value) => point(Math.ceil(position(value) - 0.5));
  return {
    low,
    high,
    steps,
    clip,
    size,
    place,
    inputs: { below: [steps - 1], up: [WHOLE] },
    codes,
    nearest: (value, coins) => place(snapped(value), coins),
    nearestCodes: (value) => codes(snapped(value)),
    get labels() {
      return listed(size, point);
    },
  };
}

function features(spec) {
  const dimensions = whole(spec.dimensions, 1, 65536);
  const coordinate = interval(spec);
  const each = (value, of) => {
    if (value?.length !== dimensions) refuse(`An answer is not a vector of ${dimensions} numbers.`);
    return Array.from(value, of);
  };
  const codes = (value) => {
    const all = each(value, coordinate.codes);
    return { below: all.map(({ below }) => below), up: all.map(({ up }) => up) };
  };
  return {
    labels: listed(dimensions, Number),
    dimensions,
    coordinate,
    low: spec.low,
    high: spec.high,
    place: (value, coins) => each(value, (number) => coordinate.place(number, coins)),
    inputs: { below: [coordinate.steps - 1, dimensions], up: [WHOLE, dimensions] },
    codes,
  };
}

/** Sets of at most `at_most` keys, each with a value: placed as [key, value] in the order of the keys. */
function keyValue({ size, keys, low, high, at_most: atMost, cut }) {
  const labels = keys ?? listed(size, Number);
  const places = placesOf(labels);
  const names = placesOf(labels.map(String)); // of objects, whose keys are words
  insist(labels.every(isLabel) && places.size === labels.length && low < high && high - low < Infinity);
  whole(atMost, 1, labels.length);
  const place = (value) => {
    if (!value || typeof value !== "object") refuse("An answer must be a Map of keys and values.");
    const pairs = value[Symbol.iterator] ? [...value] : Object.entries(value);
    const found = new Map();
    for (const pair of pairs.slice(0, cut ? atMost : undefined)) {
      const [key, number] = Array.isArray(pair) ? pair : [];
      const at = (value[Symbol.iterator] ? places : names).get(key);
      if (at === undefined || found.has(at)) refuse("A key is unknown, or appears twice.");
      if (!(typeof number === "number" && number >= low && number <= high)) {
        refuse(`A value is not a number from ${low} to ${high}.`);
      }
      found.set(at, number);
    }
    if (found.size > atMost) refuse(`An answer has more than ${atMost} keys.`);
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
      asked: (key) => pairs.filter(([at]) => at === key).map(([, own]) => heads(own))[0] ?? none,
    };
  };
  const inputs = { key: [labels.length], high: [WHOLE], asked: [none] };
  Object.assign(inputs, { keys: [labels.length + atMost - 1, atMost], highs: [WHOLE, atMost] });
  return { labels, low, high, atMost, place, heads, inputs, codes };
}

const KINDS = {
  categories,
  ordered,
  points,
  interval,
  features,
  "key-value": keyValue,
  single: () => ({ labels: [0], size: 1, place: () => 0 }),
};

export function domainFrom(spec) {
  insist(Object.hasOwn(KINDS, spec.kind));
  const domain = KINDS[spec.kind](spec);
  domain.inputs ??= { answer: [domain.size - 1] };
  domain.codes ??= (value) => ({ answer: domain.place(value) });
  return Object.assign(domain, { kind: spec.kind });
}
