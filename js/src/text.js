// JSON whose numbers are kept as they were written: 1.0 is not 1 in a fingerprint, and weights may have more than 53 bits.

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\0"; // before what was a number

/** A tree in which every number is a text that begins with a mark. */
export const read = (text) => JSON.parse(text.replace(TOKEN, (part) => (part[0] === '"' ? part : `"\\u0000${part}"`)));

/** The tree as Python's json.dumps writes it: keys sorted, no blanks, ASCII only. */
export function canonical(tree) {
  if (Array.isArray(tree)) return `[${tree.map(canonical)}]`;
  if (typeof tree === "string") return tree[0] === MARK ? tree.slice(1) : quoted(tree);
  if (tree === null || typeof tree !== "object") return JSON.stringify(tree);
  return `{${Object.keys(tree).sort().map((key) => `${quoted(key)}:${canonical(tree[key])}`)}}`;
}

const quoted = (text) =>
  JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The tree with numbers for the marked texts; whole ones that are too large for that become BigInts. */
export function plain(tree) {
  if (Array.isArray(tree)) return tree.map(plain);
  if (typeof tree === "string") return tree[0] === MARK ? number(tree.slice(1)) : tree;
  if (tree === null || typeof tree !== "object") return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, plain(value)]));
}

function number(text) {
  const value = Number(text);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text);
}
