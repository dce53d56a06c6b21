import type { Ledger } from "./index.js";

/**
 * The ledger in this file, for Node: it is made if there is none, and only its owner can read it. A report is on the disk before
 * `answer` returns it. Several programs may use one file; they take turns.
 */
export function openFileLedger(path: string, options?: { lifetime?: number }): Promise<Ledger>;
