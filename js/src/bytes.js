// Bytes as text and back, joined, and their checksum.

import { sha256 } from "./sha256.js";

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const utf8 = (text) => new TextEncoder().encode(text);

export function joined(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** 128 bits that name a text, in hexadecimal. */
export const fingerprint = (text) => hex(sha256(utf8(text))).slice(0, 32);

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  for (let i = 0; i < 8; i++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte >>> 0;
});

export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ TABLE[(sum ^ byte) & 255];
  return ~sum >>> 0;
}

/** The bytes with their checksum behind them. */
export function sealed(bytes) {
  const end = new Uint8Array(4);
  new DataView(end.buffer).setUint32(0, crc32(bytes), true);
  return joined([bytes, end]);
}
