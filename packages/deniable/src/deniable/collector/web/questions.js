/** The kinds of questions, one entry of `KINDS` each: the control that asks it, and the charts that show its results. */

import { byId, el, svg } from "./dom.js";
import { heard, joined, lang, phrase } from "./texts.js";
import { digits, listed, quoted } from "./words.js";

const FEW = 8; // choices that are shown one by one
const SCALE = 11; // steps of a scale that are shown side by side
export const MOST = 30; // bars of one chart, as the collector folds them

/** An answer that cannot be taken: what to do about it, and which control it is about. */
export class Wrong extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

/** Whether this page can ask a question. */
export const asks = ({ kind }) => Object.hasOwn(KINDS, kind);

/** The control of a question: `element`, `read()` for the answer, and `describe(answer)` for the answer in words. */
export const control = (question, place) => ({ question, ...KINDS[question.kind].control(question, `q${place}`) });

/** The charts of a question: how each is drawn, which numbers it shows, how many rows. Of an unknown kind: the largest shares. */
export const charts = (question) => KINDS[question.kind]?.charts(question) ?? [ranking(MOST + 1)];

/** Show or clear what is wrong with a control. */
export function mark(control, problem) {
  const { element } = control;
  element.querySelector(".wrong").textContent = problem ? problem.message : "";
  for (const field of element.querySelectorAll("input, select, textarea")) {
    if (field.type !== "radio" && field.type !== "checkbox") field.setAttribute("aria-invalid", String(problem?.field === field.id));
  }
}

// What all have in common

/** A text of the survey, in the language of its title, which may go the other way. */
export const own = (text) => el("bdi", { lang: byId("title").lang || null }, String(text));

const wrongLine = (id) => el("p", { class: "wrong", id: `${id}-wrong` });

function group(question, id, hint, ...children) {
  const described = `${id}-hint ${id}-wrong`;
  return el("div", { class: "card" }, el("fieldset", { id, "aria-describedby": described },
    el("legend", {}, own(question.ask)), el("p", { class: "hint", id: `${id}-hint` }, hint), ...children, wrongLine(id)));
}

function single(question, id, hint, field, ...more) {
  return el("div", { class: "card" },
    el("label", { class: "ask", for: field.id }, own(question.ask)), el("p", { class: "hint", id: `${id}-hint` }, hint), field, ...more, wrongLine(id));
}

export const described = (id) => ({ "aria-describedby": `${id}-hint ${id}-wrong` });

/** Numbers whose thousands are set apart with what is a decimal point elsewhere: 1,500 or 1.500 may mean either. */
const separator = new Intl.NumberFormat(lang).formatToParts(1e6).find(({ type }) => type === "group")?.value;
const GROUPED = [".", ","].includes(separator) ? new RegExp(`^[+-]?\\d{1,3}([${separator}]\\d{3})+$`) : null;

function typed(text, what, field) {
  const number = Number(text.trim().replace(",", "."));
  if (GROUPED?.test(text.trim())) throw new Wrong(phrase("no_thousands", { what, example: text.trim().replace(/[.,]/g, "") }), field);
  if (text.trim() === "" || !Number.isFinite(number)) throw new Wrong(phrase("type_digits", { what, example: 2.5 }), field);
  return number;
}

function within(number, { low, high, clip }, what, field) {
  if (!clip && (number < low || number > high)) throw new Wrong(phrase("type_within", { what, low: digits(low, 6), high: digits(high, 6) }), field);
  return number;
}

// Choices

const protection = (question) => question.sensitive && phrase("protection");

function options(question) {
  return [...question.choices.map((label) => ({ label, value: label })), ...(question.optional ? [{ label: phrase("rather_not"), value: null }] : [])];
}

function tag(question, option) {
  const isProtected = question.sensitive && (option.value === null || question.sensitive.includes(option.value));
  return isProtected && el("span", { class: "tag" }, phrase("protected"));
}

