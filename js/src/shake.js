// SHAKE-256 (FIPS 202), from which public orders and keys follow, the same as in Python.

const RATE = 136; // bytes
const TURNS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
const LANES = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];

/** What is added in each round, as halves: bits 2^j - 1 from a shift register. */
const ADDED = (() => {
  const halves = new Int32Array(48);
  let register = 1;
  for (let at = 0; at < 24 * 7; at++) {
    register = ((register << 1) ^ ((register >> 7) * 0x71)) & 255;
    const j = at % 7;
    if (register & 2) halves[2 * Math.floor(at / 7) + (j === 6 ? 1 : 0)] |= 1 << ((2 ** j - 1) % 32);
  }
  return halves;
})();

/** One permutation of 25 lanes of 64 bits: `low` and `high` are their halves. */
function permute(low, high, c, d) {
  for (let round = 0; round < 24; round++) {
    for (let x = 0; x < 5; x++) {
      c[x] = low[x] ^ low[x + 5] ^ low[x + 10] ^ low[x + 15] ^ low[x + 20];
      d[x] = high[x] ^ high[x + 5] ^ high[x + 10] ^ high[x + 15] ^ high[x + 20];
    }
    for (let x = 0; x < 5; x++) {
      const after = (x + 1) % 5;
      const before = (x + 4) % 5;
      const byLow = c[before] ^ ((c[after] << 1) | (d[after] >>> 31));
      const byHigh = d[before] ^ ((d[after] << 1) | (c[after] >>> 31));
      for (let y = x; y < 25; y += 5) {
        low[y] ^= byLow;
        high[y] ^= byHigh;
      }
    }
    let movedLow = low[1];
    let movedHigh = high[1];
    for (let i = 0; i < 24; i++) {
      const lane = LANES[i];
      const turn = TURNS[i];
      const by = turn % 32;
      const a = (movedLow << by) | (movedHigh >>> (32 - by)); // never by 0 or 32
      const b = (movedHigh << by) | (movedLow >>> (32 - by));
      movedLow = low[lane];
      movedHigh = high[lane];
      low[lane] = turn < 32 ? a : b;
      high[lane] = turn < 32 ? b : a;
    }
    for (let y = 0; y < 25; y += 5) {
      for (let x = 0; x < 5; x++) {
        c[x] = low[y + x];
        d[x] = high[y + x];
      }
      for (let x = 0; x < 5; x++) {
        low[y + x] ^= ~c[(x + 1) % 5] & c[(x + 2) % 5];
        high[y + x] ^= ~d[(x + 1) % 5] & d[(x + 2) % 5];
      }
    }
    low[0] ^= ADDED[2 * round];
    high[0] ^= ADDED[2 * round + 1];
  }
}

/** So many 32-bit words of SHAKE-256 of some bytes. */
export function shake(bytes, words) {
  const [low, high, c, d] = [25, 25, 5, 5].map((size) => new Int32Array(size));
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / RATE) * RATE);
  padded.set(bytes);
  padded[bytes.length] ^= 0x1f;
  padded[padded.length - 1] ^= 0x80;
  const view = new DataView(padded.buffer);
  for (let start = 0; start < padded.length; start += RATE) {
    for (let lane = 0; lane < RATE / 8; lane++) {
      low[lane] ^= view.getInt32(start + 8 * lane, true);
      high[lane] ^= view.getInt32(start + 8 * lane + 4, true);
    }
    permute(low, high, c, d);
  }
  const out = new Uint32Array(words);
  for (let at = 0; at < words; at++) {
    const place = at % (RATE / 4);
    if (at && !place) permute(low, high, c, d);
    out[at] = (place % 2 ? high : low)[place >> 1];
  }
  return out;
}
