// A ledger in a file, for programs in Node: written and synchronized before a report is returned, one process at a time.

import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { InvalidParameter } from "./errors.js";
import { checked, opened, UNREAD } from "./ledger.js";

const PATIENCE = 10_000; // milliseconds until another program's change must be over
const MODE = 0o600;

const absent = (error) => {
  if (error.code !== "ENOENT") throw error;
  return null;
};
const text = (path) => readFile(path, "utf8").catch(absent);
const remove = (path) => unlink(path).catch(absent);

/** Write a file that is on the disk, whole, when this returns. */
async function write(path, content) {
  const file = await open(path, "wx", MODE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function synchronize(folder) {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

function runs(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

/** Create a file with its content unless it exists; true if it was created. */
async function created(path, content, name) {
  await write(`${path}.${name}`, content);
  try {
    await link(`${path}.${name}`, path);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  } finally {
    await remove(`${path}.${name}`);
  }
}

/** Remove the lock of a program that has ended. Only one may, for each lock, so that no other lock is ever removed. */
async function release(lock, holder, name) {
  const claim = `${lock}.${holder.split(" ")[1]}`;
  if (!(await created(claim, "", name))) return;
  if ((await text(lock)) === holder) await unlink(lock);
  await remove(claim);
}

async function alone(lock, work) {
  const name = randomBytes(8).toString("hex");
  const mine = `${process.pid} ${name}`;
  for (const end = Date.now() + PATIENCE; !(await created(lock, mine, name)); ) {
    const holder = await text(lock);
    if (holder && !runs(Number(holder.split(" ")[0]))) {
      await release(lock, holder, name);
    } else if (Date.now() > end) {
      throw new InvalidParameter(`The ledger is in use by another program. If there is none, remove ${lock} and try again.`);
    } else {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  try {
    return await work(name);
  } finally {
    await remove(lock);
  }
}

function parsed(content) {
  try {
    return checked(content === null ? null : JSON.parse(content));
  } catch {
    throw new InvalidParameter(UNREAD);
  }
}

/** The ledger in this file, which is made if there is none. Only its owner can read it. */
export async function openFileLedger(path, { lifetime } = {}) {
  const change = (edit) => {
    if (!edit) return text(path).then(parsed);
    return alone(`${path}.lock`, async (name) => {
      const data = parsed(await text(path));
      edit(data);
      await write(`${path}.${name}`, JSON.stringify(data));
      await rename(`${path}.${name}`, path);
      await synchronize(dirname(path));
      return data;
    });
  };
  return opened("file", change, lifetime);
}
