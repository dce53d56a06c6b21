// What a device sends: the survey's fingerprint, an id that is counted once, and the reports on the questions.

import { crc32, hex, joined, little, sealed, unhex } from "./bytes.js";
import { InvalidReport, SurveyMismatch } from "./errors.js";

const MAGIC = [68, 78, 83, 86, 1, 0, 0, 0]; // DNSV, version 1
const DAMAGED = "The message is damaged, or has another format.";
const HEADER = 56;

export const encode = (fingerprint, id, part, period, payload) =>
  sealed(joined([MAGIC, unhex(fingerprint), id, little(part, 8), little(period, 4), little(1, 4), payload]));

/** A message of one report; `size(part)` is the length of its payload, and refuses a part that is not asked. */
export function decode(message, fingerprint, size) {
  if (message.length < HEADER + 4 || MAGIC.some((byte, i) => message[i] !== byte)) {
    throw new InvalidReport(DAMAGED);
  }
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  if (hex(message.subarray(8, 24)) !== fingerprint) {
    throw new SurveyMismatch("This report was made for another survey.");
  }
  const part = view.getBigUint64(40, true);
  const whole = view.getUint32(52, true) === 1 && message.length === HEADER + size(part) + 4;
  if (!whole || view.getUint32(message.length - 4, true) !== crc32(message.subarray(0, -4))) {
    throw new InvalidReport(DAMAGED);
  }
  return {
    id: hex(message.subarray(24, 40)),
    part,
    period: view.getUint32(48, true),
    payload: message.subarray(HEADER, -4),
  };
}
