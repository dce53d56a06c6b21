// What a person has spent in this browser: the report of every survey answered, so that none is ever randomized twice.

import { BudgetSpent, InvalidParameter } from "./errors.js";
import { lawful } from "./insist.js";

const FORMAT = "deniable ledger 1";
const WARNING =
  "This browser cannot remember that you answered. Answer once, and keep the page open until it is sent.";

export const ANSWERED = "This survey has already been answered. The same report can be sent again, but not a new one.";
export const UNREAD = "The ledger cannot be read, and no survey can be answered without it.";
const empty = () => ({ format: FORMAT, surveys: {}, parts: {} });
const spentIn = (surveys) => Object.values(surveys).reduce((sum, entry) => sum + entry.epsilon, 0);
const isLimit = (limit) => Number.isFinite(limit) && limit > 0;

export function checked(data) {
  data ??= empty();
  const { format, surveys, parts, lifetime = 1, memories = {} } = data;
  const tables = [surveys, parts, memories].every((each) => each && typeof each === "object");
  lawful(format === FORMAT && tables && isLimit(lifetime), UNREAD, InvalidParameter);
  return data;
}

/** A store is `change(edit)`: it reads all, lets `edit` alter it, and writes it before it returns; nobody comes between. */
class Ledger {
  constructor(kind, change, lifetime) {
    this.kind = kind;
    this.lifetime = lifetime;
    this.lasting = kind !== "memory";
    this.warning = this.lasting ? null : WARNING;
    this.change = change;
  }

  async entries() {
    return new Map(Object.entries((await this.change()).surveys));
  }

  async entry(survey) {
    return (await this.entries()).get(survey) ?? null;
  }

  async spent() {
    return spentIn((await this.change()).surveys);
  }

  async add(survey, entry, kept = {}) {
    let added = true;
    await this.change((data) => {
      const { surveys, lifetime } = data;
      const memories = (data.memories ??= {});
      lawful(!Object.hasOwn(surveys, survey), ANSWERED, BudgetSpent);
      const isWithin = !(spentIn(surveys) + entry.epsilon > lifetime);
      lawful(isWithin, `With this survey, epsilon ${entry.epsilon}, you would exceed the lifetime limit of ${lifetime}.`, BudgetSpent);
      // Another page may have kept an answer meanwhile: then a report must be made from that one.
      added = Object.entries(kept).every(([name, { before }]) => (memories[name] ?? null) === before);
      if (!added) return;
      for (const [name, { after }] of Object.entries(kept)) memories[name] = after;
      surveys[survey] = { state: "kept", ...entry };
    });
    return added;
  }

  async memory(name) {
    return (await this.change()).memories?.[name] ?? null;
  }

  async mark(survey, state) {
    await this.change((data) => {
      data.surveys[survey] = { ...data.surveys[survey], state, sentAt: state === "sent" ? Date.now() : undefined };
    });
  }

  async part(survey, fresh) {
    return (await this.change((data) => (data.parts[survey] ??= fresh))).parts[survey];
  }
}

const done = (request, event = "success") =>
  new Promise((resolve, reject) => {
    request[`on${event}`] = () => resolve(request.result);
    request.onerror = request.onabort = request.onblocked = () => reject(request.error);
  });

async function inIndexedDB(factory, name) {
  const opening = factory.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("ledger");
  const late = new Promise((_, reject) => setTimeout(reject, 3000)); // some private modes never say
  const database = await Promise.race([done(opening), late]);
  return async (edit) => {
    const transaction = database.transaction("ledger", edit ? "readwrite" : "readonly", { durability: "strict" });
    const finished = done(transaction, "complete");
    finished.catch(() => {});
    const store = transaction.objectStore("ledger");
    const data = checked(await done(store.get("all")));
    if (edit) {
      edit(data);
      store.put(data, "all");
    }
    await finished;
    return data;
  };
}

function inLocalStorage(storage, key, locks) {
  const change = (edit) => {
    const data = checked(attempt(() => JSON.parse(storage.getItem(key)), {}));
    if (edit) {
      edit(data);
      storage.setItem(key, JSON.stringify(data));
    }
    return data;
  };
  return async (edit) => (locks ? locks.request(key, () => change(edit)) : change(edit));
}

function inMemory() {
  const data = empty();
  return async (edit) => {
    edit?.(data);
    return structuredClone(data);
  };
}

/** What it gives, or else this; even to look at a storage may be forbidden. */
function attempt(work, otherwise = null) {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

export async function openLedger({ name = "deniable", lifetime, indexedDB, localStorage } = {}) {
  const inBrowser = globalThis.document || globalThis.WorkerGlobalScope; // Node's localStorage is no person's
  const given = (value, global) => (value === undefined ? inBrowser && attempt(() => globalThis[global]) : value);
  const local = given(localStorage, "localStorage");
  const key = `${name}.ledger`;
  // The first store that worked is the one for ever: a person must not be able to answer once in each.
  const used = attempt(() => local.getItem(key)) ?? "indexeddb";
  const kinds = {
    indexeddb: used === "indexeddb" && given(indexedDB, "indexedDB"),
    localstorage: local,
  };
  for (const [kind, source] of Object.entries(kinds)) {
    try {
      if (source) {
        const change =
          kind === used ? await inIndexedDB(source, name) : inLocalStorage(source, key, globalThis.navigator?.locks);
        const made = await opened(kind, change, lifetime); // it must be possible to write
        if (kind === used) attempt(() => local.setItem(key, used));
        return made;
      }
    } catch (error) {
      if (error instanceof InvalidParameter) throw error; // it is there, and damaged or out of reach
    }
  }
  return opened("memory", inMemory(), lifetime);
}

/** The ledger in a store. The lifetime limit is kept there: a smaller one replaces it, a larger one is refused. */
export async function opened(kind, change, lifetime) {
  const data = await change((data) => {
    if (lifetime === undefined) return;
    const what = `A lifetime limit is a number above 0. The limit of ${data.lifetime} cannot be raised to ${lifetime}.`;
    lawful(isLimit(lifetime) && !(lifetime > data.lifetime), what, InvalidParameter);
    data.lifetime = lifetime;
  });
  return new Ledger(kind, change, data.lifetime ?? null);
}
