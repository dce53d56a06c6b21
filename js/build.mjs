// Minified ES modules, which the collector serves: `node build.mjs [folder]`. The same bytes every time.
// deniable.js is the client; reports.js, which imports it, reads reports, and estimate.js, which imports both, counts and estimates.
// invitation.js exchanges invitations, and is loaded by surveys for invited people only; strings.js by surveys that ask for text,
// repeated.js by surveys that ask again, friends.js by those that ask whom people know, and mix.js by those whose reports are mixed.

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
const STRINGS = [/^\.\/strings\.js$/, "strings.js"];
const REPORTS = [/^\.\/reports\.js$/, "reports.js"];

// What nodes of a law have in the client, and nobody outside of it sees
const PRIVATE = new RegExp(
  `^(${[
    "op|args|params|form|least|most|width|row|distinct", // of nodes and types
    "need|whole|chance|single|vector|numbers|weights|wide|within|same|bit", // what operations ask of them
    "rank|draws|tainted|among|members|field|secret|worst", // of proofs
    "inputs|codes|place|belowEach|tossAll|scaled|word|ever", // of answers, coins and mechanisms
  ].join("|")})$`,
);
const STYLE = { format: "esm", target: "es2022", charset: "ascii" };

for (const [source, made, modules] of [
  ["index.js", "deniable.js", [STRINGS]],
  ["reports.js", "reports.js", [CLIENT]],
  ["estimate.js", "estimate.js", [CLIENT, REPORTS]],
  ["invitation.js", "invitation.js", [CLIENT]],
  ["strings.js", "strings.js", [CLIENT]],
  ["repeated.js", "repeated.js", [CLIENT]],
  ["friends.js", "friends.js", [CLIENT]],
  ["mix.js", "mix.js", [CLIENT]],
]) {
  const { outputFiles } = await build({
    entryPoints: [here(`src/${source}`)],
    bundle: true,
    ...STYLE,
    minifySyntax: true,
    write: false,
    plugins: [outside(modules)],
  });
  const props = modules.includes(CLIENT) ? {} : { mangleProps: PRIVATE };
  // Functions as constants: the same here, since none is called before it is defined, and shorter
  const text = outputFiles[0].text.replace(/^(async )?function (\w+)(\(.*\)) \{$([^]*?)^\}$/gm, "var $2 = $1$3 => {$4};");
  const short = await transform(text, { ...STYLE, ...props, minify: true });
  const { code } = await minify(short.code, {
    module: true,
    compress: { ecma: 2022, passes: 6, if_return: false, unsafe_arrows: true, unsafe_methods: true, pure_getters: true, keep_fargs: false, unsafe: true },
    format: { ecma: 2022 },
  });
  // Names of exports compress best beside the errors, which are named in the first lines.
  const [exported] = /export\{[^}]*\};$/.exec(code) ?? [""];
  writeFileSync(`${folder}/${made}`, `${exported}${code.slice(0, code.length - exported.length)}`);
}
