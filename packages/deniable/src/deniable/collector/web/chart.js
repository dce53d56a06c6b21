/** Charts as drawings of known size, so that nothing moves when numbers arrive. A row is { label, value, low, high, cleaned }. */

import { svg } from "./dom.js";
import { projected } from "./questions.js";
import { lang, phrase } from "./texts.js";
import { digits, fixed, percent, range as ranged, whole } from "./words.js";

const TOP = 8, AXIS = 26, ROW = 34, TALL = 50, COLUMNS = 230;

const narrow = (width) => width < 560;

/** How high each chart is, before there are numbers. */
export const heights = {
  bars: (rows, width) => TOP + rows * (narrow(width) ? TALL : ROW) + AXIS,
  dots: (rows, width) => TOP + rows * (narrow(width) ? TALL : ROW) + AXIS,
  columns: () => COLUMNS,
  histogram: () => COLUMNS,
  curve: () => COLUMNS,
  places: (_, width) => Math.round(Math.min(460, Math.max(260, width * 0.6))),
  lines: () => COLUMNS,
  cells: (rows) => 112 + rows * 58,
};

/** About so many round numbers between two ends. */
export function ticks(low, high, most) {
  const rough = (high - low) / most;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((each) => each >= rough);
  const found = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) found.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
  return found;
}

/** The range of an axis: all intervals, but no further than `widest`. */
function range(rows, widest, base) {
  const lows = rows.map((row) => row.low ?? row.value), highs = rows.map((row) => row.high ?? row.value);
  const low = Math.max(Math.min(...base, ...lows), widest[0]), high = Math.min(Math.max(...base, ...highs), widest[1]);
  return high > low ? [low, high] : [low, low + 1];
}

const linear = ([low, high], [start, stop]) => (value) => start + ((Math.min(Math.max(value, low), high) - low) / (high - low)) * (stop - start);

export const asPercent = (value) => percent(value, 1);
const tickPercent = (value) => phrase("percent", { number: digits(100 * value, 3) });
export const asNumber = (value) => digits(value, 4);

const MEASURES = ["share", "mean", "mean value", "median", "lower quartile", "upper quartile"];

/** What the collector calls a number, in the language of the page. */
export function measured(name) {
  const quantile = /^quantile ([\d.]+)$/.exec(name);
  if (quantile) return phrase("measure_quantile", { share: Number(quantile[1]) });
  return MEASURES.includes(name) ? phrase(`measure_${name.replaceAll(" ", "_")}`) : name;
}

const SPAN = /^(-?[\d.]+(?:e[+-]?\d+)?) to (-?[\d.]+(?:e[+-]?\d+)?)$/;

/** The name of an answer as charts show it: what the collector calls ranges, skipped answers and the rest is translated. */
export function named(label, others = 0) {
  if (lang === "en") return label;
  if (others) return phrase("others", { count: others });
  if (label === "(no answer)") return phrase("no_answer");
  const ends = SPAN.exec(label);
  if (ends) return ranged(Number(ends[1]), Number(ends[2]));
  return /^-?\d+\.\d+$/.test(label) ? digits(Number(label), 8) : label;
}

const said = (row) => ({ ...row, label: named(row.label, row.others) });

// Capital M and W, East Asian characters and pictures take the room of two letters.
const WIDE = /[MW@\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff01-\uff60]|[^\0-\uffff]/u;
const space = (letters) => letters.reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

/** A text in the room of so many letters. */
export function cut(text, most) {
  const letters = [...text];
  if (space(letters) <= most) return text;
  while (letters.length > 1 && space(letters) > most - 1) letters.pop();
  return `${letters.join("")}…`;
}

/** A text around a place, moved as far as it takes to stay in the chart. */
function around(text, x, y, width, attributes = { class: "faint" }) {
  const half = 4 * space([...text]) + 2;
  return svg("text", { ...attributes, x: Math.max(Math.min(x, width - half), half), y, "text-anchor": "middle" }, text);
}

function frame(width, height, title, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title }, ...children);
}

