// Whom people know among the members of a list, in three rounds: noisy numbers, compressed lists, noisy counts. Loaded only where a
// survey asks for it. That each round costs its share of epsilon is a theorem; that the shares are within epsilon, that the coins
// are those of the shares, and that the rounds belong together is checked here before anything is made. The same as in Python.

import { hex, utf8 } from "./bytes.js";
import { addDomain, InvalidLaw, InvalidSurvey, OutsideDomain } from "./index.js";
import { float, oddsBelow, ratio, simplest, within } from "./fraction.js";
import { sums, SYMBOLS, read, write } from "./label-code.js";
import { labelsOf, Words } from "./represent.js";
import { sha256 } from "./sha256.js";
import { shake } from "./shake.js";
import { answer, answers } from "./shared-draws.js";

const MOST = 1 << 17; // members that a browser takes
const DEGREES = 0.08; // of epsilon, for the first round
const RARE = 45;
const ABSENT = -(2 ** 31);
const WORD = 2 ** 32;
const [WHOLE, MIDDLE] = [64, 2 ** 47]; // counts are reported in whole 1/64, from the middle on
const HASH = 16; // hexadecimal digits of a hashed name

const insist = (good, what = "The description of the round was changed, or is damaged.", kind = InvalidLaw) => {
  if (!good) throw new kind(what);
};

// Members

/** What stands for a name in a list of hashed names. */
export const hashedName = (name) => hex(sha256(utf8(`deniable member ${name.trim().toLowerCase()}`))).slice(0, HASH);

/** The members of a list, as a description has them. */
export function membersOf({ size, names }) {
  const isList = !names || (Array.isArray(names) && names.length === size && names.every((name) => name && typeof name === "string"));
  const places = isList && names && new Map(names.map((name, place) => [name, place]));
  if (!(Number.isInteger(size) && size >= 2 && size <= MOST && isList) || (places && places.size !== size)) throw new TypeError("another domain"); // which becomes an error of the survey
  const hashed = Boolean(names?.every((name) => /^[0-9a-f]{16}$/.test(name)));
  /** The number of a member, given by number or by name; undefined for anybody else. */
  const number = (member) => {
    if (typeof member === "string") return places?.get(member) ?? places?.get(hashedName(member));
    return Number.isInteger(member) && member >= 0 && member < size ? member : undefined;
  };
  return { size, members: names ?? size, names, hashed, number, labels: [], protects: "friendship" };
}

addDomain("members", (spec) => [membersOf(spec), {}, () => ({})]);

/** Who answers and whom they know, as numbers in order. */
function placed({ number }, given) {
  const refuse = (what) => {
    throw new OutsideDomain(what);
  };
  const { me, knows } = given ?? {};
  if (!knows?.[Symbol.iterator] || typeof knows === "string") refuse("An answer says who answers and whom they know: { me: 3, knows: [14, 15] }.");
  const all = [me, ...knows].map((member) => number(member) ?? refuse("Somebody is not a member of the list."));
  const others = [...new Set(all.slice(1))].sort((a, b) => a - b);
  if (others.includes(all[0])) refuse("Nobody is their own friend. Leave yourself out of the list.");
  return { me: all[0], others };
}

// What everybody knows

/** So many numbers of 62 bits, as halves, which follow from a text. */
function publicWords(size, seed) {
  const words = shake(utf8(`deniable friends ${seed}`), 2 * size);
  const [low, high] = [new Uint32Array(size), new Uint32Array(size)];
  for (let i = 0; i < size; i++) {
    low[i] = (words[2 * i] >>> 2) | (words[2 * i + 1] << 30);
    high[i] = words[2 * i + 1] >>> 2;
  }
  return { low, high };
}

/** The place of each in the order of a comparison; of equal ones the first comes first. */
function placesBy(size, compare) {
  const order = Uint32Array.from({ length: size }, (_, i) => i).sort((a, b) => compare(a, b) || a - b);
  const place = new Uint32Array(size);
  order.forEach((who, at) => (place[who] = at));
  return { order, place };
}

