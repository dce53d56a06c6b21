// Draws have exactly the probabilities asked for: all short streams are followed, and the edges of long ones.

import assert from "node:assert/strict";
import { createCipheriv, createHash } from "node:crypto";
import { test } from "node:test";
import { crc32, hex } from "../src/bytes.js";
import { SecureCoins, WHOLE } from "../src/coins.js";
import { NoRandomness } from "../src/errors.js";
import { float, logUp, oddsBelow, ratio, written, within } from "../src/fraction.js";
import { SeededCoins } from "../src/seeded.js";
import { sha256 } from "../src/sha256.js";
import { GivenCoins, planes, word32, word64 } from "./shared.mjs";

test("a toss compares a number of as many digits as needed with the probability", () => {
  for (const heads of [ratio(1, 3), ratio(1, 2), ratio(200, 256), ratio(999, 1000), ratio(1, 65536)]) {
    const digits = (heads.n << 16n) / heads.d;
    const exact = (heads.n << 16n) % heads.d === 0n;
    for (let first = 0; first < 256; first++) {
      for (const second of first === Number(digits >> 8n) ? Array.from({ length: 256 }, (_, i) => i) : [0]) {
        const coins = new GivenCoins(planes(first), [second, 0]);
        const drawn = BigInt(first * 256 + second);
        if (drawn !== digits) assert.equal(coins.flip(heads), drawn < digits, `${written(heads)} ${drawn}`);
        else if (exact) assert.equal(coins.flip(heads), false);
      }
    }
  }
});

test("lanes are tossed on their own, and tied ones take further bytes in order", () => {
  const third = ratio(1, 3);
  const coins = new GivenCoins(planes(85, 84, 85, 86), [84, 86]);
  assert.deepEqual(coins.toss(third, 4), [true, true, false, false]);
  assert.equal(coins.left.length, 0);
});

test("certain tosses draw nothing, impossible probabilities are refused", () => {
  const coins = new GivenCoins();
  assert.deepEqual(
    [coins.toss(ratio(0), 2), coins.toss(ratio(1), 2)],
    [
      [false, false],
      [true, true],
    ],
  );
  assert.throws(() => coins.toss(ratio(3, 2)), { name: "InvalidParameter" });
  assert.throws(() => coins.tossAll([5], 4), { name: "InvalidParameter" });
});

test("every value below n has equally many words", () => {
  for (const n of [2, 3, 5, 7, 1000, 2 ** 24 - 3, 2 ** 24]) {
    const all = 2n ** 32n;
    const refused = all % BigInt(n);
    for (const value of new Set([0, 1, n >> 1, n - 1])) {
      // Words of this value are those from v 2^32 / n on, and the first are refused: as many as remain over.
      const start = (BigInt(value) * all + BigInt(n) - 1n) / BigInt(n);
      const end = (BigInt(value + 1) * all - 1n) / BigInt(n);
      const good = (word) => (word * BigInt(n)) % all >= refused;
      const words = [start, start + 1n, end - 1n, end].filter((word) => word >= start && word <= end);
      for (const word of words) assert.deepEqual(new GivenCoins(word32(Number(word))).scaled(n, n), [value, good(word)]);
      const first = good(start) ? start : start + 1n;
      assert.ok(good(first) && end - first + 1n === all / BigInt(n), `${n} ${value}`);
    }
  }
});

test("large bounds take words of 64 bits, and refused words are drawn again", () => {
  const n = 2 ** 24 + 1;
  const start = ((1n << 64n) * 5n + BigInt(n) - 1n) / BigInt(n);
  assert.equal(new GivenCoins(word64(start + 1n)).below(n), 5);
  assert.equal(new GivenCoins(word32(0), word32(2 ** 32 - 1)).below(3), 2); // the word 0 is the one too many
});

test("a share of 2^53 is compared with the upper 53 bits", () => {
  const heads = 12345678901;
  const word = BigInt(heads) << 11n;
  assert.deepEqual(
    [word - 1n, word].map((each) => new GivenCoins(word64(each)).tossAll([heads], WHOLE)[0]),
    [true, false],
  );
  assert.equal(new GivenCoins(word64(2n ** 64n - 1n)).tossAll([WHOLE], WHOLE)[0], true);
  assert.equal(new GivenCoins(word64(0n)).tossAll([0], WHOLE)[0], false);
});

