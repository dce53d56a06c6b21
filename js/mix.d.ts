import type { Coins, Ledger, Receipt, SendOptions, Survey } from "./index.js";
import { Device } from "./index.js";

/** What `deniable mix keys` writes to a file that ends in .mix, and a collector serves at /v1/mix. */
export interface Terms {
  readonly format: "deniable-mix-1";
  readonly survey: string;
  readonly relay: string;
  readonly key: string;
  readonly people: number;
  readonly size: number;
  readonly delta?: number;
}

/** Options for sending through a relay, which takes no tokens. */
export type MixOptions = Omit<SendOptions, "token" | "seal">;

/** Whether this device has X25519. Where it has not, a `MixedDevice` neither answers nor sends. */
export function canSeal(): Promise<boolean>;
/** 128 bits that name the terms, in hexadecimal, for people to compare. */
export function termsFingerprint(terms: Terms): string;

/**
 * A device whose reports go through the relay of these terms, and nowhere else. A receipt with the state `sent` says that the
 * relay has stored the report; it passes it on when enough are there.
 */
export class MixedDevice extends Device {
  /** Throws `InvalidParameter` if the terms are damaged or for another survey, or if it cannot be mixed. */
  constructor(survey: Survey, terms: Terms, options?: { ledger?: Ledger; coins?: Coins; now?: () => number });
  readonly terms: Terms;
  /** The address is that of the terms and need not be given; another one is refused. Throws `NoRandomness` without X25519. */
  send(url?: string, options?: MixOptions): Promise<Receipt>;
  keepSending(
    url?: string,
    options?: MixOptions & { changed?: (receipt: Receipt) => void; signal?: AbortSignal },
  ): Promise<Receipt>;
}

/** What the relay gets: the ticket, and the message that only the collector can read. */
export function seal(terms: Terms, message: Uint8Array): Promise<Uint8Array>;
/** HPKE in base mode (RFC 9180), for those who test it: the encapsulated key and the ciphertext. */
export function sealBase(
  key: Uint8Array,
  info: Uint8Array,
  plain: Uint8Array,
  options?: { ephemeral?: CryptoKeyPair; associated?: Uint8Array },
): Promise<Uint8Array>;
