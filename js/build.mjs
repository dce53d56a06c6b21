// Minified ES modules, which the collector serves: `node build.mjs [folder]`. The same bytes every time.
// deniable.js is the client; reports.js, which imports it, reads reports, and estimate.js, which imports both, counts and estimates.
// invitation.js exchanges invitations, and is loaded by surveys for invited people only.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { minify } from "terser";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = process.argv[2] ?? here("../packages/deniable/src/deniable/collector/web");
/** What a module imports instead of having it too. */
const outside = (modules) => ({
  name: "outside",
  setup({ onResolve }) {
    for (const [filter, made] of modules) onResolve({ filter }, () => ({ path: `./${made}`, external: true }));
  },
});
const CLIENT = [/^\.\/(errors|index|program)\.js$/, "deniable.js"];
const REPORTS = [/^\.\/reports\.js$/, "reports.js"];

// What nodes of a law have in the client, and nobody outside of it sees
const PRIVATE = new RegExp(
  `^(${[
    "args|params|users|draws|tainted|row|width|distinct", // of nodes and types
    "need|whole|single|vector|numbers|weights|wide|within|same|bit", // what operations ask of them
    "noise|possible|scale|ways|isDrawn|few|isShared|shape|found|members|seen|drawn", // of proofs
    "upstream|rewritten|constant|spend|choose|weighted|fixed", // of graphs
    "inputs|codes|place|belowEach|tossAll|scaled|word|ever",
  ].join("|")})$`,
);
const STYLE = { format: "esm", target: "es2022", charset: "ascii" };

for (const [source, made, modules] of [
  ["index.js", "deniable.js", []],
  ["reports.js", "reports.js", [CLIENT]],
  ["estimate.js", "estimate.js", [CLIENT, REPORTS]],
  ["invitation.js", "invitation.js", [CLIENT]],
]) {
  const { outputFiles } = await build({
    entryPoints: [here(`src/${source}`)],
    bundle: true,
    ...STYLE,
    minifySyntax: true,
    write: false,
    plugins: [outside(modules)],
  });
  const props = modules.length ? {} : { mangleProps: PRIVATE };
  const short = await transform(outputFiles[0].text, { ...STYLE, ...props, minify: true });
  const { code } = await minify(short.code, {
    module: true,
    compress: { ecma: 2022, passes: 6, unsafe_arrows: true, unsafe_methods: true, pure_getters: true },
    format: { preamble: "/* made from js/ by make js */" },
  });
  writeFileSync(`${folder}/${made}`, `${code}\n`);
}
