// One minified ES module, which the collector serves: `node build.mjs [file]`.

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here("src/index.js")],
  outfile: process.argv[2] ?? here("../src/deniable/collector/pages/deniable.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  banner: { js: "/* deniable: made from js/ by `make js`; MIT licence */" },
});
