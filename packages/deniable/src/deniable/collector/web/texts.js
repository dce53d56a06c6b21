/** The texts of this page in its language: the collector puts them beside the page, so that nothing else need be loaded. */

import { filler, listener } from "./wording.js";

const root = document.documentElement;
const { texts, heard: rows } = JSON.parse(document.getElementById("texts").content.textContent);

/** The language of the page, and in which way people of it write dates where they are. */
export const lang = root.lang;
export const place = navigator.languages?.find((each) => each.split("-")[0] === lang) ?? lang;

/** What links to other pages end in, so that they stay in a language that was asked for. */
export const kept = new URLSearchParams(location.search).get("lang") === lang ? `?lang=${lang}` : "";

const fill = filler(lang);

/** The text with this name, with its gaps filled. */
export function phrase(name, values = {}) {
  if (!Object.hasOwn(texts, name)) throw new Error(`There is no text ${name}.`);
  return fill(texts[name], values);
}

/** The text with this name, if there is one. */
export const known = (name, otherwise) => (Object.hasOwn(texts, name) ? phrase(name) : otherwise);

let listen = listener(rows, lang, texts.range);

/** Fetch a part of the texts that only some surveys need. */
export async function fetchTexts(part, base) {
  const answer = await fetch(`${base}/pages/${part}.${lang}.json`);
  const more = await answer.json();
  Object.assign(texts, more.texts);
  rows.unshift(...more.heard);
  listen = listener(rows, lang, texts.range);
}

/** What the library said in English, in the language of the page; as it was, if the table does not have it. */
export const heard = (said) => (lang === "en" || !said ? said : (listen(said) ?? said));

/** Sentences one after the other. */
export const joined = (...sentences) => sentences.filter(Boolean).join(" ");

// Another language is another address. What follows the # stays in the browser, and may be an invitation.
for (const link of document.querySelectorAll(".languages a")) link.addEventListener("click", () => { link.hash = location.hash; });
