import { build } from "esbuild"; import { minify } from "terser"; import { gzipSync } from "node:zlib"; import { readdirSync } from "node:fs";
const opt = { module: true, compress: { ecma: 2022, passes: 6, unsafe_arrows: true, unsafe_methods: true, pure_getters: true } };
const size = async (drop) => {
  const plugin = { name: "x", setup({ onLoad }) { onLoad({ filter: new RegExp("/" + drop + "$") }, () => ({ contents: "", loader: "js" })); } };
  const { outputFiles } = await build({ entryPoints: ["src/index.js"], bundle: true, format: "esm", target: "es2022", charset: "ascii", minifySyntax: true, write: false, plugins: drop ? [plugin] : [], logLevel: "silent" });
  return gzipSync((await minify(outputFiles[0].text, opt)).code, { level: 9 }).length;
};
const all = await size(""); console.log("all", all);
const out = [];
for (const f of readdirSync("src")) { try { out.push([all - await size(f), f]); } catch (e) { out.push([0, f + " " + e.message.slice(0,50)]); } }
out.sort((a, b) => b[0] - a[0]); for (const o of out) console.log(...o);
