// Labels as bits and back: the arithmetic coder of 32 bits that Python has, with weights out of 2^16.

const [HALF, QUARTER, WHOLE] = [2 ** 31, 2 ** 30, 2 ** 32];
const [SINGLE, LARGEST, TOTAL] = [16, 42, 16]; // labels below SINGLE are symbols; ranks have fewer bits than LARGEST
const ESCAPE = SINGLE - 1 + LARGEST - 4; // the last symbol: a label that is no rank
const FIRST = 1063 * WHOLE; // the first such label
export const SYMBOLS = ESCAPE + 1;

/** The sum of the weights before each symbol, and of all. */
export const sums = (weights) => weights.reduce((all, weight) => [...all, all.at(-1) + weight], [0]);

/** The part of an interval that belongs to a symbol. */
const narrowed = (low, high, below, width, total) => {
  const [span, scale] = [high - low + 1, 2 ** total];
  return [low + Math.floor((span * below) / scale), low + Math.floor((span * (below + width)) / scale) - 1];
};

/** The symbols of a label: each as [below, width, total]. */
function parts(label, before) {
  const symbol = (at) => [before[at], before[at + 1] - before[at], TOTAL];
  const raw = (number, bits) => {
    const all = [];
    while (bits > 0) {
      const part = Math.min(bits, 16);
      bits -= part;
      all.push([Math.floor(number / 2 ** bits) % 2 ** part, 1, part]);
    }
    return all;
  };
  if (label < SINGLE) return [symbol(label - 1)];
  if (label >= FIRST) return [symbol(ESCAPE), ...raw(Math.floor(label / WHOLE) - FIRST / WHOLE, 10), ...raw(label % WHOLE, 32)];
  let size = 4;
  while (label >= 2 ** (size + 1)) size++;
  return [symbol(SINGLE - 5 + size), ...raw(label - 2 ** size, size)];
}

/** The bytes of labels, without zeros at their end. */
export function write(labels, before) {
  const bits = [];
  let [low, high, pending] = [0, WHOLE - 1, 0];
  const put = (bit) => {
    bits.push(bit);
    for (; pending; pending--) bits.push(1 - bit);
  };
  for (const label of labels) {
    for (const [below, width, total] of parts(label, before)) {
      [low, high] = narrowed(low, high, below, width, total);
      for (;;) {
        let off = 0;
        if (high < HALF) put(0);
        else if (low >= HALF) put(1), (off = HALF);
        else if (low >= QUARTER && high < HALF + QUARTER) pending++, (off = QUARTER);
        else break;
        [low, high] = [2 * (low - off), 2 * (high - off) + 1];
      }
    }
  }
  if (low > 0 || pending) bits.push(1);
  const out = new Uint8Array((bits.length + 7) >> 3);
  bits.forEach((bit, place) => (out[place >> 3] |= bit << (place & 7)));
  return out.subarray(0, out.findLastIndex((byte) => byte) + 1);
}

/** So many labels out of bytes; zeros follow their end. */
export function read(bytes, count, before) {
  const labels = new Float64Array(count);
  let [low, high, code, at] = [0, WHOLE - 1, 0, 0];
  const bit = () => {
    const found = at >> 3 < bytes.length ? (bytes[at >> 3] >> (at & 7)) & 1 : 0;
    at++;
    return found;
  };
  while (at < 32) code = 2 * code + bit();
  const position = (total) => Math.floor(((code - low + 1) * 2 ** total - 1) / (high - low + 1));
  const drop = (below, width, total) => {
    [low, high] = narrowed(low, high, below, width, total);
    for (;;) {
      let off = 0;
      if (low >= HALF) off = HALF;
      else if (high >= HALF && low >= QUARTER && high < HALF + QUARTER) off = QUARTER;
      else if (high >= HALF) return;
      [low, high, code] = [2 * (low - off), 2 * (high - off) + 1, 2 * (code - off) + bit()];
    }
  };
  const raw = (bits) => {
    let number = 0;
    while (bits > 0) {
      const part = Math.min(bits, 16);
      bits -= part;
      const found = position(part);
      drop(found, 1, part);
      number = number * 2 ** part + found;
    }
    return number;
  };
  for (let place = 0; place < count; place++) {
    const where = position(TOTAL);
    let [symbol, end] = [0, before.length - 1];
    while (end - symbol > 1) {
      const middle = (symbol + end) >> 1;
      if (before[middle] <= where) symbol = middle;
      else end = middle;
    }
    drop(before[symbol], before[symbol + 1] - before[symbol], TOTAL);
    const size = symbol - (SINGLE - 5);
    if (symbol < SINGLE - 1) labels[place] = symbol + 1;
    else if (symbol === ESCAPE) labels[place] = FIRST + raw(10) * WHOLE + raw(32);
    else labels[place] = 2 ** size + raw(size);
  }
  return labels;
}
