/** How a page asks whom people know, and what it says about each round. Loaded only where a survey asks for it. */

import { el } from "./dom.js";
import { Wrong, described, own } from "./questions.js";
import { joined, lang, phrase } from "./texts.js";
import { listed, quoted } from "./words.js";

const SHOWN = 20; // matches of a search
const SENT = ["friends_sent_1", "friends_sent_2", "friends_sent_3"]; // what is said of the report of each round
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase(lang);

/** A box that searches a list of names; `row(place)` is what stands for a match. */
function search(id, label, names, row) {
  const plain = names.map(folded);
  const rows = el("div", { class: "choices" });
  const found = el("p", { class: "hint", id: `${id}-found`, role: "status" });
  const field = el("input", { type: "search", id, autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-found`, oninput: () => show() });
  function show() {
    const words = folded(field.value).split(/\s+/).filter(Boolean);
    const matches = [];
    plain.forEach((name, place) => words.every((word) => name.includes(word)) && matches.push(place));
    rows.replaceChildren(...matches.slice(0, SHOWN).map(row));
    found.textContent = phrase(matches.length > SHOWN ? "friends_more" : "friends_found", { count: matches.length, shown: SHOWN });
  }
  show();
  field.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault()); // which would send the form
  return { field, element: el("div", {}, el("label", { for: id }, label), field, found, rows), show };
}

/** Who somebody is: chosen from names, typed, or known already. */
function myself({ domain, remembered }, id) {
  const { names, hashed, number, size } = domain;
  const known = remembered?.me;
  if (known !== undefined) {
    return { element: el("p", { id: `${id}-me` }, phrase("friends_you", { name: hashed || !names ? known : quoted(names[known]) })), read: () => known };
  }
  if (!names || hashed) {
    const field = el("input", { type: "text", id: `${id}-me`, inputmode: hashed ? "text" : "numeric", autocomplete: "off" });
    const label = hashed ? phrase("friends_name") : phrase("friends_number", { last: size - 1 });
    const read = () => {
      const found = number(hashed ? field.value : /^\d+$/.test(field.value.trim()) ? Number(field.value) : null);
      if (found === undefined) throw new Wrong(phrase("friends_not_you"), field.id);
      return found;
    };
    return { element: el("div", {}, el("label", { for: field.id }, label), field), read };
  }
  let me;
  const row = (place) => {
    const input = el("input", { type: "radio", name: `${id}-me`, id: `${id}-me-${place}`, checked: place === me, onchange: () => { me = place; } });
    return el("label", { class: "choice", for: input.id }, input, el("span", {}, own(names[place])));
  };
  const box = search(`${id}-me`, phrase("friends_name"), names, row);
  const read = () => {
    if (me === undefined) throw new Wrong(phrase("friends_not_you"), box.field.id);
    return me;
  };
  return { element: box.element, read };
}

/** Whom somebody knows, chosen from names. */
function chosenNames({ domain: { names } }, id, known) {
  const chosen = new Set(known);
  const list = el("ul", { class: "chosen", "aria-label": phrase("friends_chosen_list") });
  const count = el("p", { class: "hint", role: "status" });
  const input = (place) => el("input", { type: "checkbox", id: `${id}-${place}`, checked: chosen.has(place), onchange: ({ target }) => turn(place, target.checked) });
  const row = (place) => el("label", { class: "choice", for: `${id}-${place}` }, input(place), el("span", {}, own(names[place])));
  const box = search(`${id}-search`, phrase("friends_search"), names, row);
  function turn(place, isKnown) {
    if (isKnown) chosen.add(place);
    else chosen.delete(place);
    show();
  }
  function show() {
    const remove = (place) => el("button", { type: "button", class: "plain", "aria-label": phrase("friends_remove", { name: names[place] }), onclick: () => { turn(place, false); box.show(); box.field.focus(); } }, "×");
    list.replaceChildren(...[...chosen].sort((a, b) => a - b).map((place) => el("li", {}, own(names[place]), " ", remove(place))));
    count.textContent = phrase("friends_chosen", { count: chosen.size });
  }
  show();
  return { element: el("div", {}, box.element, count, list), read: () => [...chosen], first: box.field.id };
}

/** The same, typed: numbers, or names of which the list has only hashes. */
function typedNames({ domain: { hashed, number, size } }, id, known) {
  const field = el("textarea", { id: `${id}-search`, ...described(id) });
  if (known && !hashed) field.value = known.join(", ");
  const label = hashed ? phrase("friends_names") : phrase("friends_numbers", { last: size - 1 });
  const read = () => {
    const parts = field.value.split(hashed ? /[\n,;]+/ : /[\s,;]+/).map((part) => part.trim()).filter(Boolean);
    if (!parts.length && known && hashed) return known; // what was typed before is kept as numbers
    return parts.map((part) => {
      const found = number(hashed ? part : /^\d+$/.test(part) ? Number(part) : null);
      if (found === undefined) throw new Wrong(phrase("friends_not_member", { name: quoted(part) }), field.id);
      return found;
    });
  };
  const kept = known && hashed && el("p", { class: "hint" }, phrase("friends_kept", { count: known.length }));
  return { element: el("div", {}, el("label", { for: field.id }, label), kept, field), read, first: field.id };
}

/** The control of a question; `question.remembered` is what an earlier round was answered with, or whose link was opened. */
export function people(question, id) {
  const { remembered, mechanism: { domain, number: round } } = question;
  const asked = { domain, remembered };
  const me = myself(asked, id);
  const knows = (domain.names && !domain.hashed ? chosenNames : typedNames)(asked, id, remembered?.knows);
  const hint = joined(phrase("friends_round", { round }), phrase("friends_hint", { count: domain.size }), remembered?.knows && phrase("friends_same"));
  const read = () => {
    const found = { me: me.read(), knows: knows.read() };
    if (found.knows.includes(found.me)) throw new Wrong(phrase("friends_self"), knows.first);
    return found;
  };
  const name = (place) => (domain.names && !domain.hashed ? quoted(domain.names[place]) : String(place));
  const describe = (answer) => (answer.knows.length <= SHOWN && !domain.hashed ? listed(answer.knows.map(name)) || phrase("none_of_them") : phrase("friends_chosen", { count: answer.knows.length }));
  const element = el("div", { class: "card" }, el("fieldset", { id, ...described(id) }, el("legend", {}, own(question.ask)),
    el("p", { class: "hint", id: `${id}-hint` }, hint), me.element, knows.element, el("p", { class: "wrong", id: `${id}-wrong` })));
  return { element, read, describe };
}

const bitsOf = (bytes) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0").split("").reverse().join("")).join("");

/** What a report says, in words. */
export function said(survey, message) {
  const { rounds, round, questions: [{ id }] } = survey;
  const payload = message.subarray(56, -4);
  const { member, number, bytes } = rounds.reading(payload);
  const named = rounds.domain.names && !rounds.domain.hashed ? quoted(rounds.domain.names[member]) : member;
  const text = phrase(SENT[round - 1], { member: named, number: number ?? bytes });
  return [{ question: id, text, bits: bitsOf(payload), disclosed: false }];
}

/** What is and what is not protected, in words. */
export function protection(survey, fold) {
  const { epsilon, needsSecret } = survey;
  return [
    phrase("friends_promise", { fold }),
    phrase("friends_all", { count: 100, epsilon: Number((100 * epsilon).toPrecision(4)) }),
    phrase(needsSecret ? "friends_secret" : "friends_open"),
  ];
}
