// Bytes as text and back, joined, and their checksum.

import { listed } from "./lists.js";
import { sha256 } from "./sha256.js";

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const utf8 = (text) => new TextEncoder().encode(text);

export const joined = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
/** A whole number in so many bytes, the lowest first. */
export const little = (number, size) => listed(size, (place) => Number((BigInt(number) >> BigInt(8 * place)) & 255n));

/** 128 bits that name a text, in hexadecimal. */
export const fingerprint = (text) => hex(sha256(utf8(text))).slice(0, 32);

export function crc32(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let i = 0; i < 8; i++) sum = (sum >>> 1) ^ (sum & 1 && 0xedb88320);
  }
  return ~sum >>> 0;
}

/** The bytes with their checksum behind them. */
export const sealed = (bytes) => joined([bytes, little(crc32(bytes), 4)]);
