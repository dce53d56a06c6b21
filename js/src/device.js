// One person's client: it randomizes once, keeps the report in a ledger, and sends that same report until it arrives.

import { hex, unhex } from "./bytes.js";
import { SecureCoins } from "./coins.js";
import { BudgetSpent, InvalidParameter, SurveyMismatch } from "./errors.js";
import { lawful } from "./insist.js";
import { ANSWERED, openLedger } from "./ledger.js";
import { sendUntil } from "./sending.js";
import { clock } from "./survey.js";

const PAUSE = 60_000; // between rounds of attempts, where nothing says that the network is back

export class Device {
  #coins;
  #now;
  #ledger;

  constructor(survey, { ledger, coins, now = clock } = {}) {
    this.survey = survey;
    this.ledger = ledger ?? null;
    this.#coins = coins;
    this.#now = now;
  }

  async #opened() {
    return (this.ledger = await (this.#ledger ??= this.ledger ?? openLedger()));
  }

  #secure() {
    return (this.#coins ??= new SecureCoins());
  }

  async #part() {
    const ledger = await this.#opened();
    const key = `${this.survey.id} ${this.survey.lasting}`;
    return BigInt(await ledger.part(key, String(this.survey.drawPart(this.#secure()))));
  }

  async questions() {
    return this.survey.part(await this.#part());
  }

  async entry() {
    const entry = await (await this.#opened()).entry(this.survey.id);
    const isSame = !entry || entry.fingerprint === this.survey.lasting;
    lawful(isSame, "Another survey with this id has already been answered. A changed survey needs a new id.", SurveyMismatch);
    return entry;
  }

  async answer(answers) {
    const ledger = await this.#opened();
    lawful(!(await this.entry()), ANSWERED, BudgetSpent);
    const { id, lasting: fingerprint, epsilon } = this.survey;
    const part = await this.#part();
    for (;;) {
      const asked = this.survey.part(part).filter((question) => question.memory);
      const before = await Promise.all(asked.map((question) => ledger.memory(question.memory)));
      const memories = Object.fromEntries(asked.map((question, i) => [question.id, JSON.parse(before[i] ?? "{}")]));
      const message = this.survey.randomize(answers, { coins: this.#secure(), part, now: this.#now(), memories });
      const kept = asked.map((question, i) => [question.memory, { before: before[i], after: JSON.stringify(memories[question.id]) }]);
      // What was kept and the report are stored together, before anything is sent.
      const entry = { fingerprint, epsilon, message: hex(message) };
      if ((await ledger.add(id, entry, Object.fromEntries(kept))) !== false) return message;
    }
  }

  async message() {
    const entry = await this.entry();
    return entry && unhex(entry.message);
  }

  async send(url, options = {}) {
    const entry = await this.entry();
    lawful(entry, "There is no report to send yet. Answer first.", InvalidParameter);
    lawful(typeof url === "string", "Give an address, or ''.", InvalidParameter);
    const id = entry.message.slice(48, 80);
    if (entry.state === "sent") return { id, state: "sent", sentAt: new Date(entry.sentAt), status: 200, detail: "" };
    const { state, status, detail } = await sendUntil(url, (options.seal ?? ((bytes) => bytes))(unhex(entry.message)), options);
    // Where that cannot be written down, the same report is sent once more later, and counted once.
    if (state !== "kept") await this.ledger.mark(this.survey.id, state).catch(() => {});
    return { id, state, sentAt: state === "sent" ? new Date() : null, status, detail };
  }

  async keepSending(url, options = {}) {
    for (;;) {
      const receipt = await this.send(url, options);
      options.changed?.(receipt);
      if (receipt.state !== "kept" || options.signal?.aborted) return receipt;
      await backOnline(options.signal);
      if (options.signal?.aborted) return receipt;
    }
  }
}

/** Until the network is back, or the signal, or after a pause. */
async function backOnline(signal) {
  const over = new AbortController();
  const once = { signal: over.signal };
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, PAUSE);
    over.signal.addEventListener("abort", () => clearTimeout(timer));
    for (const [target, event] of [[globalThis, "online"], [signal, "abort"]]) target?.addEventListener?.(event, resolve, once);
  });
  over.abort();
}
