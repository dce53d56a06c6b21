/** Texts with gaps, in any language: filled in, and recognized again. Nothing in here knows a page. */

const GAP = /\{(\w+)(?:\|([^{}]*))?\}/g;
const ONE = String.raw`-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?`;
const RANGE = new RegExp(`(?<![\\w.])(${ONE})( %)? to (${ONE})`, "g"), MEASURED = new RegExp(`(?<![\\w.])${ONE}(?![\\w.])`, "g");
const MIXED = new Set(["interval", "below", "above", "places"]); // gaps that hold numbers among words; others may hold answers
const NUMBER = /^-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?$/;

/** What fills the gaps of texts in a language: {name} by its value, {name|one:…|other:…} by the form that the number has there. */
export function filler(lang) {
  const plural = new Intl.PluralRules(lang), numbers = new Intl.NumberFormat(lang, { maximumFractionDigits: 8 });
  const shown = (value) => (typeof value === "number" ? numbers.format(value) : String(value));
  const formed = (number, branches) => {
    const forms = Object.fromEntries(branches.split("|").map((each) => [each.slice(0, each.indexOf(":")), each.slice(each.indexOf(":") + 1)]));
    return (forms[plural.select(number)] ?? forms.other).replaceAll("#", shown(number));
  };
  return (text, values) => text.replace(GAP, (_, name, branches) => (branches ? formed(values[name], branches) : shown(values[name])));
}

/** Numbers of the English form in that of a language, with as many digits. */
function restated(lang) {
  return (text) => {
    if (!NUMBER.test(text)) return text;
    const number = Number(text.replaceAll(",", "")), fraction = /\.(\d+)/.exec(text)?.[1].length ?? 0;
    return text.includes("e") ? text : number.toLocaleString(lang, { minimumFractionDigits: fraction, maximumFractionDigits: fraction, useGrouping: text.includes(",") });
  };
}

const exactly = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** What recognizes English sentences by `rows` of [English, text in this language], one after the other; null for what it does not know. */
export function listener(rows, lang, range) {
  const fill = filler(lang), restate = restated(lang);
  const known = rows.map(([english, text]) => {
    const names = [...english.matchAll(GAP)].map(([, name]) => name);
    const pattern = english.split(GAP).filter((_, place) => place % 3 === 0).map(exactly).join("(.+?)");
    return { names, text, pattern: new RegExp(`^${pattern}(?: (?=\\S)|$)`, "s") };
  });
  const between = (_, low, unit = "", high) => fill(range, { low: low + unit, high });
  const value = (name, text) => (NUMBER.test(text) ? restate(text) : MIXED.has(name) ? text.replace(RANGE, between).replace(MEASURED, restate) : text);
  return (said) => {
    if (NUMBER.test(said)) return restate(said);
    const found = [];
    for (let rest = said; rest; ) {
      const row = known.find(({ pattern }) => pattern.test(rest));
      if (!row) return null;
      const [all, ...values] = row.pattern.exec(rest);
      found.push(fill(row.text, Object.fromEntries(row.names.map((name, place) => [name, value(name, values[place])]))));
      rest = rest.slice(all.length);
    }
    return found.join(" ");
  };
}