const wordFor = (value, n) => word32(Math.ceil((value * 2 ** 32) / n) + 1);

test("all subsets are equally likely", () => {
  const [n, k] = [5, 2];
  const found = {};
  for (let a = 0; a < 4; a++)
    for (let b = 0; b < 5; b++) {
      const key = new GivenCoins(wordFor(a, 4), wordFor(b, 5)).subset(n, k).map(Number).join("");
      found[key] = (found[key] ?? 0) + 1;
    }
  assert.equal(Object.keys(found).length, 10);
  assert.deepEqual(new Set(Object.values(found)), new Set([2]));
  const fewer = new GivenCoins(wordFor(1, 4), wordFor(3, 5)).subset(n, k, true);
  assert.deepEqual(fewer, [false, false, false, true, false]);
});

test("a split draws both sides, whatever comes up", () => {
  for (const [digit, wanted] of [
    [0, 1],
    [255, 3 + 4],
  ]) {
    const coins = new GivenCoins(planes(digit), wordFor(4, 7), wordFor(1, 3));
    assert.equal(coins.split(ratio(1, 2), 3, 7), wanted);
    assert.equal(coins.left.length, 0);
  }
});

test("all majorities are equally likely", () => {
  const found = {};
  for (let bits = 0; bits < 8; bits++) {
    const lanes = [0, 1, 2].map((lane) => ((bits >> lane) & 1 ? 0 : 255));
    const key = new GivenCoins(planes(...lanes)).majority(3).map(Number).join("");
    found[key] = (found[key] ?? 0) + 1;
  }
  assert.deepEqual(found, { 111: 2, "011": 2, 101: 2, 110: 2 });
});

test("secure coins ask for no more than WebCrypto gives at once, and give every byte out once", () => {
  const asked = [];
  let next = 0;
  const crypto = {
    getRandomValues: (array) => (asked.push(array.length), array.forEach((_, i) => (array[i] = next++ % 251))),
  };
  const coins = new SecureCoins(crypto);
  const drawn = [coins.draw(1000), coins.draw(3000), coins.draw(97), coins.draw(200_000)];
  assert.ok(asked.every((size) => size <= 65536));
  assert.deepEqual(
    drawn.map((part) => part.length),
    [1000, 3000, 97, 200_000],
  );
  assert.deepEqual([...drawn[0].slice(0, 3), drawn[1][0], drawn[2][0]], [0, 1, 2, 1000 % 251, 4096 % 251]);
  assert.notDeepEqual(new SecureCoins().draw(32), new SecureCoins().draw(32));
});

test("without WebCrypto nothing is randomized", () => {
  for (const crypto of [null, {}]) assert.throws(() => new SecureCoins(crypto), NoRandomness);
});

test("seeded coins are the keystream of AES-256 in counter mode", () => {
  for (const seed of ["7", "pckv"]) {
    const key = createHash("sha256").update(`deniable seed\0${seed}`).digest();
    const stream = createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(5000));
    const coins = new SeededCoins(seed);
    const drawn = [1, 15, 16, 17, 951, 4000].map((size) => coins.draw(size));
    assert.equal(drawn.map(hex).join(""), stream.toString("hex"));
  }
  assert.equal(hex(new SeededCoins(7).draw(8)), "87fc0e99e14c7893");
});

test("hashes and checksums are the usual ones", () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const data = Uint8Array.from({ length: size }, (_, i) => i * 7);
    assert.equal(hex(sha256(data)), createHash("sha256").update(data).digest("hex"));
  }
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
});

test("odds are the simplest fraction that the budget allows", () => {
  assert.equal(written(oddsBelow(1)), "99402293/36568060");
  assert.equal(written(oddsBelow(1.0986122886681098)), "3");
  for (const epsilon of [1e-6, 0.3, 1, 7.7, 100]) {
    const odds = oddsBelow(epsilon);
    assert.ok(within(odds, epsilon) && !within(odds, epsilon * (1 - 3e-15)));
    const found = logUp(odds);
    assert.ok(within(odds, found) && found <= epsilon * (1 + 1e-15) && Math.abs(Math.exp(found) / float(odds) - 1) < 1e-12);
  }
  for (const epsilon of [0, -1, 101, NaN, "1"]) assert.throws(() => oddsBelow(epsilon), { name: "InvalidParameter" });
});
