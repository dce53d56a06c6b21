// The same stream every time, from a seed: for tests and experiments that can be repeated, never for people's answers.

import { Coins } from "./coins.js";
import { utf8 } from "./bytes.js";
import { sha256 } from "./sha256.js";

/** The keystream of AES-256 in counter mode, as Python's SeededCoins makes it. */
export class SeededCoins extends Coins {
  drawn = 0; // bytes so far

  constructor(seed) {
    super();
    const name =
      typeof seed === "string" || typeof seed === "number" || typeof seed === "bigint" ? utf8(String(seed)) : seed;
    this.keys = expanded(sha256(Uint8Array.from([...utf8("deniable seed\0"), ...name])));
    this.counter = 0;
    this.left = new Uint8Array(0);
  }

  draw(size) {
    this.drawn += size;
    const out = new Uint8Array(size);
    for (let at = 0; at < size;) {
      if (!this.left.length) {
        const block = new Uint8Array(16);
        new DataView(block.buffer).setUint32(12, this.counter++);
        this.left = encrypted(block, this.keys);
      }
      const taken = this.left.subarray(0, size - at);
      out.set(taken, at);
      at += taken.length;
      this.left = this.left.subarray(taken.length);
    }
    return out;
  }
}

const double = (x) => ((x << 1) ^ (x & 128 ? 0x11b : 0)) & 255;

// Powers of 3 run through all of GF(256) but zero, so the inverse of the i-th is the (255 - i)-th.
const SBOX = new Uint8Array(256);
const power = [1];
while (power.length < 255) power.push(power.at(-1) ^ double(power.at(-1)));
power.forEach((x, i) => {
  const inverse = power[(255 - i) % 255];
  let sum = 0x63;
  for (let turn = 0; turn < 5; turn++) sum ^= ((inverse << turn) | (inverse >> (8 - turn))) & 255;
  SBOX[x] = sum;
});
SBOX[0] = 0x63;

function expanded(key) {
  const words = Array.from({ length: 8 }, (_, i) => [...key.subarray(4 * i, 4 * i + 4)]);
  for (let i = 8, round = 1; i < 60; i++) {
    let word = words[i - 1];
    if (i % 4 === 0) word = word.map((byte) => SBOX[byte]);
    if (i % 8 === 0) {
      word = [...word.slice(1), word[0]];
      word[0] ^= round;
      round = double(round);
    }
    words.push(word.map((byte, j) => byte ^ words[i - 8][j]));
  }
  return Uint8Array.from(words.flat());
}

function encrypted(state, keys) {
  state = state.map((byte, i) => byte ^ keys[i]);
  for (let round = 1; round <= 14; round++) {
    const moved = state.map((_, i) => SBOX[state[(i + 4 * (i % 4)) % 16]]);
    state = moved.map((byte, i) => {
      const column = moved.subarray(i & 12, (i & 12) + 4);
      const next = column[(i + 1) % 4];
      const others = column[(i + 2) % 4] ^ column[(i + 3) % 4] ^ next;
      return (round < 14 ? double(byte) ^ double(next) ^ others : byte) ^ keys[16 * round + i];
    });
  }
  return state;
}
