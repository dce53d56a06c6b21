import type { Ledger, Survey } from "./index.js";

/** A token, and when the report may be sent, in milliseconds since 1970. */
export interface Right {
  readonly token: Uint8Array;
  readonly after: number;
}
/** Why there is none: status 0 if nobody answered, and then the same can be tried again. */
export interface NoRight {
  readonly status: number;
  readonly detail: string;
  readonly reason: string;
}

/** One person's invitation to one survey. What repeats the exchange is in the ledger before anything is sent. */
export class Invitation {
  constructor(survey: Survey, ledger: Ledger);
  state(): Promise<object | null>;
  /** The token, exchanged for the invitation with this code at the collector if that has not happened yet. */
  right(url: string, code?: string | null, options?: { fetch?: typeof globalThis.fetch }): Promise<Right | NoRight>;
}
/** The code of an invitation, given as such or as a link; null if there is none. */
export function codeOf(text: string): string | null;
/** A message with its token, as a survey for invited people takes it: `device.send(url, { seal })`. */
export function withToken(message: Uint8Array, token: Uint8Array): Uint8Array;

// RFC 9474, for those who test it
export interface PublicKey {
  readonly key: CryptoKey;
  readonly n: bigint;
  readonly size: number;
}
export function publicKey(der: Uint8Array): Promise<PublicKey>;
export function blind(
  key: { n: bigint; size: number },
  message: Uint8Array,
  options?: { salt?: Uint8Array; inv?: bigint },
): Promise<{ blinded: Uint8Array; inv: bigint }>;
export function finalize(key: PublicKey, message: Uint8Array, blindSignature: Uint8Array, inv: bigint): Promise<Uint8Array>;
