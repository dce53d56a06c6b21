import { Coins } from "./index.js";

/** The same stream every time, from a seed, as Python's: for tests and experiments, never for people's answers. */
export class SeededCoins extends Coins {
  constructor(seed: string | number | bigint | Uint8Array);
  /** Bytes drawn so far. */
  drawn: number;
  draw(size: number): Uint8Array;
}
