/** Questions over time on the results page: a line with a band for each answer, and marks where a change is larger than noise. */

import { asNumber, asPercent, cut, measured, named, ticks } from "./chart.js";
import { el, svg } from "./dom.js";
import { lang, phrase, place as where } from "./texts.js";
import { digits, fixed, level, range } from "./words.js";

const PANEL = 112, TOP = 20, LEFT = 52, RIGHT = 14, AXIS = 22;
const NARROW = 420, LETTER = 7.5; // below this width texts begin at the edge; about so wide is a letter
const margin = (width) => (width < NARROW ? 0 : LEFT);

const day = (seconds) => new Date(1000 * seconds).toLocaleDateString(where, { dateStyle: "medium" });

/** One panel: what was estimated in each period as dots, the smoothed line, and its band. */
function panel({ answer, raw, value, low, high }, top, width, { periods, measure, changes }) {
  const share = measure === "share", bottom = top + PANEL - 14;
  const ends = [Math.min(...low, ...raw), Math.max(...high, ...raw)], room = Math.max((ends[1] - ends[0]) * 0.06, 1e-9);
  const axis = [ends[0] - room, ends[1] + room], first = periods[0], last = periods[periods.length - 1];
  const x = (period) => LEFT + ((period - first) / Math.max(last - first, 1)) * (width - LEFT - RIGHT);
  const y = (at) => bottom - ((at - axis[0]) / (axis[1] - axis[0])) * (bottom - top - TOP);
  const path = (column) => periods.map((period, place) => `${x(period).toFixed(1)} ${y(column[place]).toFixed(1)}`);
  const grid = ticks(...axis, 3).flatMap((mark) => [
    svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(mark), y2: y(mark) }),
    svg("text", { class: "faint", x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end" }, share ? phrase("percent", { number: digits(100 * mark, 3) }) : digits(mark, 4)),
  ]);
  const dots = path(raw).map((at) => `M${at}h.01`).join("");
  const marks = changes.filter((each) => each.answer === answer).map((each) =>
    svg("line", { class: "change", x1: x(each.since), x2: x(each.since), y1: top + TOP, y2: bottom }, svg("title", {}, described(each, measure))));
  const [now, least, most] = [value, low, high].map((column) => column[column.length - 1]);
  const said = (what) => phrase("trend_now", { what, value: (share ? asPercent : asNumber)(now), low: share ? fixed(100 * least, 1) : asNumber(least), high: share ? fixed(100 * most, 1) : asNumber(most) });
  const letters = Math.floor((width - margin(width)) / LETTER) - said("").length;
  return [grid, svg("path", { class: "band", d: `M${[...path(high), ...path(low).reverse()].join("L")}Z` }), svg("path", { class: "points", d: dots }),
    svg("path", { class: "line", d: `M${path(value).join("L")}` }), marks, svg("text", { x: margin(width), y: top + 13 }, said(cut(share ? named(answer) : measured(measure), Math.max(letters, 4))))];
}

/** A change in words. */
function described({ answer, begins, since, difference, low, high }, measure) {
  const size = (at) => (measure === "share" ? phrase("trend_points", { number: digits(100 * Math.abs(at), 2) }) : digits(Math.abs(at), 3));
  const [least, most] = [low, high].map(Math.abs).sort((a, b) => a - b).map((at) => (measure === "share" ? digits(100 * at, 2) : digits(at, 3)));
  const what = measure === "share" ? named(answer) : phrase("trend_mean");
  const said = { what, size: size(difference), least, most, period: since, when: begins === null ? "" : day(begins) };
  return phrase(difference > 0 ? (begins === null ? "rose_in" : "rose_on") : begins === null ? "fell_in" : "fell_on", said);
}

/** The drawing of a question, and in words what changed. */
export function timeline(found, width, confidence) {
  const { lines, periods, begins, changes } = found, height = lines.length * PANEL + AXIS;
  const title = phrase("over_periods", { ask: found.ask, periods: periods.length, changes: changes.map((each) => described(each, found.measure)).join(" ") });
  const axis = [0, periods.length - 1].map((place) => svg("text", { class: "faint", x: place ? width - RIGHT : margin(width), y: height - 6, "text-anchor": place ? "end" : "start" }, begins[place] === null ? phrase("period", { number: periods[place] }) : day(begins[place])));
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title }, lines.flatMap((line, place) => panel(line, place * PANEL, width, found)), axis);
  const said = changes.length ? el("ul", { class: "changes" }, changes.map((each) => el("li", {}, described(each, found.measure)))) : el("p", { class: "changes" }, phrase("no_change"));
  return [chart, el("p", { class: "small soft" }, phrase("trend_legend", { confidence: level(confidence), rate: found.false_alarms })), said, found.weekdays && weekdays(found)].filter(Boolean);
}

const ENGLISH = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]; // as the collector names them

/** The name of a day of the week; 5 January 1970 was a Monday. */
function weekday(day) {
  const number = ENGLISH.indexOf(day);
  return number < 0 ? day : new Date(Date.UTC(1970, 0, 5 + number)).toLocaleDateString(lang, { weekday: "long", timeZone: "UTC" });
}

function weekdays({ weekdays: days, weekdays_of: what, measure }) {
  const size = (at) => (measure === "share" ? `${at > 0 ? "+" : ""}${fixed(100 * at, 1)}` : digits(at, 3));
  return el("details", {}, el("summary", {}, phrase("weekdays", { what: measure === "share" ? named(what) : measured(what) })), el("table", {}, el("caption", {}, phrase("weekdays_caption")),
    el("tbody", {}, days.map((each) => el("tr", {}, el("th", { scope: "row" }, weekday(each.day)), el("td", { class: "n" }, size(each.value)), el("td", { class: "n" }, range(size(each.low), size(each.high))))))));
}
