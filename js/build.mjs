// One minified ES module, which the collector serves: `node build.mjs [file]`. The same bytes every time.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { outputFiles } = await build({
  entryPoints: [here("src/index.js")],
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  minifySyntax: true,
  write: false,
});
const { code } = await minify(outputFiles[0].text, {
  module: true,
  compress: { ecma: 2022, passes: 6, unsafe_arrows: true, unsafe_methods: true, pure_getters: true },
  format: { preamble: "/* made from js/ by make js */" },
});
writeFileSync(process.argv[2] ?? here("../packages/deniable/src/deniable/collector/web/deniable.js"), `${code}\n`);
