// What a device sends: the survey's fingerprint, an id that is counted once, and the reports on the questions.

import { crc32, hex, joined, sealed, unhex } from "./bytes.js";
import { InvalidReport, SurveyMismatch } from "./errors.js";

const MAGIC = [68, 78, 83, 86, 1, 0, 0, 0]; // DNSV, version 1
const HEADER = 56;

export function encode(fingerprint, id, part, period, payload) {
  const numbers = new DataView(new ArrayBuffer(16));
  numbers.setBigUint64(0, part, true);
  numbers.setUint32(8, period, true);
  numbers.setUint32(12, 1, true);
  return sealed(joined([MAGIC, unhex(fingerprint), id, new Uint8Array(numbers.buffer), payload]));
}

/** A message of one report; `size(part)` tells how long its payload is, and refuses a part that is not asked. */
export function decode(message, fingerprint, size) {
  if (!(message instanceof Uint8Array) || message.length < HEADER + 4) {
    throw new InvalidReport("This is too short to be a report, or it was cut off. Send it again.");
  }
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  if (MAGIC.some((byte, i) => message[i] !== byte)) {
    throw new InvalidReport("This is not a report in a format that this release reads.");
  }
  const madeFor = hex(message.subarray(8, 24));
  if (madeFor !== fingerprint) {
    throw new SurveyMismatch(
      `This report was made for survey ${madeFor.slice(0, 8)}, not for ${fingerprint.slice(0, 8)}. Fetch the survey again.`,
    );
  }
  const part = view.getBigUint64(40, true);
  if (view.getUint32(52, true) !== 1) throw new InvalidReport("A device sends messages of one report.");
  if (message.length !== HEADER + size(part) + 4) throw new InvalidReport("The message was cut off or is too long. Send it again.");
  if (view.getUint32(message.length - 4, true) !== crc32(message.subarray(0, -4))) {
    throw new InvalidReport("The message is damaged: its checksum is wrong. Send it again.");
  }
  return { id: hex(message.subarray(24, 40)), part, period: view.getUint32(48, true), payload: message.subarray(HEADER, -4) };
}
