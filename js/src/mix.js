// Reports through a relay that mixes them. Loaded only where a survey is mixed. A report is sealed for the collector by HPKE
// (RFC 9180, base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM) with the browser's own cryptography, and there is
// no way here to send one that is not sealed.

import { fingerprint, hex, joined, little, unhex, utf8 } from "./bytes.js";
import { Device, InvalidParameter, InvalidReport, NoRandomness } from "./index.js";

const FORMAT = "deniable-mix-1";
const MEDIA_TYPE = "application/vnd.deniable.sealed";
const X25519 = { name: "X25519" };
const HMAC = { name: "HMAC", hash: "SHA-256" };
const [VERSION, KEM, SUITE] = [utf8("HPKE-v1"), [...utf8("KEM"), 0, 32], [...utf8("HPKE"), 0, 32, 0, 1, 0, 1]];
const [LENGTH, HEADER, MOST_SIZE, MOST_PEOPLE, TICKET] = [4, 56, 1 << 16, 10_000, 16]; // bytes, but for the people
const ID = [24, 40]; // where a message has its id
const NO_SEALING =
  "This device cannot encrypt reports for the collector: it lacks X25519, or the page was not loaded over HTTPS. Nothing was sent. Use a current browser.";
const NO_TERMS = "These are not mixing terms, or they are damaged.";
const OTHER = "These terms of mixing are for another survey, or for an earlier state of this one.";
const NOT_MIXED = "The messages of this survey show when or by whom they were made, so they cannot be mixed.";

const insist = (good, what, kind = InvalidParameter) => {
  if (!good) throw new kind(what);
};
const subtle = () => globalThis.crypto?.subtle;
const bytes = async (made) => new Uint8Array(await made);
const freshKeys = () => subtle().generateKey(X25519, false, ["deriveBits"]);

/** Whether this device can seal reports. Where it cannot, nothing can be answered or sent through a relay. */
export const canSeal = async () => {
  try {
    return Boolean(await freshKeys());
  } catch {
    return false;
  }
};

// HPKE. A key of no bytes is one of zeros for HMAC, which WebCrypto wants to be given.

async function hmac(key, ...parts) {
  const made = await subtle().importKey("raw", key.length ? key : new Uint8Array(32), HMAC, false, ["sign"]);
  return bytes(subtle().sign("HMAC", made, joined(parts)));
}

const extract = (suite, salt, label, given) => hmac(salt, VERSION, suite, utf8(label), given);
/** Up to 32 bytes: one block of HKDF-Expand. */
const expand = async (suite, secret, label, info, size) =>
  (await hmac(secret, [0, size], VERSION, suite, utf8(label), info, [1])).slice(0, size);

/** `enc || ciphertext` for the holder of the private key. `ephemeral`, a pair of keys, is for test vectors only. */
export async function sealBase(key, info, plain, { ephemeral, associated = new Uint8Array() } = {}) {
  const { publicKey, privateKey } = ephemeral ?? (await freshKeys());
  const enc = await bytes(subtle().exportKey("raw", publicKey));
  const theirs = await subtle().importKey("raw", key, X25519, false, []);
  const agreed = await bytes(subtle().deriveBits({ ...X25519, public: theirs }, privateKey, 256));
  insist(agreed.some(Boolean), NO_TERMS); // of a key that gives the same secret to everybody
  const shared = await expand(KEM, await extract(KEM, [], "eae_prk", agreed), "shared_secret", joined([enc, key]), 32);
  const hashes = [await extract(SUITE, [], "psk_id_hash", []), await extract(SUITE, [], "info_hash", info)];
  const schedule = joined([[0], ...hashes]);
  const secret = await extract(SUITE, shared, "secret", []);
  const aes = await subtle().importKey("raw", await expand(SUITE, secret, "key", schedule, 16), "AES-GCM", false, ["encrypt"]);
  const iv = await expand(SUITE, secret, "base_nonce", schedule, 12);
  const sealed = await bytes(subtle().encrypt({ name: "AES-GCM", iv, additionalData: associated }, aes, plain));
  return joined([enc, sealed]);
}