/** Rows one below the other: bars from zero, or dots on a range, each with its interval and the cleaned value. */
function across(found, width, title, { kind, format, reached, tick, widest, base }) {
  const rows = found.map(said), small = narrow(width), step = small ? TALL : ROW, height = heights.bars(rows.length, width);
  const left = small ? 18 : Math.min(190, Math.max(90, 8 * Math.max(...rows.map((row) => space([...row.label]))))) + 14;
  const right = width - (small ? 20 : 132), bottom = height - AXIS;
  const axis = range(rows, widest, base), x = linear(axis, [left, right]);
  const grid = ticks(...axis, small ? 4 : 6).flatMap((mark) => [
    svg("line", { class: mark === 0 ? "zero" : "grid", x1: x(mark), x2: x(mark), y1: TOP, y2: bottom }),
    around(tick(mark), x(mark), height - 8, width),
  ]);
  const marks = rows.flatMap((row, place) => {
    const top = TOP + place * step, middle = top + (small ? 36 : ROW / 2), thick = small ? 16 : 20;
    const reach = row.low === null || row.high === null ? "" : ` ± ${reached((row.high - row.low) / 2)}`;
    const text = row.others ? phrase("largest", { value: format(row.value) }) : `${format(row.value)}${reach}`, zero = x(Math.max(0, axis[0]));
    return [
      kind === "bars" && svg("rect", { class: row.noisy || row.others ? "raw noise" : "raw", x: Math.min(zero, x(row.value)), y: middle - thick / 2, width: Math.abs(x(row.value) - zero), height: thick, rx: 2 }),
      row.low !== null && row.high !== null && svg("path", { class: "whisker", d: `M${x(row.low)} ${middle}H${x(row.high)}M${x(row.low)} ${middle - 5}v10M${x(row.high)} ${middle - 5}v10` }),
      kind === "dots" && svg("circle", { class: "dot", cx: x(row.value), cy: middle, r: 6 }),
      row.cleaned !== null && row.cleaned !== undefined && svg("path", { class: "clean", d: `M${x(row.cleaned)} ${middle - thick / 2 - 2}v${thick + 4}` }),
      svg("text", small ? { x: 6, y: top + 20 } : { x: left - 12, y: middle + 4.5, "text-anchor": "end" }, cut(row.label, small ? Math.floor((width - 120) / 7.5) : 24)),
      svg("text", { class: row.noisy || row.others ? "faint" : "", x: width - 4, y: small ? top + 20 : middle + 4.5, "text-anchor": "end" }, text),
    ];
  });
  return frame(width, height, title, grid, marks.filter(Boolean));
}

export const bars = (rows, width, title) =>
  across(rows, width, title, { kind: "bars", format: asPercent, reached: (reach) => fixed(100 * reach, 1), tick: tickPercent, widest: [-1, 2], base: [0, 0.05] });

export function dots(rows, width, title, [low, high]) {
  const room = high - low;
  return across(rows, width, title, { kind: "dots", format: asNumber, reached: (reach) => digits(reach, 2), tick: (mark) => digits(mark, 4), widest: [low - room, high + room], base: [low, high] });
}