/** The bytes in a text that Python packed, no more than so many. */
async function unpacked(text, most) {
  try {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    const parts = [];
    let size = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      parts.push(next.value);
      size += next.value.length;
      if (size > most) throw new RangeError("too long");
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  } catch {
    return insist(false, "The published data of this round is damaged. Download it again.", InvalidSurvey);
  }
}

/** The response of one pair: a chance of the other answer, as a fraction and as a number. */
const response = (n, d) => ({ chance: ratio(n, d), q: float(ratio(n, d)) });

/** Half to even, as Python rounds. */
function rint(x) {
  const floor = Math.floor(x);
  const past = x - floor;
  return past < 0.5 || (past === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

const bitLength = (number) => number.toString(2).length;

/** One round, from the description of its mechanism and how lists are coded in it. */
export class Round {
  /** `terms` are numbers on which no privacy rests. */
  constructor(spec, terms) {
    const { epsilon, alpha, degrees, shares, lists } = spec;
    const isText = typeof degrees === "string" && typeof lists === "string";
    insist(spec.mechanism === "friends-1" && spec.domain.kind === "members" && isText && Array.isArray(shares));
    const domain = membersOf(spec.domain);
    insist([epsilon, alpha].every(Number.isFinite) && epsilon > 0 && epsilon <= 100 && alpha >= 1.1 && alpha <= 64);
    insist(Boolean(degrees) === Boolean(shares.length) && (!lists || degrees));
    Object.assign(this, { spec, domain, epsilon, alpha, size: domain.size, number: 1 + Boolean(degrees) + Boolean(lists) });
    const share = DEGREES * epsilon;
    const [under, over] = [oddsBelow(0.97 * share), oddsBelow(share)];
    this.odds = ratio(...simplest(under.n, under.d, over.n, over.d)); // of the noise on a number
    insist(within(this.odds, share));
    this.margin = Math.ceil(RARE / Math.log(float(this.odds)));
    if (degrees) this.#divide(share, shares, terms);
  }

  /** How the rest of the budget is divided between answers and counts, of hubs and of all others. */
  #divide(degrees, shares, { least, load, margin, weights } = {}) {
    const { epsilon, alpha } = this;
    insist(shares.length === 7 && shares.every((each) => Number.isFinite(each) && each >= 0) && Number.isInteger(shares[0]));
    const [hubs, ...rest] = shares;
    const tiers = [rest.slice(0, 3), rest.slice(3)].map(([answering, counting, tail]) => ({ answering, counting, tail }));
    for (const { answering, counting, tail } of tiers) {
      const spent = degrees + answering + counting;
      insist(spent * (1 + 1e-12) <= epsilon, "The rounds together would spend more than epsilon on a friendship.");
      insist(answering > 1e-5 && counting > 0 && tail > 2);
    }
    const plain = oddsBelow(tiers[0].answering);
    const inner = oddsBelow(tiers[1].answering / (2 * alpha));
    const scaled = inner.d * BigInt(WORD);
    const threshold = Number((scaled + inner.n + inner.d - 1n) / (inner.n + inner.d));
    const listed = { ...response(threshold, WORD), threshold };
    insist(within(ratio(WORD - threshold, threshold), tiers[1].answering / (2 * alpha)));
    const isCode = Array.isArray(weights) && weights.length === SYMBOLS && weights.every((weight) => Number.isInteger(weight) && weight > 0);
    insist(isCode && sums(weights).at(-1) === 65536 && [load, least, margin].every(Number.isFinite) && load > 0 && least >= 1 && margin >= 0);
    Object.assign(this, { hubs, tiers, plain: response(plain.d, plain.n + plain.d), listed, code: { least, load, margin, before: sums(weights) } });
  }

  /** What later rounds must have in common with this one. */
  get binding() {
    return this.number > 1 ? `${this.spec.degrees} ${this.spec.shares}` : "";
  }

  /** Work out what follows from what was published; only then can somebody answer. */
  async open() {
    const { size, domain, spec } = this;
    const { low, high } = publicWords(size, `order ${size} ${(domain.names ?? []).join(" ")}`);
    this.position = placesBy(size, (a, b) => high[a] - high[b] || low[a] - low[b]).place;
    if (spec.degrees) await this.#stand();
    if (spec.lists) await this.#download();
    return this;
  }

  async #stand() {
    const { size, hubs, code } = this;
    const data = await unpacked(this.spec.degrees, 4 * size);
    insist(data.length === 4 * size, "The published numbers of friends are not one for each member.");
    const view = new DataView(data.buffer);
    this.noisy = Int32Array.from({ length: size }, (_, place) => view.getInt32(4 * place, true));
    const present = this.noisy.reduce((sum, each) => sum + (each !== ABSENT), 0);
    insist(hubs <= present, "There are at most as many hubs as members who reported.");
    const { order, place } = placesBy(size, (a, b) => this.noisy[b] - this.noisy[a]);
    this.keys = publicWords(size, `keys ${hex(sha256(data))}`);
    this.base = new Float64Array(size + 1);
    for (let who = 0; who < size; who++) {
      const wanted = Math.max(Math.ceil((Math.max(this.noisy[who], 0) + code.margin) / code.load), code.least, 1);
      const silent = this.noisy[who] === ABSENT || hubs >= present;
      this.base[who + 1] = this.base[who] + (silent ? 0 : Math.min(wanted, this.reach(who)));
    }
    Object.assign(this, { order, rank: place });
  }

  async #download() {
    const { base, hubs, code } = this;
    const begins = sums(Array.from({ length: hubs }, (_, rank) => (rank + 7) >> 3));
    const total = base.at(-1);
    const data = await unpacked(this.spec.lists, begins.at(-1) + 32 + 16 * Math.max(total, 1));
    insist(data.length >= begins.at(-1), "The published answers are incomplete.");
    this.labels = read(data.subarray(begins.at(-1)), total, code.before);
    this.between = { data, begins };
  }

  // Who answers for which pair: each for those who follow in the circle, half of it long

  reach(who) {
    return this.size % 2 || who < this.size / 2 ? this.size >> 1 : this.size / 2 - 1;
  }

  owns(who, other) {
    const ahead = (other - who + this.size) % this.size;
    return 2 * ahead < this.size || (2 * ahead === this.size && who < other);
  }

  place(owner, other) {
    return ((other - owner + this.size) % this.size) - 1;
  }

  chunks(who) {
    return this.base[who + 1] - this.base[who];
  }

  chunkOf(who, place) {
    return Math.floor((place * this.chunks(who)) / this.reach(who));
  }

  // Reports

  /** What is in the bytes of a report: the member, and a number or how many bytes a list takes. */
  reading(bytes) {
    if (this.number === 2) return { member: new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true), bytes: bytes.length - 20 };
    const all = bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
    const bits = BigInt(bitLength(this.size - 1));
    const number = Number(all >> bits);
    return { member: Number(BigInt.asUintN(Number(bits), all)), number: this.number === 1 ? number - this.margin : (number - MIDDLE) / WHOLE };
  }

  /** What somebody reports, as bytes. */
  report(given, coins) {
    const { me: member, others } = placed(this.domain, given);
    const me = this.position[member];
    let known = others.map((other) => this.position[other]);
    if (this.number > 1) {
      const isHere = this.noisy[me] !== ABSENT;
      insist(isHere, "This member did not report in the first round and cannot take part in later ones.", OutsideDomain);
      known = known.filter((other) => this.noisy[other] !== ABSENT);
    }
    if (this.number === 1) {
      const noisy = known.filter((other) => this.owns(me, other)).length + this.#noise(coins);
      const below = this.size + 2 * this.margin;
      return fields([member, this.size], [Math.min(Math.max(noisy + this.margin, 0), below - 1), below]);
    }
    if (this.number === 2) return message(member, this.#lists(me, known, coins));
    const count = Math.min(Math.max(rint(this.#count(me, known, coins) * WHOLE), 1 - MIDDLE), MIDDLE - 1);
    return fields([member, this.size], [count + MIDDLE, 2 * MIDDLE]);
  }

  /** Two-sided geometric noise: the difference of two numbers whose binary digits are independent. */
  #noise(coins) {
    const digits = Math.max(1, Math.ceil(Math.log2(RARE / Math.log(float(this.odds)))));
    const numbers = [0, 0];
    let { n, d } = this.odds;
    for (let digit = 0; digit < digits; digit++) {
      coins.toss(ratio(d, n + d), 2).forEach((one, i) => (numbers[i] += one ? 2 ** digit : 0));
      [n, d] = [n * n, d * d];
    }
    for (let again = [0, 1]; again.length;) {
      const more = coins.toss(ratio(d, n), again.length);
      again = again.filter((_, i) => more[i]); // once in e^45
      again.forEach((i) => (numbers[i] += 2 ** digits));
    }
    return numbers[0] - numbers[1];
  }

  /** The answers about hubs in plain, if one is a hub, and the labels of all others. */
  #lists(me, known, coins) {
    const { rank, hubs, keys } = this;
    const isHub = (who) => rank[who] < hubs;
    const chunks = Array.from({ length: this.chunks(me) }, () => []);
    for (const other of known.filter((each) => this.owns(me, each) && !(isHub(me) && isHub(each)))) {
      const place = this.place(me, other);
      chunks[this.chunkOf(me, place)]?.push(place);
    }
    chunks.forEach((places) => places.sort((a, b) => a - b));
    const labels = labelsOf(chunks, { low: keys.low[me], high: keys.high[me], threshold: this.listed.threshold, alpha: this.alpha }, coins);
    const plain = new Uint8Array(isHub(me) ? (rank[me] + 7) >> 3 : 0);
    if (plain.length) {
      const above = new Set(known.map((other) => rank[other]));
      coins.toss(this.plain.chance, rank[me]).forEach((lie, at) => (plain[at >> 3] |= (above.has(at) !== lie) << (at & 7)));
    }
    const coded = labels.length ? write(labels, this.code.before) : [];
    return Uint8Array.from([...plain, ...coded]);
  }

  /** Calls `found(place)` for each person that is answered to know the one at a place of the order. */
  #answered(place, found) {
    const { rank, order, keys, labels, base, size, hubs } = this;
    const { threshold } = this.listed;
    const own = order[place];
    const tell = (other) => {
      if (place >= hubs || rank[other] >= hubs) found(rank[other]);
    };
    const reach = this.reach(own);
    const many = this.chunks(own);
    for (let chunk = 0; chunk < many; chunk++) {
      const first = Math.ceil((chunk * reach) / many);
      const last = Math.ceil(((chunk + 1) * reach) / many);
      for (let block = first >> 5; 32 * block < last; block++) {
        const bits = answers(block, chunk, labels[base[own] + chunk], keys.low[own], keys.high[own], threshold);
        for (let at = Math.max(first, 32 * block); at < Math.min(last, 32 * block + 32); at++) {
          if ((bits >>> (at & 31)) & 1) tell((own + 1 + at) % size);
        }
      }
    }
    for (let back = 1; 2 * back <= size; back++) {
      const owner = (own - back + size) % size;
      if (!this.chunks(owner) || !this.owns(owner, own)) continue;
      const chunk = this.chunkOf(owner, back - 1);
      if (answer(back - 1, chunk, labels[base[owner] + chunk], keys.low[owner], keys.high[owner], threshold)) tell(owner);
    }
    if (place < hubs) for (let other = 0; other < hubs; other++) if (this.#plainly(place, other)) found(other);
  }

  /** What was answered about two hubs. */
  #plainly(one, other) {
    const { data, begins } = this.between;
    const [high, low] = one > other ? [one, other] : [other, one];
    return high !== low && (data[begins[high] + (low >> 3)] >> (low & 7)) & 1;
  }

  /** The noisy number of triangles with two people who come before one in the order. */
  #count(me, known, coins) {
    const { rank, hubs, plain, listed } = this;
    const place = rank[me];
    const mine = known.map((other) => rank[other]).filter((each) => each < place).sort((a, b) => a - b);
    const [toHubs, toOthers] = [new Float64Array(place), new Float64Array(place)];
    for (const each of mine) {
      const into = each < hubs ? toHubs : toOthers;
      this.#answered(each, (other) => other < place && into[other]++);
    }
    const split = mine.filter((each) => each < hubs).length;
    const unbiased = (ones, all, { q }) => (ones - q * all) / (1 - 2 * q);
    const all = Float64Array.from(toHubs, (ones, at) =>
      at < hubs
        ? unbiased(ones, split, plain) + unbiased(toOthers[at], mine.length - split, listed)
        : unbiased(ones + toOthers[at], mine.length, listed),
    );
    for (const each of mine) all[each] -= unbiased(0, 1, each < hubs ? plain : listed);
    const count = mine.reduce((sum, each) => sum + all[each], 0) / 2;
    const local = mine.length ? all.reduce((most, each) => Math.max(most, Math.abs(each)), 0) : 0;
    const isHub = place < hubs;
    const { q } = isHub ? plain : listed;
    const noise = smoothed(this.tiers[isHub ? 0 : 1], local, (1 - q) / (1 - 2 * q), coins);
    return rint(((mine.length ? count : 0) + noise) * WHOLE) / WHOLE;
  }
}