// Terms

const isHex = (text, size) => typeof text === "string" && text.length === 2 * size && /^[0-9a-f]*$/.test(text);
const isWhole = (number, least, most) => Number.isInteger(number) && number >= least && number <= most;

function isAddress(text) {
  try {
    const { protocol, username, password, search, hash } = new URL(text);
    return /^https?:$/.test(protocol) && !(username + password + search + hash) && !/[\s\\?#]/.test(text);
  } catch {
    return false;
  }
}

/** The terms, if they are for this survey and it can be mixed. */
function checked(terms, survey) {
  const { format, relay, key, people, size, survey: made } = terms ?? {};
  const isGood = format === FORMAT && isHex(key, 32) && isHex(made, 16) && isWhole(people, 2, MOST_PEOPLE);
  insist(isGood && isWhole(size, HEADER + 1, MOST_SIZE) && typeof relay === "string" && isAddress(relay), NO_TERMS);
  insist(made === survey.fingerprint, OTHER);
  insist(survey.window === null && !survey.tree.survey.rounds && !survey.invitations, NOT_MIXED);
  return Object.freeze({ ...terms });
}

/** 128 bits that name the terms, in hexadecimal: all by which people could be told apart. */
export const termsFingerprint = ({ survey, relay, key, people, size }) =>
  fingerprint(["deniable mix terms 1", survey, relay, key, people, size].join("\n"));

/** What the relay gets: the ticket, and the message that only the collector can read. */
export async function seal(terms, message, options) {
  insist(message.length + LENGTH <= terms.size, "The message is longer than the terms of mixing allow.", InvalidReport);
  const filled = new Uint8Array(terms.size);
  filled.set(joined([little(message.length, LENGTH), message]));
  const ticket = await bytes(subtle().digest("SHA-256", joined([utf8("deniable mix ticket"), message.slice(...ID)])));
  const info = joined([utf8("deniable mix 1 "), unhex(terms.survey)]);
  return joined([ticket.slice(0, TICKET), await sealBase(unhex(terms.key), info, filled, options)]);
}

/**
 * What posts to the relay in the place of `fetch`. The device hears that a report was counted once the relay has stored it; any
 * other success is no answer of this relay, so the report is kept.
 */
const through = (terms, fetch) => async (_, { body: message, ...options }) => {
  const answer = await fetch(`${terms.relay.replace(/\/+$/, "")}/v1/mix`, {
    ...options,
    body: await seal(terms, message),
    headers: { "Content-Type": `${MEDIA_TYPE}; terms=${termsFingerprint(terms)}` },
  });
  const { status, ok, headers } = answer;
  const said = await answer.json().catch(() => null);
  const isStored = status === 202 && said?.stored === 1 && said.survey === terms.survey;
  const body = isStored ? { counted: 1, duplicates: 0, survey: hex(message.slice(8, 24)) } : said;
  return { status: isStored ? 200 : ok ? 0 : status, headers, json: async () => body };
};

/** A device whose reports go through the relay of these terms, and nowhere else. */
export class MixedDevice extends Device {
  constructor(survey, terms, options) {
    super(survey, options);
    this.terms = checked(terms, survey);
  }

  async answer(answers) {
    insist(await canSeal(), NO_SEALING, NoRandomness); // before anything is randomized that could not be sent
    return super.answer(answers);
  }

  async send(url = "", { fetch = globalThis.fetch, attempts, sleep } = {}) {
    insist(url === "" || url === this.terms.relay, "These reports go to the relay of their terms, and nowhere else.");
    insist(await canSeal(), NO_SEALING, NoRandomness);
    const receipt = await super.send(this.terms.relay, { fetch: through(this.terms, fetch), attempts, sleep });
    return receipt.state === "sent" ? { ...receipt, status: 202 } : receipt;
  }

  keepSending(url = "", options) {
    return super.keepSending(url, options);
  }
}
