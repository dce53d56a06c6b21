// An invitation becomes a token by a blind signature: RSABSSA-SHA384-PSS-Randomized of RFC 9474. Loaded only where a survey
// asks for it. Randomness, SHA-384 and the check of the signature are the browser's own; the rest is arithmetic.

import { hex, joined, sealed, unhex, utf8 } from "./bytes.js";
import { InvalidParameter, InvalidReport, NoRandomness } from "./index.js";

const E = 65537n;
const [PREFIX, SALT, BYTES] = [32, 48, 256];
const [MOST_KEYS, LONGEST_DELAY] = [16, 7 * 86_400];
const CONTEXT = utf8("deniable invitation 1\0");
const TAGGED =
  "The collector offers a key that the survey does not name. It could recognize you by it, so your invitation was not used. Tell the people who run the survey.";
const MANY =
  "The survey names more than 16 keys, the same key twice, or no time to wait of up to a week. You could be recognized, so your invitation was not used.";

const number = (bytes) => BigInt(`0x${hex(bytes)}`);
const bytesOf = (n, size) => unhex(n.toString(16).padStart(2 * size, "0"));
const random = (size) => globalThis.crypto.getRandomValues(new Uint8Array(size));
const sha384 = async (...parts) => new Uint8Array(await subtle().digest("SHA-384", joined(parts)));

function subtle() {
  const found = globalThis.crypto?.subtle;
  if (!found) throw new NoRandomness("An invitation can only be used over HTTPS, where the browser offers its cryptography.");
  return found;
}

function power(base, exponent, n) {
  let result = 1n;
  for (; exponent; exponent >>= 1n, base = (base * base) % n) if (exponent & 1n) result = (result * base) % n;
  return result;
}

/** The inverse, or null if there is none. */
function inverse(a, n) {
  let [r, next, s, after] = [n, a % n, 0n, 1n];
  while (next) {
    const q = r / next;
    [r, next, s, after] = [next, r - q * next, after, s - q * after];
  }
  return r === 1n ? (s + n) % n : null;
}

async function mgf1(seed, size) {
  const blocks = [];
  for (let place = 0; blocks.length * SALT < size; place++) blocks.push(await sha384(seed, [0, 0, place >> 8, place & 255]));
  return joined(blocks).subarray(0, size);
}

/** EMSA-PSS (RFC 8017, 9.1.1), for a modulus whose length in bits is a multiple of eight. */
async function encoded(message, size, salt) {
  const digest = await sha384(new Uint8Array(8), await sha384(message), salt);
  const block = joined([new Uint8Array(size - SALT - digest.length - 2), [1], salt]);
  const mask = await mgf1(digest, block.length);
  const masked = block.map((byte, i) => byte ^ mask[i]);
  masked[0] &= 127;
  return joined([masked, digest, [0xbc]]);
}

