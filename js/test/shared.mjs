// What several tests use: the vectors, and coins from given bytes.

import { readFileSync } from "node:fs";
import { fingerprint } from "../src/bytes.js";
import { Coins } from "../src/coins.js";
import { Survey } from "../src/survey.js";

export const file = (name) => JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));
export const [GOOD, BAD, SURVEYS, BAD_SURVEYS] = ["good", "bad", "surveys", "bad_surveys"].map(file);

/** A file with numbers that a float would round: those are read as BigInts. */
export function exactFile(name) {
  const text = readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8");
  const marked = text.replace(/(?<=[[,:])-?\d{16,}(?=[\],}])/g, '"#$&"');
  const exact = (digits) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits));
  return JSON.parse(marked, (_, value) => (typeof value === "string" && value[0] === "#" ? exact(value.slice(1)) : value));
}

export const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
export const surveyText = (name) => SURVEYS.find((each) => each.name === name).survey;
export const answersTo = (name) => SURVEYS.find((each) => each.name === name).answers;

/** Draws exactly these bytes, in order; fails if they run out. */
export class GivenCoins extends Coins {
  constructor(...parts) {
    super();
    this.left = Uint8Array.from(parts.flatMap((part) => [...part]));
  }

  draw(size) {
    if (size > this.left.length) throw new Error("the stream ran out");
    const taken = this.left.slice(0, size);
    this.left = this.left.slice(size);
    return taken;
  }
}

export const word32 = (number) => new Uint8Array(new Uint32Array([number]).buffer);
export const word64 = (number) => new Uint8Array(new BigUint64Array([number]).buffer);
/** The 64 bytes whose lanes have these first eight binary digits. */
export const planes = (...digits) =>
  Uint8Array.from({ length: 64 }, (_, i) =>
    digits.reduce(
      (byte, digit, lane) => byte | ((lane >> 3 === i % 8 ? (digit >> (7 - (i >> 3))) & 1 : 0) << (lane & 7)),
      0,
    ),
  );

const LAWS = file("question_laws");

/** The law of a mechanism in good.json, as a collector serves it. */
export const lawOf = (vector) => LAWS.find(({ name }) => name === vector.name);

/** The document with the laws of a survey, which `change` may alter; for a text that was changed, made to fit it. */
export function lawText(name, text = surveyText(name), change = (law) => law) {
  const own = LAWS.filter(({ survey }) => survey === name);
  const questions = Object.fromEntries(own.map(({ question, ...law }) => [question, change(structuredClone(law), question)]));
  return JSON.stringify({ format: "deniable law 1", survey: fingerprint(text), questions });
}

/** A survey of the vectors with its laws, as a device has it. */
export const surveyOf = (name, text = surveyText(name)) => Survey.parse(text, { law: lawText(name, text) });