/** Noise for a count with this local sensitivity, which one friendship changes by at most `step`. */
function smoothed({ counting, tail }, local, step, coins) {
  const beta = counting / tail;
  const best = Math.floor(Math.max(0, 1 / beta - local / step));
  const sensitivity = Math.max(local, ...[best, best + 1].map((t) => Math.exp(-beta * t) * (local + t * step)));
  const meet = (1 - 1 / tail) ** (tail - 1) * (1 + 1 / tail) ** (tail + 1);
  const masses = [(1 - (1 - 1 / tail) ** tail) / tail, (meet * (1 + 1 / tail) ** -tail) / tail];
  const whole = masses[0] + masses[1];
  const uniform = () => new Words(coins, 1).at(0);
  const [side, chance] = [uniform() - 0.5, uniform()];
  const isInside = chance * whole < masses[0];
  const core = 1 - (1 - tail * (isInside ? chance : 0) * whole) ** (1 / tail);
  const outer = ((tail * (1 - chance) * whole) / meet) ** (-1 / tail) - 1;
  return ((Math.sign(side) * (isInside ? core : outer)) / beta) * sensitivity;
}

// Bytes

/** Numbers one after the other, each with its bound, lowest bit first. */
function fields(...numbers) {
  let [all, at] = [0n, 0];
  for (const [number, below] of numbers) {
    all |= BigInt(number) << BigInt(at);
    at += bitLength(below - 1);
  }
  return Uint8Array.from({ length: Math.ceil(at / 8) }, (_, i) => Number((all >> BigInt(8 * i)) & 255n));
}

/** A report of variable length: how long it is, the member, the length of the string, and the string. */
function message(member, string) {
  const out = new Uint8Array(20 + string.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, 12 + string.length, true);
  view.setUint32(8, member, true);
  view.setUint32(16, string.length, true);
  out.set(string, 20);
  return out;
}