/** A public key from its DER; refuses what is not RSA with 2,048 bits or more and the exponent 65,537. */
export async function publicKey(der) {
  try {
    const rsa = { name: "RSA-PSS", hash: "SHA-384" };
    const key = await subtle().importKey("spki", der, rsa, true, ["verify"]);
    const { n, e } = await subtle().exportKey("jwk", key);
    const modulus = Uint8Array.from(atob(n.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
    if (e === "AQAB" && modulus.length >= BYTES && modulus[0] & 128) return { key, n: number(modulus), size: modulus.length };
  } catch (error) {
    if (error instanceof NoRandomness) throw error;
  }
  throw new InvalidParameter("The issuer's key is not an RSA key of 2,048 bits with the exponent 65,537.");
}

/** Blind a message (RFC 9474, 4.2): what the issuer gets, and the secret that undoes it. The options are for test vectors. */
export async function blind({ n, size }, message, { salt = random(SALT), inv } = {}) {
  const m = number(await encoded(message, size, salt));
  let factor = inv && inverse(inv, n);
  while (!inv) {
    factor = number(random(size));
    if (factor > 0n && factor < n) inv = inverse(factor, n);
  }
  if (inverse(m, n) === null) throw new InvalidParameter(TAGGED);
  return { blinded: bytesOf((m * power(factor, E, n)) % n, size), inv };
}

/** The signature (RFC 9474, 4.4); refuses what does not verify. */
export async function finalize({ key, n, size }, message, blindSignature, inv) {
  const signature = bytesOf((number(blindSignature) * inv) % n, size);
  const good =
    blindSignature.length === size &&
    (await subtle().verify({ name: "RSA-PSS", saltLength: SALT }, key, signature, message));
  if (!good) throw new InvalidReport("The blind signature is not valid under the key of the survey. Try again.");
  return signature;
}

/** The code of an invitation, given as such or as the link that holds it; null if there is none. */
export function codeOf(text) {
  const found = text.includes("#") ? new URLSearchParams(text.slice(text.indexOf("#") + 1)).get("invitation") : text.trim();
  return found && found.length <= 100 && /^[\x21-\x7e]+$/.test(found) ? found : null;
}

/** A message with its token. */
export function withToken(message, token) {
  const body = joined([message.subarray(0, -4), token]);
  new DataView(body.buffer).setUint16(6, token.length, true);
  return sealed(body);
}

/** One person's invitation to one survey. What is needed to repeat the exchange is in the ledger before anything is sent. */
export class Invitation {
  #survey;
  #ledger;
  #name;

  constructor(survey, ledger) {
    this.#survey = survey;
    this.#ledger = ledger;
    this.#name = `${survey.id} ${survey.fingerprint}`;
  }

  /** How far the exchange has come; `next` makes what is kept from what was kept. */
  async #exchange(next) {
    const edit = (data) => ((data.exchanges ??= {})[this.#name] = next(data.exchanges[this.#name] ?? null));
    return (await this.#ledger.change(next && edit)).exchanges?.[this.#name] ?? null;
  }

  /** What the ledger holds: nothing, what repeats the exchange, or the token. */
  state() {
    return this.#exchange();
  }

  /**
   * The token and when the report may be sent, in milliseconds since 1970: `{ token, after }`. Exchanges the invitation if that
   * has not happened; otherwise `{ status, detail, reason }`, with status 0 if nobody answered.
   */
  async right(url, code, { fetch = globalThis.fetch } = {}) {
    for (let attempt = 0; attempt < 3; attempt++) {
      let state = await this.state();
      if (!state) {
        if (!code) throw new InvalidParameter("This survey is for invited people. Open the link that you received.");
        const offer = await asked(fetch, url, "issuer", this.#survey);
        if (offer.status !== 200) return offer;
        const begun = await this.#begun(offer.body, code);
        state = await this.#exchange((known) => known ?? begun); // of two pages only the first counts
      }
      if (state.token) return { token: unhex(state.token), after: state.after };
      const { code: invitation, key, blinded } = state;
      const answer = await asked(fetch, url, "invitation", this.#survey, JSON.stringify({ invitation, key, blinded }));
      if (answer.reason === "other-key") {
        await this.#exchange((known) => (known?.token ? known : null));
        code ??= invitation;
        continue;
      }
      if (answer.status !== 200) return answer;
      await this.#finish(state, answer.body);
      attempt--;
    }
    return { status: 0, detail: "the key of the survey keeps changing", reason: "" };
  }

  /** What repeats the exchange; refused where so many keys are named that people could be told apart by them. */
  async #begun({ current, keys }, code) {
    const { invitations, fingerprint } = this.#survey;
    const { keys: named, delay } = invitations;
    const isFew = Array.isArray(named) && named.length <= MOST_KEYS && new Set(named).size === named.length;
    if (!isFew || !Number.isInteger(delay) || delay < 0 || delay > LONGEST_DELAY) throw new InvalidParameter(MANY);
    const der = unhex(String(keys?.[current] ?? ""));
    const id = hex(new Uint8Array(await subtle().digest("SHA-256", der)));
    if (!Number.isInteger(current) || invitations.keys[current] !== id) throw new InvalidParameter(TAGGED);
    const prefix = random(PREFIX);
    const { blinded, inv } = await blind(await publicKey(der), joined([prefix, CONTEXT, unhex(fingerprint)]));
    return { code, key: current, der: hex(der), prefix: hex(prefix), blinded: hex(blinded), inv: inv.toString(16) };
  }

  async #finish({ key, der, prefix, inv }, { signature }) {
    const message = joined([unhex(prefix), CONTEXT, unhex(this.#survey.fingerprint)]);
    const signed = unhex(/^[0-9a-f]*$/.test(signature) ? signature : "00");
    const made = await finalize(await publicKey(unhex(der)), message, signed, BigInt(`0x${inv}`));
    const token = hex(joined([[key], unhex(prefix), made]));
    const share = new DataView(random(4).buffer).getUint32(0) / 2 ** 32;
    const after = Date.now() + 1000 * share * this.#survey.invitations.delay;
    await this.#exchange((known) => (known?.token ? known : { token, after }));
  }
}

/** What the issuer answers; status 0 if it is not the issuer of this survey. */
async function asked(fetch, url, name, { fingerprint }, body) {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/v1/${name}`, {
      method: body ? "POST" : "GET",
      body,
      headers: body && { "Content-Type": "application/json" },
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    const data = await answer.json();
    if (answer.status === 200 && data.survey === fingerprint) return { status: 200, body: data };
    const type = String(data.type);
    if (answer.status !== 200 && type.startsWith("urn:deniable:problem:")) {
      return { status: answer.status, detail: String(data.detail), reason: type.slice(21) };
    }
  } catch (error) {
    return { status: 0, detail: error.name, reason: "" };
  }
  return { status: 0, detail: "something else than the collector answered", reason: "" };
}