function radios(question, id, style = "choices") {
  const all = options(question);
  const inputs = all.map((_, place) => el("input", { type: "radio", name: id, id: `${id}-${place}`, value: place }));
  const rows = all.map((option, place) =>
    el("label", { class: "choice", for: `${id}-${place}` }, inputs[place], el("span", {}, own(option.label)), tag(question, option)));
  const hint = joined(phrase(question.optional ? "choose_or_skip" : "choose_one_hint"), protection(question));
  return {
    inputs,
    element: group(question, id, hint, el("div", { class: style }, rows)),
    read() {
      const found = inputs.findIndex((input) => input.checked);
      if (found < 0) throw new Wrong(phrase("choose_an_answer", { ask: question.ask }), inputs[0].id);
      return all[found].value;
    },
    describe: (answer) => (answer === null ? phrase("rather_not") : String(answer)),
  };
}

function selection(question, id, ...more) {
  const all = options(question);
  const named = (option) => (tag(question, option) ? phrase("protected_option", { label: option.label }) : String(option.label));
  const field = el("select", { id: `${id}-0`, ...described(id) },
    el("option", { value: "" }, phrase("choose_one")), all.map((option, place) => el("option", { value: place }, named(option))));
  return {
    field,
    element: single(question, id, joined(phrase("one_of", { count: all.length }), protection(question)), field, ...more),
    read() {
      if (field.value === "") throw new Wrong(phrase("choose_an_answer", { ask: question.ask }), field.id);
      return all[Number(field.value)].value;
    },
    describe: (answer) => (answer === null ? phrase("rather_not") : String(answer)),
  };
}

const choice = (question, id) => (options(question).length <= FEW ? radios(question, id) : selection(question, id));

function ordered(question, id) {
  const all = options(question);
  const short = all.every((option) => String(option.label).length <= 3);
  if (all.length <= SCALE && short) return radios(question, id, "scale");
  return choice(question, id);
}

/** Where the points of a map lie in a drawing; a degree of longitude is shorter away from the equator. */
export function projected(points, width, height, margin) {
  const middle = points.reduce((sum, [latitude]) => sum + latitude, 0) / points.length;
  const flat = points.map(([latitude, longitude]) => [longitude * Math.cos((middle * Math.PI) / 180), -latitude]);
  const ends = [0, 1].map((axis) => [Math.min(...flat.map((p) => p[axis])), Math.max(...flat.map((p) => p[axis]))]);
  const room = [width - 2 * margin, height - 2 * margin];
  const scale = Math.min(...[0, 1].map((axis) => room[axis] / Math.max(ends[axis][1] - ends[axis][0], 1e-9)));
  return flat.map((p) => [0, 1].map((axis) => [width, height][axis] / 2 + (p[axis] - (ends[axis][0] + ends[axis][1]) / 2) * scale));
}

