// Answers that nobody listed: strings, as cells of public hash tables over their prefixes. Loaded only where a survey asks for
// them. The same as in Python, bit for bit: normal forms, prefix codes and MurmurHash3.

import { addDomain, OutsideDomain } from "./index.js";

const LONGEST = 64; // bytes
const END = 256; // the symbol after the last byte
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/g;
const NORMAL = ["nfc", "case", "spaces"];

// Of each form the characters by the length of their codes; "\0" stands for the end, and all other bytes take the last length.
const FORMS = {
  text: [{ 4: "\0etaoinsr", 5: "hldcumpg", 6: "fwybvk ", 8: "jxqz-.0123456'&," }, 14],
  address: [{ 4: "\0eaoitnsr", 5: "cmld.uph/", 7: "gbfywvk-012", 9: "xjzq3456789_?=:&%+#~" }, 14],
  version: [{ 3: "\0.", 4: "0123456789", 9: "-abcdefghijklmnoprstuvwxyz+ " }, 14],
  bytes: [{}, 8],
};

const insist = (good) => {
  if (!good) throw new TypeError("another domain"); // which becomes an error of the survey
};

/** The bits of each symbol, as text. */
function codesOf(form) {
  const [groups, rest] = FORMS[form];
  const lengths = Object.entries(groups).flatMap(([size, group]) => [...group].map((each) => [Number(size), each === "\0" ? END : each.charCodeAt(0)]));
  const known = new Set(lengths.map(([, symbol]) => symbol));
  if (!known.has(END)) lengths.push([rest, END]);
  for (let byte = 1; byte < 256; byte++) if (!known.has(byte)) lengths.push([rest, byte]);
  const found = [];
  let [bits, before] = [0, lengths[0][0]];
  for (const [size, symbol] of lengths) {
    bits *= 2 ** (size - before);
    found[symbol] = bits.toString(2).padStart(size, "0");
    [bits, before] = [bits + 1, size];
  }
  return found;
}

const turn = (word, by) => (word << by) | (word >>> (32 - by));

/** MurmurHash3 of 32-bit words without their length, as one of so many cells. */
function hashed(words, seed, cells) {
  let state = seed;
  for (const word of words) {
    state = turn(state ^ Math.imul(turn(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593), 13);
    state = (Math.imul(state, 5) + 0xe6546b64) | 0;
  }
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  state ^= state >>> 16;
  return Number((BigInt(state >>> 0) * BigInt(cells)) >> 32n);
}

/** The words of bits, as text; what is missing is zero. */
const wordsOf = (bits, count) => Array.from({ length: count }, (_, i) => parseInt(bits.slice(32 * i, 32 * i + 32).padEnd(32, "0"), 2));

/** What the strings of a question have in common: how each is normalised, and the most that a person lists. */
function normalising({ length = LONGEST, normal = NORMAL, at_most: atMost = 1 }) {
  insist(length >= 1 && length <= LONGEST && normal.every((each) => NORMAL.includes(each)));
  const has = Object.fromEntries(NORMAL.map((each) => [each, normal.includes(each)]));
  const refuse = (what) => {
    throw new OutsideDomain(what);
  };
  const normalised = (given) => {
    if (typeof given !== "string") refuse("An answer is not a string. Write it as text.");
    const composed = (text) => (has.nfc ? text.normalize("NFC") : text);
    let text = composed(given);
    if (has.case) text = composed(text.toLowerCase());
    if (has.spaces) text = text.replace(SPACES, " ").replace(/^ | $/g, "");
    if (/[\ud800-\udfff]/u.test(text)) refuse("An answer is not valid Unicode text.");
    const bytes = new TextEncoder().encode(text);
    if (!bytes.length || bytes.length > length || bytes.includes(0)) refuse(`An answer has no characters, or more than ${length} bytes. Shorten it.`);
    return { text, bytes };
  };
  const listed = (value) => {
    const all = Array.isArray(value) ? value : [value];
    if (!all.length || all.length > atMost) refuse(`An answer lists from one to ${atMost} strings.`);
    return all.map(normalised);
  };
  return { length, normal, atMost, normalised, listed, protects: "any two strings" };
}

/** Strings as cells; the prefixes of those that are `known` share one more cell, which comes after all others. */
function strings(spec, known) {
  const { form, prefixes, cells } = spec;
  insist(Object.hasOwn(FORMS, form) && Array.isArray(prefixes) && prefixes.every((bits) => bits >= 1 && bits <= 512) && cells >= 2 && cells <= 2 ** 20);
  const made = normalising(spec);
  const codes = codesOf(form);
  const levels = prefixes.length + 1;
  const apart = new Set(known);
  const cellsOf = ({ text, bytes }) => {
    const bits = [...bytes, END].map((symbol) => codes[symbol]).join("");
    const all = wordsOf([...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join(""), LONGEST / 4);
    const found = prefixes.map((size, level) => (apart.has(text) ? cells : hashed(wordsOf(bits.slice(0, size), Math.ceil(size / 32)), level, cells)));
    return [...found, hashed(all, levels - 1, cells)];
  };
  const coded = (value) => {
    const all = made.listed(value).map(cellsOf);
    // Whatever the law gives: if some draws led nowhere, silence would depend on how many strings there are.
    return { cells: made.atMost > 1 ? (draw) => all[Math.abs(Number(draw ?? 0)) % all.length] : all[0] };
  };
  return [{ ...made, form, prefixes, cells, size: 0 }, { cells: [known ? cells : cells - 1, levels] }, coded];
}

addDomain("strings", (spec) => strings(spec));

addDomain("sifted-strings", (spec) => {
  insist(Array.isArray(spec.known) && spec.known.length >= 1 && new Set(spec.known).size === spec.known.length);
  return strings(spec, spec.known);
});

addDomain("listed-strings", (spec) => {
  const { names } = spec;
  insist(Array.isArray(names) && names.length >= 1 && new Set(names).size === names.length);
  const { atMost, ...made } = normalising(spec); // an answer is one string, and no list of items
  const labels = [...names, "(another)"];
  const places = new Map(names.map((name, place) => [name, place]));
  const place = (value) => places.get(made.listed(value)[0].text) ?? names.length;
  return [{ ...made, names, labels, size: labels.length }, { answer: [names.length] }, (value) => ({ answer: place(value) })];
});
