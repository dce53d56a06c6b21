// SHA-256 without waiting, and on pages without a secure context too, where the browser's own is missing.

const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
// The first 32 bits of the fractions of roots; a float has more than enough digits for that.
const fraction = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
const K = primes.map((p) => fraction(Math.cbrt(p)));
const START = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));

/** The digest of bytes, as bytes. */
export function sha256(data) {
  const padded = new Uint8Array(((data.length + 72) >> 6) << 6);
  padded.set(data);
  padded[data.length] = 128;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(data.length) * 8n);
  let state = START;
  const w = new Int32Array(64);
  for (let start = 0; start < padded.length; start += 64) {
    for (let i = 0; i < 64; i++) {
      const [a, b] = [w[i - 15], w[i - 2]];
      w[i] =
        i < 16
          ? view.getInt32(start + 4 * i)
          : w[i - 16] + (turned(a, 7, 18) ^ (a >>> 3)) + w[i - 7] + (turned(b, 17, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = h + turned(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + K[i] + w[i];
      const two = turned(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    state = [a, b, c, d, e, f, g, h].map((value, i) => (state[i] + value) | 0);
  }
  state.forEach((value, i) => view.setInt32(4 * i, value));
  return padded.slice(0, 32);
}

/** A number turned by so many bits, each time another, and all of these added without carrying. */
const turned = (x, ...all) => all.reduce((sum, by) => sum ^ ((x >>> by) | (x << (32 - by))), 0);
