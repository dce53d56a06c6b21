/** Tables of questions on the results page: shaded cells, with what is too noisy to say in grey. */

import { asPercent, named } from "./chart.js";
import { el } from "./dom.js";
import { heard, joined, lang, phrase } from "./texts.js";
import { fixed, level } from "./words.js";

const either = new Intl.ListFormat(lang === "en" ? "en-GB" : lang, { type: "disjunction" });
const counted = (reports) => phrase("reports", { reports });

/** The card of a table that the survey asks for; `asked` are all questions. */
export function relation(wanted, asked) {
  const questions = wanted.questions.map((id) => asked.find((each) => each.id === id));
  const title = wanted.title || questions.map((each) => each.ask).join(" / ");
  const count = el("span", { class: "count" }, counted(0)), body = el("div", { class: "relation" }, el("p", {}, phrase("loading")));
  const id = `t-${wanted.questions.join("-")}`;
  const element = el("section", { class: "card", "aria-labelledby": id }, el("div", { class: "head" }, el("h2", { id }, title), count), body);
  return { questions, title, element, count, body };
}

/** Show what has come in. */
export function relate(each, found, { minimum_reports, confidence }) {
  each.count.textContent = counted(found.reports);
  if (found.hidden) {
    each.body.replaceChildren(el("div", { class: "veil" }, el("p", {}, phrase("hidden", { minimum: minimum_reports, reports: found.reports }))));
    return;
  }
  const [rows, columns] = found.labels.slice(-2), panels = found.labels.length === 3 ? found.labels[0] : [null];
  const most = Math.max(...found.cells.map((cell) => cell.cleaned)), size = rows.length * columns.length;
  const grids = panels.map((panel, place) => grid(each, panel, rows, columns, found.cells.slice(place * size, (place + 1) * size), most));
  const noisy = found.cells.filter((cell) => cell.noisy).length;
  const unsure = noisy > 0 && phrase("grey_cells", { count: noisy });
  each.body.replaceChildren(...grids, ...[
    el("p", { class: "legend" }, el("span", {}, el("span", { class: "key shade" }), phrase("shade_key")), noisy > 0 && el("span", {}, el("span", { class: "key noise" }), phrase("key_zero"))),
    unsure && el("p", {}, unsure), el("p", {}, verdict(found)),
    el("p", { class: "small soft" }, phrase("table_note", { confidence: level(confidence) })),
  ].filter(Boolean));
}

function grid(each, panel, rows, columns, cells, most) {
  const [down, across] = each.questions.slice(-2);
  const caption = phrase(panel === null ? "table_caption" : "panel_caption", { question: each.questions[0].id, answer: panel, down: down.id, across: across.id });
  const head = el("tr", {}, el("td"), columns.map((name) => el("th", { scope: "col" }, named(name))));
  const body = rows.map((name, row) => el("tr", {}, el("th", { scope: "row" }, named(name)), columns.map((_, column) => box(cells[row * columns.length + column], most))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": phrase("table_label", { title: each.title }) },
    el("table", { class: "shaded" }, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body)));
}

/** The cells of a map, the north above: shares with their intervals, as a table that can be read cell by cell. */
export function cells(rows, title) {
  const parts = rows.map(({ label }) => label.split(", ")), [south, west] = [0, 1].map((axis) => [...new Set(parts.map((part) => part[axis]))]);
  const most = Math.max(...rows.map((row) => row.cleaned), 1e-9), of = (row, column) => rows[row * west.length + column];
  const said = (row) => phrase("cell_said", { label: row.label.split(", ").map((part) => named(part)).join(", "), share: asPercent(row.value), low: asPercent(row.low), high: asPercent(row.high) });
  const drawn = (row) => {
    const found = box({ ...row, noisy: row.low <= 0 }, most);
    found.title = said(row);
    found.setAttribute("aria-label", said(row));
    return found;
  };
  const head = el("tr", {}, el("td"), west.map((name) => el("th", { scope: "col" }, named(name))));
  const body = south.map((name, row) => el("tr", {}, el("th", { scope: "row" }, named(name)), west.map((_, column) => drawn(of(row, column))))).reverse();
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": phrase("map_label", { title }) },
    el("table", { class: "shaded map-cells" }, el("caption", {}, phrase("map_caption")), el("thead", {}, head), el("tbody", {}, body)));
}

function box(cell, most) {
  const found = el("td", { class: cell.noisy ? "n noise" : "n" }, el("b", {}, asPercent(cell.value)), el("span", { class: "small" }, `± ${fixed(50 * (cell.high - cell.low), 1)}`));
  if (!cell.noisy) found.style.setProperty("--shade", `${Math.round((70 * cell.cleaned) / most)}%`);
  return found;
}

/** Whether the questions depend on each other, in a sentence. */
function verdict({ test, trouble }) {
  if (!test) return joined(phrase("verdict_unknown"), heard(trouble));
  const p = test.p_value < 0.001 ? `p < ${fixed(0.001, 3)}` : `p = ${fixed(test.p_value, 3)}`;
  const numbers = phrase("verdict_numbers", { p, effect: fixed(test.effect, 2) });
  const left = test.without.length > 0 && phrase("verdict_skipped", { questions: either.format(test.without) });
  return joined(phrase(test.p_value < 0.05 ? "verdict_depends" : "verdict_open", { numbers }), left);
}
