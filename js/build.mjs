// Minified ES modules, which the collector serves: `node build.mjs [folder]`. The same bytes every time.
// deniable.js is the client; estimate.js, which the playground loads too, counts and estimates, and imports the client.
// invitation.js exchanges invitations, and is loaded by surveys for invited people only.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = process.argv[2] ?? here("../packages/deniable/src/deniable/collector/web");
const client = {
  name: "client",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/index\.js$/ }, () => ({ path: "./deniable.js", external: true }));
  },
};

// What nodes of a law have in the client, and nobody outside of it sees
const PRIVATE = /^(args|params|users|draws|tainted|noise|possible|scale|ways|isDrawn|upstream|rewritten|constant|spend|choose|weighted)$/;

for (const [source, made, plugins] of [
  ["src/index.js", "deniable.js", []],
  ["src/estimate.js", "estimate.js", [client]],
  ["src/invitation.js", "invitation.js", [client]],
]) {
  const { outputFiles } = await build({
    entryPoints: [here(source)],
    bundle: true,
    format: "esm",
    target: "es2022",
    charset: "ascii",
    minifySyntax: true,
    write: false,
    plugins,
  });
  const { code } = await minify(outputFiles[0].text, {
    module: true,
    compress: { ecma: 2022, passes: 6, unsafe_arrows: true, unsafe_methods: true, pure_getters: true },
    ...(plugins.length ? {} : { mangle: { properties: { regex: PRIVATE } } }),
    format: { preamble: "/* made from js/ by make js */" },
  });
  writeFileSync(`${folder}/${made}`, `${code}\n`);
}
