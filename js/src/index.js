// In this order the bundle compresses best: first laws and their proofs.
export { mechanismFromSpec } from "./mechanism.js";
export { Program } from "./program.js";
export { Coins, SecureCoins } from "./coins.js";
export { addDomain } from "./domains.js";
export * from "./errors.js";
export { Survey } from "./survey.js";
export { openLedger } from "./ledger.js";
export { Device } from "./device.js";
