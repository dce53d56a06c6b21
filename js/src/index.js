export { Coins, SecureCoins } from "./coins.js";
export { Device } from "./device.js";
export * from "./errors.js";
export { mechanismFromSpec } from "./mechanism.js";
export { openLedger } from "./ledger.js";
export { Survey } from "./survey.js";
