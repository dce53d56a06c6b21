// Poisson private representation, skipping ahead: which shared draw of a chunk to send. See kernels/encoder_plain.py, whose
// steps and random words these are.

import { answer } from "./shared-draws.js";

const FAR = 2 ** 40; // past it a label is the time of a point, not its rank
const TERMS = 20;
const MORE = 1 << 14; // words that are drawn when a step lacks some
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];

/** Random numbers strictly between 0 and 1, from 53 of 64 bits each: as many as Python draws at a time. */
export class Words {
  #coins;
  #view;
  #used = 0;

  constructor(coins, count) {
    this.#coins = coins;
    this.#take(coins.draw(8 * count));
  }

  #take(bytes) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get left() {
    return this.#view.byteLength / 8 - this.#used;
  }

  at(place) {
    const start = 8 * (this.#used + place);
    return (this.#view.getUint32(start + 4, true) * 2 ** 21 + (this.#view.getUint32(start, true) >>> 11) + 0.5) * 2 ** -53;
  }

  use(count) {
    this.#used += count;
  }

  more() {
    const [rest, fresh] = [8 * this.left, this.#coins.draw(8 * MORE)];
    const bytes = new Uint8Array(rest + fresh.length);
    bytes.set(new Uint8Array(this.#view.buffer, this.#view.byteOffset + 8 * this.#used, rest));
    bytes.set(fresh, rest);
    this.#take(bytes);
    this.#used = 0;
  }
}

const exponential = (uniform) => -Math.log1p(-uniform);

function logPoisson(number, mean) {
  if (number < 10) {
    let total = number * Math.log(mean) - mean;
    for (let factor = 2; factor <= number; factor++) total -= Math.log(factor);
    return total;
  }
  const inverse = 1 / number;
  let rest = 0;
  for (const term of STIRLING.toReversed()) rest = rest * inverse * inverse + term;
  const off = (mean - number) * inverse;
  let bend = Math.log1p(off) - off;
  if (Math.abs(off) < 0.1) {
    let power = 0;
    for (let term = 19; term > 1; term--) power = power * -off + 1 / term;
    bend = -off * off * power;
  }
  return number * bend - 0.5 * Math.log(2 * Math.PI * number) - rest * inverse;
}

/** A Poisson number and how many words it took from place `at` on; null if they do not suffice. */
function poisson(mean, words, at) {
  if (mean < 10) {
    if (at >= words.left) return null;
    let [rest, chance, number] = [words.at(at), Math.exp(-mean), 0];
    while (rest > chance && number < 200) {
      rest -= chance;
      number++;
      chance *= mean / number;
    }
    return [number, at + 1];
  }
  const b = 0.931 + 2.53 * Math.sqrt(mean);
  const a = -0.059 + 0.02483 * b;
  const scale = 1.1239 + 1.1328 / (b - 3.4);
  const quick = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    if (at + 2 > words.left) return null;
    const [side, height] = [words.at(at) - 0.5, words.at(at + 1)];
    at += 2;
    const edge = 0.5 - Math.abs(side);
    const number = Math.floor(((2 * a) / edge + b) * side + mean + 0.43);
    if (edge >= 0.07 && height <= quick) return [number, at];
    if (number < 0 || (edge < 0.013 && height > edge)) continue;
    if (Math.log((height * scale) / (a / (edge * edge) + b)) <= logPoisson(number, mean)) return [number, at];
  }
}

const bits = new DataView(new ArrayBuffer(8));

/** The upper 44 bits of a number, as a label. */
function timeLabel(time) {
  bits.setFloat64(0, time);
  return bits.getUint32(0) * 2 ** 12 + (bits.getUint32(4) >>> 20);
}

/**
 * The label of each chunk of one list; `chunks` holds the places that are one in each. Nothing is cut off and nothing begins
 * anew: either would be seen in what is sent.
 */
export function labelsOf(chunks, { low, high, threshold, alpha }, coins) {
  const epsilon = Math.log((2 ** 32 - threshold) / threshold);
  const a = 1 - 1 / alpha;
  const series = [];
  for (let n = 0, factorial = 1; n < TERMS; factorial *= ++n) series.push(((-1) ** n * (1 - a)) / (factorial * (n + 1) * (a + n)));
  const curve = (x) => series.reduceRight((total, coefficient) => total * x + coefficient, 0);
  const words = new Words(coins, 64 + 8 * chunks.length);
  return chunks.map((places, chunk) => {
    let [time, counted, rank, best, label, reach] = [0, 0, 0, Infinity, 0, Infinity];
    for (;;) {
      if (words.left < 3) {
        words.more();
        continue;
      }
      let mark;
      if (time < reach) {
        time += exponential(words.at(0));
        mark = exponential(words.at(1));
        words.use(2);
        rank++;
        counted = time;
        if (mark > (reach / time) ** alpha) continue;
      } else {
        const beyond = alpha - 1;
        const rest = (reach * (reach / time) ** beyond) / beyond - exponential(words.at(0));
        if (rest <= 0) {
          words.use(1);
          return label;
        }
        const later = reach * (reach / (beyond * rest)) ** (1 / beyond);
        const x = (reach / later) ** alpha;
        const lost = -Math.expm1(-x);
        if (words.at(1) * x > lost) {
          time = later;
          words.use(2);
          continue;
        }
        let taken = 3;
        if (later < FAR) {
          const before = (reach / counted) ** alpha;
          const mean = later - counted + (later * x * curve(x) - counted * before * curve(before));
          const skipped = poisson(Math.max(mean, 0), words, 3);
          if (!skipped) {
            words.more();
            continue;
          }
          taken = skipped[1];
          rank += 1 + skipped[0];
        }
        mark = -Math.log1p(-words.at(2) * lost);
        time = counted = later;
        words.use(taken);
      }
      const candidate = time < FAR ? rank : timeLabel(time);
      let net = -places.length;
      for (const place of places) net += 2 * answer(place, chunk, candidate, low, high, threshold);
      const weight = time * mark ** (1 / alpha) * Math.exp(-epsilon * net);
      if (weight < best) {
        [best, label] = [weight, candidate];
        reach = weight * Math.exp(epsilon * places.length);
      }
    }
  });
}
