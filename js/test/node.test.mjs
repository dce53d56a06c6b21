// The ledger in a file: nothing is randomized twice, whatever other programs do and wherever one of them ends.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { BudgetSpent, Device, InvalidParameter, Survey } from "../src/index.js";
import { openFileLedger } from "../src/node.js";
import { lawText, SURVEYS } from "./shared.mjs";

const folder = () => mkdtemp(join(tmpdir(), "deniable-"));
const MODULE = new URL("../src/node.js", import.meta.url).href;

test("a report is in the file before it is returned, and there is no second one", async () => {
  const path = join(await folder(), "me.ledger");
  const { name, survey: text, answers } = SURVEYS[0];
  const survey = Survey.parse(text, { law: lawText(name) });
  const device = new Device(survey, { ledger: await openFileLedger(path) });
  const message = await device.answer(answers);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const again = new Device(survey, { ledger: await openFileLedger(path) });
  assert.deepEqual(await again.message(), message);
  await assert.rejects(again.answer(answers), BudgetSpent);
  assert.equal(again.ledger.kind, "file");
  assert.equal(again.ledger.lasting, true);
});

test("the lifetime limit is kept", async () => {
  const path = join(await folder(), "me.ledger");
  await openFileLedger(path, { lifetime: 2 });
  const ledger = await openFileLedger(path);
  assert.equal(ledger.lifetime, 2);
  await assert.rejects(openFileLedger(path, { lifetime: 3 }), InvalidParameter);
  await ledger.add("one", { epsilon: 1.5 });
  await assert.rejects(ledger.add("two", { epsilon: 1 }), BudgetSpent);
});

test("programs take turns, and none loses what another wrote", { timeout: 60_000 }, async () => {
  const path = join(await folder(), "me.ledger");
  const writes = `import { openFileLedger } from ${JSON.stringify(MODULE)};
    const ledger = await openFileLedger(process.argv[1]);
    await Promise.all(Array.from({ length: 8 }, (_, i) => ledger.add(process.argv[2] + i, { epsilon: 0.1 })));`;
  const runs = ["a", "b", "c"].map(
    (name) =>
      new Promise((resolve) => {
        spawn(process.execPath, ["--input-type=module", "-e", writes, path, name], { stdio: "inherit" }).on("exit", resolve);
      }),
  );
  assert.deepEqual(await Promise.all(runs), [0, 0, 0]);
  const names = [...(await (await openFileLedger(path)).entries()).keys()].sort();
  assert.deepEqual(names, ["a", "b", "c"].flatMap((name) => Array.from({ length: 8 }, (_, i) => name + i)));
  assert.deepEqual(await readdir(fileURLToPath(new URL(".", `file://${path}`))), ["me.ledger"]);
});

test("the lock of a program that has ended is no obstacle, even to many at once", async () => {
  const path = join(await folder(), "me.ledger");
  const ended = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => ended.on("exit", resolve));
  await writeFile(`${path}.lock`, `${ended.pid} 00ff`);
  const ledger = await openFileLedger(path);
  await Promise.all(Array.from({ length: 8 }, (_, i) => ledger.add(`s${i}`, { epsilon: 0.1 })));
  assert.equal((await ledger.entries()).size, 8);
});

test("a damaged file is refused and left as it is", async () => {
  const path = join(await folder(), "me.ledger");
  await writeFile(path, "{");
  await assert.rejects(openFileLedger(path), InvalidParameter);
  assert.equal(await readFile(path, "utf8"), "{");
});
