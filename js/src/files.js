// Batches of reports as files hold them, with the fingerprint of their mechanism. Devices send messages of surveys instead.

import { crc32, hex, joined, sealed, unhex } from "./bytes.js";
import { InvalidReport, SurveyMismatch } from "./errors.js";
import { unpack } from "./reports.js";

const MAGIC = [68, 78, 66, 76, 1, 0, 0, 0]; // DNBL, version 1

export function packMessage(mechanism, madeBy, reports) {
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(reports.length), true);
  return sealed(joined([MAGIC, unhex(madeBy), size, mechanism.pack(reports)]));
}

export function unpackMessage(mechanism, madeBy, message) {
  if (message.length < 36) {
    throw new InvalidReport("The message is too short: it was cut off. Copy or send it again.");
  }
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  if (MAGIC.some((byte, i) => message[i] !== byte)) {
    throw new InvalidReport("This is not a message of reports in a format that this client reads.");
  }
  if (view.getUint32(message.length - 4, true) !== crc32(message.subarray(0, -4))) {
    throw new InvalidReport("The message is damaged, cut off or too long: its checksum is wrong. Copy or send it again.");
  }
  if (hex(message.subarray(8, 24)) !== madeBy) {
    throw new SurveyMismatch("These reports were made by another mechanism. Read them with the one that made them.");
  }
  return unpack(mechanism, message.subarray(32, -4), Number(view.getBigUint64(24, true)));
}
