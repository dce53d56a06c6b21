import type { Mechanism, Report } from "./index.js";

/** Reports as one message with a header and a checksum, as files hold them; `madeBy` is the mechanism's fingerprint. */
export function packMessage(mechanism: Mechanism, madeBy: string, reports: readonly Report[]): Uint8Array;
/** The reports in such a message; throws `InvalidReport` or `SurveyMismatch`. */
export function unpackMessage(mechanism: Mechanism, madeBy: string, message: Uint8Array): Report[];
