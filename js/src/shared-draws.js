// Shared draws, which everybody can work out: Philox4x32-10, and answers of two values made of its words, as in Python.

/** The upper half of a product of 32-bit numbers. */
function upper(a, b) {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16); // below 2^32
  const first = middle >>> 0;
  const second = (first & 0xffff) + (Math.imul(aLow, bHigh) >>> 0);
  return (Math.imul(aHigh, bHigh) + (first >>> 16) + ((second / 65536) | 0)) | 0;
}

const out = new Int32Array(4);

/** Four random words for a counter of four words and a key of two (Salmon, Moraes, Dror, Shaw 2011). */
export function philox(c0, c1, c2, c3, k0, k1) {
  for (let round = 0; round < 10; round++) {
    const low = Math.imul(0xd2511f53, c0);
    const high = upper(0xd2511f53, c0);
    const other = Math.imul(0xcd9e8d57, c2);
    c0 = upper(0xcd9e8d57, c2) ^ c1 ^ k0;
    c2 = high ^ c3 ^ k1;
    c1 = other;
    c3 = low;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
  return out;
}

const WORD = 2 ** 32;

/** Of 32 answers of draw `label` of a chunk those whose number is below the threshold; only the `wanted` ones are sure. */
export function answers(block, chunk, label, low, high, threshold, wanted = -1) {
  let less = 0;
  let equal = wanted;
  const far = Math.floor(label / WORD);
  for (let group = 0; group < 8 && equal; group++) {
    const words = philox((8 * block + group) | 0, chunk, label | 0, far, low, high);
    for (let digit = 0; digit < 4; digit++) {
      if ((threshold >>> (31 - 4 * group - digit)) & 1) {
        less |= equal & ~words[digit];
        equal &= words[digit];
      } else equal &= ~words[digit];
    }
  }
  return less;
}

/** One answer of a draw, 0 or 1. */
export function answer(place, chunk, label, low, high, threshold) {
  const bit = 1 << (place & 31);
  return answers(place >> 5, chunk, label, low, high, threshold, bit) & bit ? 1 : 0;
}