/** The names to choose from, and a map on which one can point instead. */
function map(question, id) {
  const few = options(question).length <= FEW;
  const width = 420, height = 260;
  const circles = projected(question.points, width, height, 24).map(([x, y], place) =>
    svg("circle", { cx: x, cy: y, r: few ? 11 : 8, onclick: () => choose(place) }, svg("title", {}, String(question.choices[place]))));
  const picture = svg("svg", { class: "map", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, circles);
  const made = few ? radios(question, id) : selection(question, id, picture);
  if (few) made.element.querySelector(".wrong").before(picture);
  const chosen = () => (few ? made.inputs.findIndex((input) => input.checked) : made.field.value === "" ? -1 : Number(made.field.value));
  const show = () => circles.forEach((circle, place) => circle.classList.toggle("chosen", place === chosen()));
  function choose(place) {
    if (few) made.inputs[place].checked = true;
    else made.field.value = place;
    show();
  }
  made.element.addEventListener("change", show);
  return made;
}

// Numbers

const ends = ({ low, high }) => ({ low: digits(low, 6), high: digits(high, 6) });
const box = (id, more = {}) => el("input", { type: "text", inputmode: "decimal", autocomplete: "off", id, ...more });

function number(question, id) {
  const field = box(`${id}-0`, described(id));
  return {
    element: single(question, id, phrase(question.clip ? "clipped_hint" : "number_hint", ends(question)), field),
    read: () => within(typed(field.value, question.ask, field.id), question, question.ask, field.id),
    describe: (answer) => digits(answer, 8),
  };
}

/** A text, or several, one in each line; below it, what the device will randomize. */
function text(question, id) {
  const { domain } = question.mechanism, several = domain.atMost > 1;
  const used = el("p", { class: "hint", id: `${id}-used`, "aria-live": "polite" }, " ");
  const listen = { "aria-describedby": `${id}-hint ${id}-used ${id}-wrong`, autocomplete: "off", spellcheck: "false", oninput: () => show() };
  const field = several ? el("textarea", { id: `${id}-0`, ...listen }) : el("input", { type: "text", id: `${id}-0`, ...listen });
  const lines = () => (several ? field.value.split("\n").filter((line) => line.trim()) : [field.value]);
  function show() {
    const bytes = new TextEncoder().encode(field.value.trim()).length;
    try {
      const found = lines().map((line) => domain.normalised(line));
      used.textContent = found.length ? phrase("device_uses", { texts: listed(found.map(({ text }) => quoted(text))), bytes: found.map(({ bytes }) => bytes.length).join(", "), most: domain.length }) : " ";
    } catch {
      used.textContent = bytes > domain.length && !several ? phrase("too_long", { bytes, most: domain.length }) : " ";
    }
  }
  const { names } = domain; // in rounds that list candidates
  const hint = phrase(names ? "text_listed_hint" : several ? "texts_hint" : "text_hint", { count: names?.length ?? domain.atMost, most: domain.length });
  return {
    element: single(question, id, hint, field, used),
    read() {
      const found = lines();
      if (!found.some((line) => line.trim())) throw new Wrong(phrase("type_text", { ask: question.ask }), field.id);
      if (found.length > domain.atMost) throw new Wrong(phrase("most_lines", { ask: question.ask, most: domain.atMost, count: found.length }), field.id);
      try {
        const all = found.map((line) => domain.normalised(line).text);
        return several ? all : all[0];
      } catch (error) {
        throw new Wrong(joined(question.ask, heard(error.message)), field.id);
      }
    },
    describe: (answer) => (several ? listed(answer.map(quoted)) : answer),
  };
}

function features(question, id) {
  const hinted = { count: question.dimensions, ...ends(question) };
  if (question.dimensions > 16) {
    const field = el("textarea", { id: `${id}-0`, ...described(id) });
    const read = () => {
      const parts = field.value.trim().split(/[\s;]+/).filter(Boolean);
      if (parts.length !== question.dimensions) throw new Wrong(phrase("type_numbers", { ask: question.ask, count: question.dimensions }), field.id);
      return parts.map((part) => within(typed(part, question.ask, field.id), question, question.ask, field.id));
    };
    return { element: single(question, id, phrase("numbers_spaced", hinted), field), read, describe: (answer) => answer.map((each) => digits(each, 6)).join("  ") };
  }
  const fields = Array.from({ length: question.dimensions }, (_, place) => box(`${id}-${place}`, { "aria-describedby": `${id}-wrong` }));
  const name = (place) => phrase("number_place", { place: place + 1 });
  const cells = fields.map((field, place) => el("div", {}, el("label", { for: field.id }, name(place)), field));
  return {
    element: group(question, id, phrase("numbers_hint", hinted), el("div", { class: "many" }, cells)),
    read: () => fields.map((field, place) => within(typed(field.value, joined(question.ask, name(place)), field.id), question, name(place), field.id)),
    describe: (answer) => answer.map((each) => digits(each, 6)).join("  "),
  };
}

// Several items

function limited(chosen, question, field) {
  if (chosen > question.atMost) throw new Wrong(phrase("choose_most", { ask: question.ask, most: question.atMost, count: chosen }), field);
}

function ratings(question, id) {
  const fields = question.items.map((item, place) => box(`${id}-${place}`, { placeholder: phrase("not_rated"), "aria-describedby": `${id}-hint ${id}-wrong` }));
  const rows = fields.map((field, place) => el("div", { class: "row" }, el("label", { for: field.id }, String(question.items[place])), field));
  return {
    element: group(question, id, phrase("rate_hint", { most: question.atMost, ...ends(question) }), el("div", { class: "rows" }, rows)),
    read() {
      const rated = new Map();
      fields.forEach((field, place) => {
        if (field.value.trim() === "") return;
        const item = question.items[place];
        rated.set(item, within(typed(field.value, String(item), field.id), { ...question, clip: false }, String(item), field.id));
      });
      limited(rated.size, question, fields[0].id);
      return rated;
    },
    describe: (answer) => (answer.size ? listed([...answer].map(([item, value]) => `${quoted(item)} ${digits(value, 6)}`)) : phrase("none_of_them")),
  };
}

function set(question, id) {
  const inputs = question.items.map((item, place) => el("input", { type: "checkbox", id: `${id}-${place}` }));
  const rows = inputs.map((input, place) => el("label", { class: "choice", for: input.id }, input, el("span", {}, String(question.items[place]))));
  return {
    element: group(question, id, phrase("set_hint", { most: question.atMost }), el("div", { class: "choices" }, rows)),
    read() {
      const chosen = question.items.filter((_, place) => inputs[place].checked);
      limited(chosen.length, question, inputs[0].id);
      return chosen;
    },
    describe: (answer) => (answer.length ? listed(answer.map(quoted)) : phrase("none_of_them")),
  };
}

// Charts

const MEAN = { draw: "dots", measure: "mean", rows: 1, named: "mean" };
const columns = (rows) => ({ draw: "columns", measure: "share", rows });
/** The histogram of a distribution, and of numbers the distribution function with its band. */
const spread = ({ choices }) => [{ draw: "histogram", measure: "share", rows: 12, said: true }, ...(choices ? [] : [{ draw: "curve", measure: "share at most", rows: 24, caption: phrase("curve_caption") }])];
const distributed = ({ target }) => target !== undefined && target !== "mean";
const ranking = (count, more = {}) => ({ draw: "bars", measure: "share", rows: Math.min(count, MOST), ranked: count > MOST, ...more });

/** Every kind that these pages ask and show. A new kind is one entry. */
const KINDS = {
  category: { control: choice, charts: ({ choices, optional }) => [ranking(choices.length + (optional ? 1 : 0))] },
  ordered: { control: ordered, charts: (question) => (distributed(question) ? spread(question) : question.choices ? [columns(question.choices.length)] : [columns(question.high - question.low + 1), MEAN]) },
  place: { control: map, charts: ({ places, grid, target }) => [grid ? { draw: "cells", measure: "share", rows: target ? Math.min(grid[0], 8) : grid[0] } : { draw: "places", measure: "share", rows: places.length }] },
  number: { control: number, charts: (question) => (distributed(question) ? spread(question) : question.steps && question.target !== "mean" ? [columns(question.steps + 1), MEAN] : [MEAN]) },
  ratings: { control: ratings, charts: ({ items }) => [
    ranking(items.length, { ranked: true, caption: phrase("rates_caption") }),
    ranking(items.length, { draw: "dots", measure: "mean value", ranked: true, caption: phrase("ratings_caption") })] },
  set: { control: set, charts: ({ items }) => [ranking(items.length, { ranked: true })] },
  text: { control: text, charts: ({ find = 20 }) => [ranking(find, { ranked: true, said: true, sure: true })] },
  friends: { control: (question, id) => question.control(id), charts: () => [ranking(MOST + 1)] }, // people.js
  features: { control: features, charts: ({ dimensions }) => [{ draw: "dots", measure: "mean", rows: Math.min(dimensions, MOST) }] },
};
