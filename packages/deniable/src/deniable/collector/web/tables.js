/** Tables of questions on the results page: shaded cells, with what is too noisy to say in grey. */

import { asPercent } from "./chart.js";
import { el } from "./dom.js";
import { whole } from "./words.js";

const counted = (reports) => `${whole(reports)} report${reports === 1 ? "" : "s"}`;

/** The card of a table that the survey asks for; `asked` are all questions. */
export function relation(wanted, asked) {
  const questions = wanted.questions.map((id) => asked.find((each) => each.id === id));
  const title = wanted.title || questions.map((each) => each.ask).join(" / ");
  const count = el("span", { class: "count" }, "0 reports"), body = el("div", { class: "relation" }, el("p", {}, "Loading."));
  const id = `t-${wanted.questions.join("-")}`;
  const element = el("section", { class: "card", "aria-labelledby": id }, el("div", { class: "head" }, el("h2", { id }, title), count), body);
  return { questions, title, element, count, body };
}

/** Show what has come in. */
export function relate(each, found, { minimum_reports, confidence }) {
  each.count.textContent = counted(found.reports);
  if (found.hidden) {
    each.body.replaceChildren(el("div", { class: "veil" }, el("p", {}, `Hidden below ${counted(minimum_reports)}; so far there ${found.reports === 1 ? "is 1" : `are ${whole(found.reports)}`}. Estimates from fewer would be mostly noise.`)));
    return;
  }
  const [rows, columns] = found.labels.slice(-2), panels = found.labels.length === 3 ? found.labels[0] : [null];
  const most = Math.max(...found.cells.map((cell) => cell.cleaned)), size = rows.length * columns.length;
  const grids = panels.map((panel, place) => grid(each, panel, rows, columns, found.cells.slice(place * size, (place + 1) * size), most));
  const noisy = found.cells.filter((cell) => cell.noisy).length;
  const unsure = noisy > 0 && `${noisy === 1 ? "1 grey cell is" : `${noisy} grey cells are`} too noisy to say: the share may be zero. More reports are needed for ${noisy === 1 ? "it" : "them"}.`;
  each.body.replaceChildren(...grids, ...[
    el("p", { class: "legend" }, el("span", {}, el("span", { class: "key shade" }), "share of all people: the darker, the larger"), noisy > 0 && el("span", {}, el("span", { class: "key noise" }), "may be zero")),
    unsure && el("p", {}, unsure), el("p", {}, verdict(found)),
    el("p", { class: "small soft" }, `The ${100 * confidence} % interval reaches so many percentage points (±) to either side. Raw estimates are unbiased, so they may lie below zero.`),
  ].filter(Boolean));
}

function grid(each, panel, rows, columns, cells, most) {
  const [down, across] = each.questions.slice(-2);
  const caption = panel === null ? `${down.id} in rows, ${across.id} in columns` : `${each.questions[0].id}: ${panel}. ${down.id} in rows, ${across.id} in columns`;
  const head = el("tr", {}, el("td"), columns.map((name) => el("th", { scope: "col" }, name)));
  const body = rows.map((name, row) => el("tr", {}, el("th", { scope: "row" }, name), columns.map((_, column) => box(cells[row * columns.length + column], most))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${each.title}` },
    el("table", { class: "shaded" }, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body)));
}

/** The cells of a map, the north above: shares with their intervals, as a table that can be read cell by cell. */
export function cells(rows, title) {
  const parts = rows.map(({ label }) => label.split(", ")), [south, west] = [0, 1].map((axis) => [...new Set(parts.map((part) => part[axis]))]);
  const most = Math.max(...rows.map((row) => row.cleaned), 1e-9), of = (row, column) => rows[row * west.length + column];
  const said = (row) => `${row.label}: ${asPercent(row.value)}, interval ${asPercent(row.low)} to ${asPercent(row.high)}`;
  const drawn = (row) => {
    const found = box({ ...row, noisy: row.low <= 0 }, most);
    found.title = said(row);
    found.setAttribute("aria-label", said(row));
    return found;
  };
  const head = el("tr", {}, el("td"), west.map((name) => el("th", { scope: "col" }, name)));
  const body = south.map((name, row) => el("tr", {}, el("th", { scope: "row" }, name), west.map((_, column) => drawn(of(row, column))))).reverse();
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Map: ${title}` },
    el("table", { class: "shaded map-cells" }, el("caption", {}, "Latitudes in rows, longitudes in columns; grey cells may be empty"), el("thead", {}, head), el("tbody", {}, body)));
}

function box(cell, most) {
  const found = el("td", { class: cell.noisy ? "n noise" : "n" }, el("b", {}, asPercent(cell.value)), el("span", { class: "small" }, `± ${(50 * (cell.high - cell.low)).toFixed(1)}`));
  if (!cell.noisy) found.style.setProperty("--shade", `${Math.round((70 * cell.cleaned) / most)}%`);
  return found;
}

/** Whether the questions depend on each other, in a sentence. */
function verdict({ test, trouble }) {
  if (!test) return `Whether these questions depend on each other cannot be said yet. ${trouble}`;
  const p = test.p_value < 0.001 ? "p < 0.001" : `p = ${test.p_value.toFixed(3)}`;
  const left = test.without.length > 0 ? ` People who skipped ${test.without.join(" or ")} are left out of this.` : "";
  const numbers = `(${p}, Cramér’s V ${test.effect.toFixed(2)}, corrected for the noise)`;
  if (test.p_value < 0.05) return `The answers depend on each other ${numbers}.${left}`;
  return `Whether the answers depend on each other cannot be said: the data do not contradict independence ${numbers}.${left}`;
}
