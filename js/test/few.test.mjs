// Every rule of proof on its own: the client with other limits, so that next to nothing is enumerated before a rule is tried. Laws of all
// families, changed at some places, are proved by it, those with non-sensitive answers too; no bound is below the exact loss.
// FUZZ_SEED=7 FUZZ=20000 node --test test/few.test.mjs tries so many laws.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { less, written } from "../src/fraction.js";
import { Program } from "../src/program.js";
import { SeededCoins } from "../src/seeded.js";
import { exactLoss, unpacked } from "./exact.mjs";
import { file } from "./shared.mjs";

const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** The client that follows at most so many worlds, and that tries every other rule first. */
async function limited(many) {
  const folder = mkdtempSync(join(tmpdir(), "deniable-few-"));
  folders.push(folder);
  cpSync(fileURLToPath(new URL("../src", import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const changes = [
    ["densities.js", /FEW = 1 << 10;/, "FEW = 1;"],
    ["densities.js", /MANY = 1 << 16;/, `MANY = ${many};`],
    ["cases.js", /MORE = 1 << 13;/, "MORE = 0;"],
  ];
  for (const [name, limit, now] of changes) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.match(text, limit);
    writeFileSync(join(folder, name), text.replace(limit, now));
  }
  const [{ proved }, { Program }] = await Promise.all(["prove.js", "program.js"].map((name) => import(pathToFileURL(join(folder, name)))));
  return (law, open) => proved(new Program(law), open);
}

const LAWS = file("laws");
const OPEN = file("law_bounds").filter(({ open, law }) => open && law);
const BASES = [
  ...LAWS.map(({ law }) => ({ law })),
  ...OPEN.map(({ law: name, open }) => ({
    law: LAWS.find((each) => each.name === name).law,
    open: { ...open, secret: new Set(unpacked(open.secret)) },
  })),
];
const NODES = LAWS.flatMap(({ law }) => law.nodes).filter(([op]) => op !== "code");
const ODDS = ["1/2", "1/3", "3/4", "2/5", "1/1", "0/1", "1/7"];
const TIMES = Number(process.env.FUZZ ?? 2000);
const coins = new SeededCoins(process.env.FUZZ_SEED ?? "few");
const any = (list) => list[coins.below(list.length)];

/** A law with something else at one to three places: an argument, a parameter, an operation, a field. */
function changed(law) {
  const { nodes, report } = structuredClone(law);
  for (let times = any([1, 1, 2, 3]); times; times--) {
    const place = coins.below(nodes.length);
    const node = nodes[place];
    const earlier = () => coins.below(place || 1);
    const other = (param) => {
      if (typeof param === "string" && param.includes("/")) return any(ODDS);
      if (Array.isArray(param) && Number.isInteger(param[0])) return param.map((entry) => any([entry, entry, entry, any(param)]));
      return typeof param === "number" ? Math.max(0, param + any([-1, 0, 1])) : param;
    };
    any([
      () => (node[1] = node[1].map((arg) => any([arg, earlier()]))),
      () => node.splice(2, Infinity, ...node.slice(2).map(other)),
      () => {
        const table = any([node, ...nodes.filter(([op]) => op === "table")]);
        table.splice(2, Infinity, ...table.slice(2).map(other));
      },
      () => node[1].reverse(),
      () => (nodes[place] = any(NODES).map((each, i) => (i === 1 ? each.map(earlier) : each))),
      () => (any(report)[1] = coins.below(nodes.length)),
      () => {
        const more = any(NODES).map((each, i) => (i === 1 ? each.map(earlier) : each));
        nodes.splice(place, 0, more);
        for (const later of nodes.slice(place + 1)) later[1] = later[1].map((arg) => (arg >= place ? arg + any([0, 1, 1, 1]) : arg));
        for (const field of report) if (field[1] >= place) field[1]++;
      },
    ])();
  }
  return { nodes, report };
}

const isLaw = (law) => {
  try {
    return new Program(law);
  } catch {
    return null;
  }
};

test("every rule stands on its own, also where some answers are not sensitive", async () => {
  const provers = await Promise.all([1 << 16, 48].map(limited));
  const many = { plain: 0, open: 0 };
  for (let i = 0; i < TIMES; i++) {
    const base = any(BASES);
    const law = changed(base.law);
    const program = isLaw(law);
    if (!program || program.codes.some(({ args }) => args.length)) continue;
    const open = base.open && { ...base.open, from: base.open.from + any([-1, 0, 0, 0, 1]) };
    const found = provers.map((prove) => prove(law, open)?.odds).filter(Boolean);
    const exact = found.length ? exactLoss(program, open, 3000) : undefined;
    if (exact === undefined) continue;
    many[open ? "open" : "plain"]++;
    for (const odds of found) {
      const text = JSON.stringify({ law, open: open && { ...open, secret: [...open.secret] } });
      assert.ok(exact && !less(odds, exact), `${written(odds)} below ${exact && written(exact)}: ${text}`);
    }
  }
  assert.ok(many.plain > TIMES / 50 && many.open > TIMES / 200, JSON.stringify(many));
});