/** Columns side by side, for answers that have an order. */
export function columns(found, width, title) {
  const rows = found.map(said), height = COLUMNS, left = 48, bottom = height - AXIS;
  const axis = range(rows, [-1, 2], [0, 0.05]), y = linear(axis, [bottom, TOP + 6]);
  const step = (width - left - 6) / rows.length, thick = Math.max(2, Math.min(46, step * 0.72));
  const every = Math.ceil((rows.length * Math.min(60, 9 * Math.max(...rows.map((row) => space([...row.label]))) + 8)) / (width - left));
  const grid = ticks(...axis, 4).flatMap((mark) => [
    svg("line", { class: mark === 0 ? "zero" : "grid", x1: left, x2: width, y1: y(mark), y2: y(mark) }),
    svg("text", { class: "faint", x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, tickPercent(mark)),
  ]);
  const zero = y(Math.max(0, axis[0]));
  const marks = rows.flatMap((row, place) => {
    const x = left + (place + 0.5) * step, cap = Math.min(5, thick / 2);
    return [
      svg("rect", { class: row.noisy ? "raw noise" : "raw", x: x - thick / 2, y: Math.min(zero, y(row.value)), width: thick, height: Math.abs(y(row.value) - zero), rx: 2 },
        svg("title", {}, `${row.label}: ${asPercent(row.value)}`)),
      row.low !== null && row.high !== null && svg("path", { class: "whisker", d: `M${x} ${y(row.low)}V${y(row.high)}M${x - cap} ${y(row.low)}h${2 * cap}M${x - cap} ${y(row.high)}h${2 * cap}` }),
      row.cleaned !== null && svg("path", { class: "clean", d: `M${x - thick / 2 - 1} ${y(row.cleaned)}h${thick + 2}` }),
      place % every === 0 && around(cut(row.label, 10), x, height - 8, width, {}),
    ];
  });
  return frame(width, height, title, grid, marks.filter(Boolean));
}

const LEFT = 48, RIGHT = 14; // beside charts that have an axis of shares

function sideAxis(axis, width, height) {
  const bottom = height - AXIS, y = linear(axis, [bottom, TOP + 6]);
  const grid = ticks(...axis, 4).flatMap((mark) => [
    svg("line", { class: mark === 0 ? "zero" : "grid", x1: LEFT, x2: width - RIGHT, y1: y(mark), y2: y(mark) }),
    svg("text", { class: "faint", x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end" }, tickPercent(mark)),
  ]);
  return { y, grid };
}

/** Bins side by side, in order: the fitted shares, and a band from the lower to the upper ends of the intervals. */
export function histogram(rows, width, title) {
  const { y, grid } = sideAxis(range([...rows, ...rows.map(({ cleaned }) => ({ value: cleaned }))], [0, 1], [0, 0.05]), width, COLUMNS);
  const step = (width - LEFT - RIGHT) / rows.length, x = (place) => LEFT + place * step;
  const ends = rows.map(({ label }) => label.match(/^(-?[\d.e+]+) to (-?[\d.e+]+)$/)), numbers = ends.every(Boolean) && ends.every((end, place) => !place || end[1] === ends[place - 1][2]);
  const names = numbers ? [...ends.map((end) => end[1]), ends[ends.length - 1][2]].map((end) => digits(Number(end), 7)) : rows.map(({ label }) => named(label));
  const long = Math.max(...names.map((name) => Math.min(name.length, 10))), moved = Math.max(0, 4 * long + 2 - RIGHT); // the last one, to stay inside
  const every = Math.ceil((names.length * (8 * long + 10 + moved)) / (width - LEFT - RIGHT));
  const marks = rows.flatMap((row, place) => [
    svg("rect", { class: "raw", x: x(place) + 0.5, y: y(row.cleaned), width: step - 1, height: Math.max(y(0) - y(row.cleaned), 0) }, svg("title", {}, `${named(row.label)}: ${asPercent(row.cleaned)} (${ranged(asPercent(row.low), asPercent(row.high))})`)),
    svg("rect", { class: "reach", x: x(place), y: y(row.high), width: step, height: Math.max(y(row.low) - y(row.high), 1), "pointer-events": "none" }),
  ]);
  const labels = names.map((name, place) => place % every === 0 && around(cut(name, 10), x(place + (numbers ? 0 : 0.5)), COLUMNS - 8, width));
  return frame(width, COLUMNS, title, grid, marks, labels.filter(Boolean));
}

/** The share of people up to each number, with the band that holds everywhere at once, and the numbers that quarters of them do not exceed. */
export function curve(rows, width, title, [low, high], quartiles) {
  const { y, grid } = sideAxis([0, 1], width, COLUMNS), x = linear([low, high], [LEFT, width - RIGHT]);
  const path = (value, ends) => [[low, ends[0]], ...rows.map((row) => [Number(row.label), value(row)]), [high, ends[1]]].map(([at, share]) => `${x(at)} ${y(share)}`);
  const upper = path((row) => row.high, [rows[0].high, 1]), lower = path((row) => row.low, [0, 1]).reverse();
  const marks = ticks(low, high, narrow(width) ? 4 : 8).map((mark) => around(digits(mark, 4), x(mark), COLUMNS - 8, width));
  const lines = quartiles.map(({ measure, value }) => svg("line", { class: measure === "median" ? "median" : "quartile", x1: x(value), x2: x(value), y1: y(1), y2: y(0) }, svg("title", {}, `${measured(measure)} ${asNumber(value)}`)));
  return frame(width, COLUMNS, title, grid, marks, svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }), lines, svg("path", { class: "line", d: `M${path((row) => row.cleaned, [0, 1]).join("L")}` }));
}

/** Places where they lie: the area is the cleaned share, the dashed ring the upper end of the interval. */
export function places(found, width, title, points) {
  const rows = found.map(said), height = heights.places(0, width), top = Math.max(...rows.map((row) => row.high ?? row.value), 0.05);
  const room = Math.min(width, height) / 7, radius = (share) => room * Math.sqrt(Math.max(share, 0) / top);
  const grid = [1, 2, 3].flatMap((line) => [
    svg("line", { class: "grid", x1: (line * width) / 4, x2: (line * width) / 4, y1: 0, y2: height }),
    svg("line", { class: "grid", x1: 0, x2: width, y1: (line * height) / 4, y2: (line * height) / 4 }),
  ]);
  const spots = projected(points, width, height, room + 16);
  const named = rows.length <= 12 ? rows.length : 6; // labels would cover each other
  const largest = new Set([...rows.keys()].sort((a, b) => rows[b].value - rows[a].value).slice(0, named));
  const circles = rows.flatMap((row, place) => {
    const [cx, cy] = spots[place], size = Math.max(radius(row.cleaned ?? row.value), 2.5);
    return [
      svg("circle", { class: "place", cx, cy, r: size }, svg("title", {}, `${row.label} ${asPercent(row.value)}`)),
      row.high !== null && svg("circle", { class: "ring", cx, cy, r: Math.max(radius(row.high), 2.5) }),
    ];
  });
  const labels = [...largest].map((place) => {
    const row = rows[place], [x, y] = spots[place], near = x < 90 ? "start" : x > width - 90 ? "end" : "middle";
    const at = { start: 6, middle: x, end: width - 6 }[near];
    return svg("text", { x: at, y: Math.max(14, y - radius(row.high ?? row.value) - 5), "text-anchor": near }, `${row.label} ${asPercent(row.value)}`);
  });
  return frame(width, height, title, grid, circles.filter(Boolean), labels); // names above all circles
}

/** A line that settles, with its band, and the truth: points are [x, value, reach]. */
export function lines(points, width, title, { truth, last, unit }) {
  const height = COLUMNS, left = 52, bottom = height - AXIS;
  const x = (n) => left + (Math.log10(Math.max(n, 1)) / Math.log10(last)) * (width - left - 16);
  const axis = [Math.min(-0.5, truth - 1), Math.max(1.5, truth + 1)], y = linear(axis, [bottom, TOP]);
  const marks = ticks(...axis, 5).flatMap((mark) => [
    svg("line", { class: mark === 0 ? "zero" : "grid", x1: left, x2: width, y1: y(mark), y2: y(mark) }),
    svg("text", { class: "faint", x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, tickPercent(mark)),
  ]);
  for (let n = 1; n <= last; n *= 10) marks.push(svg("text", { class: "faint", x: x(n), y: height - 8, "text-anchor": n === last ? "end" : "middle" }, `${whole(n)}${n === last ? ` ${unit}` : ""}`));
  const upper = points.map(([n, value, reach]) => `${x(n)} ${y(value + reach)}`), lower = points.map(([n, value, reach]) => `${x(n)} ${y(value - reach)}`).reverse();
  return frame(width, height, title, marks,
    points.length > 1 && svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }),
    svg("path", { class: "truth", d: `M${left} ${y(truth)}H${width}` }),
    points.length > 1 && svg("path", { class: "line", d: `M${points.map(([n, value]) => `${x(n)} ${y(value)}`).join("L")}` }));
}

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity", "font-size", "font-family"];

/** The chart as a picture, with a title above and a note below. */
export async function picture(chart, title, note) {
  const { width, height } = chart.viewBox.baseVal, paint = getComputedStyle(chart.closest(".card")), above = 40, below = 28;
  const copy = chart.cloneNode(true);
  const from = [...chart.querySelectorAll("*")], to = [...copy.querySelectorAll("*")];
  from.forEach((element, place) => {
    const style = getComputedStyle(element);
    for (const name of PAINT) to[place].setAttribute(name, style.getPropertyValue(name));
  });
  const said = { fill: paint.color, "font-family": paint.fontFamily };
  const whole = svg("svg", { width, height: height + above + below, viewBox: `0 ${-above} ${width} ${height + above + below}` },
    svg("rect", { x: 0, y: -above, width, height: height + above + below, fill: paint.backgroundColor }),
    svg("text", { x: 8, y: -14, "font-size": 17, "font-weight": 600, ...said }, cut(title, Math.floor(width / 8.6))),
    [...copy.childNodes],
    svg("text", { x: 8, y: height + 19, "font-size": 12, ...said }, note));
  whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    await new Promise((done, failed) => Object.assign(image, { onload: done, onerror: () => failed(new Error("no picture")), src: address }));
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * (height + above + below) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
