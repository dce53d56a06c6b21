/** The playground: what privacy costs, the certificate, and how an estimate settles. */

import { mechanismFromSpec } from "./deniable.js";
import { estimate, tally as counted } from "./estimate.js";
import { supports } from "./reports.js";
import { bars, heights, lines } from "./chart.js";
import { base, byId, el, say, stage } from "./dom.js";
import { heard, joined, phrase } from "./texts.js";
import { atMost, digits, fixed, fold, inHundred, listed, percent, whole } from "./words.js";

const TIMES = 1000; // reports of one run
const FRAMES = 50;
const MOST = 12; // bars that are shown
const NAMES = {
  direct: "name_direct", "unary, symmetric": "name_unary_symmetric", "unary, optimized": "name_unary_optimized", subset: "name_subset", design: "name_design",
  wheel: "name_wheel", "hashing, binary": "name_hashing_binary", "hashing, optimized": "name_hashing_optimized", hadamard: "name_hadamard",
};

const state = { epsilon: 1, people: 10_000, values: 8, picked: null, options: [], answer: 0, who: "me", run: 0 };
let parts;

// Section 1: the trade

function slider(id, name, { min, max, step, value, shown, set }) {
  const output = el("output", { for: id, id: `${id}-out` }, shown(value));
  const input = el("input", { type: "range", id, min, max, step, value, "aria-valuetext": shown(value), oninput: () => {
    output.textContent = shown(Number(input.value));
    input.setAttribute("aria-valuetext", shown(Number(input.value)));
    set(Number(input.value));
    refresh();
  } });
  return el("div", {}, el("label", { for: id }, el("span", {}, name), output), input);
}

const round = (number) => Number(number.toPrecision(2));

function trade() {
  const sliders = el("div", { class: "sliders" },
    slider("epsilon", phrase("privacy_slider"), { min: 0.1, max: 8, step: 0.1, value: state.epsilon, shown: (value) => fixed(value, 1), set: (value) => { state.epsilon = value; } }),
    slider("people", phrase("people_slider"), { min: 1, max: 7, step: 0.1, value: 4, shown: (value) => whole(round(10 ** value)), set: (value) => { state.people = round(10 ** value); } }),
    slider("values", phrase("values_slider"), { min: 2, max: 64, step: 1, value: state.values, shown: String, set: (value) => { state.values = value; } }));
  parts.words = el("p", { class: "notice words" }, " ");
  parts.rows = el("tbody");
  const head = ["mechanism", "typical_error", "", "bits_sent", "guessed"].map((name) => (name ? el("th", { scope: "col" }, phrase(name)) : el("td")));
  const table = el("table", { class: "options" }, el("caption", {}, phrase("options_caption")), el("thead", {}, el("tr", {}, head)), parts.rows);
  return el("section", { class: "card", "aria-labelledby": "trade" }, el("h2", { id: "trade" }, phrase("trade")),
    el("p", {}, phrase("trade_why")), sliders, parts.words,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": phrase("mechanisms") }, table));
}

/** One line of the table; before there are numbers it takes the same room. */
function row(option, worst) {
  const known = option.error !== undefined;
  const input = el("input", { type: "radio", name: "mechanism", id: `m-${option.name}`, value: option.name, checked: option.name === state.picked, onchange: () => pick(option.name) });
  const fill = el("div", { class: "fill" });
  fill.style.width = known ? `${Math.max(1, (100 * option.error) / worst)}%` : "0";
  const name = el("label", { class: "check", for: `m-${option.name}` }, input, el("span", {}, option.name, option.planned && el("b", {}, ` ${phrase("planners_choice")}`)));
  return el("tr", { class: option.name === state.picked ? "picked" : "" }, el("th", { scope: "row" }, name, el("div", { class: "small soft" }, NAMES[option.name] && phrase(NAMES[option.name]))),
    el("td", {}, known ? phrase("points", { number: digits(100 * option.error, 2) }) : "…"), el("td", {}, el("div", { class: "track", "aria-hidden": "true" }, fill)),
    el("td", {}, known ? whole(option.bits) : ""), el("td", {}, known ? percent(option.guess) : ""));
}

let pending;
function refresh() {
  stop();
  clearTimeout(pending);
  pending = setTimeout(load, 120);
}

let asked = 0;
async function load() {
  const turn = ++asked;
  const query = `values=${state.values}&epsilon=${state.epsilon}&people=${state.people}`;
  let found;
  try {
    const answer = await fetch(`${base}/v1/try?${query}`);
    if (!answer.ok) throw new Error(String(answer.status));
    found = await answer.json();
  } catch (error) {
    if (turn === asked) say(joined(phrase(error.message === "429" ? "busy" : "unreachable"), phrase("retrying")));
    pending = setTimeout(load, 3000);
    return;
  }
  if (turn !== asked) return; // the sliders have moved on
  say("");
  state.options = found.options;
  if (!found.options.some((option) => option.name === state.picked)) state.picked = found.options.find((option) => option.planned).name;
  const odds = Math.exp(state.epsilon), best = found.options[0];
  parts.words.textContent = phrase("trade_words", {
    epsilon: fixed(state.epsilon, 1), fold: fold(odds), sure: inHundred(atMost(0.5, odds)), people: state.people, error: digits(100 * best.error, 2),
  });
  paint();
  choices();
  certify();
}

function paint() {
  const worst = Math.max(...state.options.map((option) => option.error));
  const focused = document.activeElement?.id;
  parts.rows.replaceChildren(...state.options.map((option) => row(option, worst)));
  if (focused?.startsWith("m-")) byId(focused)?.focus();
}

function pick(name) {
  state.picked = name;
  stop();
  paint();
  certify();
}

// Section 2: the certificate

function proof() {
  parts.certificate = el("pre", { lang: "en", dir: "ltr", tabindex: "0", role: "region", "aria-label": phrase("certificate") }, "…");
  return el("section", { class: "card", "aria-labelledby": "certified" }, el("h2", { id: "certified" }, phrase("certificate_title")),
    el("p", {}, phrase("certificate_why")), parts.certificate);
}

async function certify() {
  const name = state.picked, turn = asked;
  try {
    const answer = await fetch(`${base}/v1/try?values=${state.values}&epsilon=${state.epsilon}&certify=${encodeURIComponent(name)}`);
    const found = await answer.json();
    if (name === state.picked && turn === asked) parts.certificate.textContent = answer.ok ? found.text : heard(found.detail);
  } catch {
    parts.certificate.textContent = phrase("unreachable");
  }
}

// Section 3: a thousand reports

function settle() {
  const answer = el("select", { id: "answer", onchange: () => { state.answer = Number(answer.value); stop(); } });
  const who = el("select", { id: "who", onchange: () => { state.who = who.value; stop(); } },
    el("option", { value: "me" }, phrase("who_me")), el("option", { value: "crowd" }, phrase("who_crowd")));
  parts.answer = answer;
  parts.one = el("p", { class: "notice", "aria-live": "polite" }, phrase("press_once"));
  parts.line = el("div", { class: "chart" });
  parts.bars = el("div", { class: "chart" });
  parts.end = el("p", { "aria-live": "polite" }, " ");
  const field = (id, name, control) => el("div", {}, el("label", { for: id }, name), control);
  return el("section", { class: "card", "aria-labelledby": "settle" }, el("h2", { id: "settle" }, phrase("settle")),
    el("p", {}, phrase("settle_why")),
    el("div", { class: "sliders" }, field("answer", phrase("your_answer"), answer), field("who", phrase("who_answers"), who)),
    el("div", { class: "buttons" }, el("button", { onclick: once }, phrase("once")), el("button", { class: "plain", onclick: thousand }, phrase("thousand")), el("button", { class: "plain", onclick: stop }, phrase("start_again"))),
    el("p", {}), parts.one, el("h3", {}, phrase("share_of_yours")), parts.line,
    el("p", { class: "legend" }, el("span", {}, el("span", { class: "key" }), phrase("band_key")), el("span", {}, el("span", { class: "key clean" }), phrase("truth_key"))),
    el("h3", {}, phrase("all_answers")), parts.bars, parts.end);
}

function choices() {
  state.answer = Math.min(state.answer, state.values - 1);
  parts.answer.replaceChildren(...Array.from({ length: state.values }, (_, place) => el("option", { value: place, selected: place === state.answer }, phrase("answer_place", { place: place + 1 }))));
  room();
}

/** The mechanism that is selected: this browser proves its law before it runs it. */
function mechanism() {
  const { mechanism: spec, law } = state.options.find((option) => option.name === state.picked);
  return mechanismFromSpec(spec, law);
}

function once() {
  if (!state.options.length) return;
  const law = mechanism(), [report] = law.perturb([state.answer]), names = supports(law, report).map((place) => place + 1);
  const shown = names.length > 10 ? phrase("names_more", { names: names.slice(0, 10).join(", "), count: names.length - 10 }) : listed(names);
  const said = names.length === 0 ? "once_none" : names.includes(state.answer + 1) ? "once_among" : "once_not_among";
  parts.one.textContent = phrase(said, { answer: state.answer + 1, count: names.length, names: shown });
}

/** What is true: one answer of mine, or shares that fall like 1 / rank, beginning with mine. */
function truth() {
  if (state.who === "me") return Array.from({ length: state.values }, (_, place) => Number(place === state.answer));
  const weights = Array.from({ length: state.values }, (_, place) => 1 / (((place - state.answer + state.values) % state.values) + 1));
  const total = weights.reduce((sum, each) => sum + each, 0);
  return weights.map((each) => each / total);
}

/** Exactly these shares, as nearly as whole people allow, in an order in which all kinds come up all the time. */
function crowd(shares, count) {
  const owed = shares.map(() => 0);
  return Array.from({ length: count }, () => {
    shares.forEach((share, place) => { owed[place] += share; });
    const next = owed.indexOf(Math.max(...owed));
    owed[next] -= 1;
    return next;
  });
}

function room() {
  parts.width = Math.max(160, Math.floor(parts.line.clientWidth || 600));
  parts.line.style.height = `${heights.lines()}px`;
  parts.bars.style.height = `${heights.bars(Math.min(state.values, MOST), parts.width)}px`;
}

function show(points, estimate, shares) {
  const name = phrase("estimate_of", { place: state.answer + 1 });
  parts.line.replaceChildren(lines(points, parts.width, name, { truth: shares[state.answer], last: TIMES, unit: phrase("reports_axis") }));
  const rows = estimate.values.map((value, place) => {
    const reach = 1.96 * Math.sqrt(Math.max(estimate.variance[place], 0));
    return { label: phrase("answer_place", { place: place + 1 }), value, low: value - reach, high: value + reach, cleaned: shares[place] };
  });
  const kept = rows.length <= MOST ? rows : [...rows].sort((a, b) => b.cleaned - a.cleaned || b.value - a.value).slice(0, MOST);
  parts.bars.replaceChildren(bars(kept, parts.width, phrase("estimates_all")));
}

function thousand() {
  if (!state.options.length) return;
  stop();
  const run = state.run, law = mechanism(), shares = truth(), people = crowd(shares, TIMES), points = [];
  let tally = null;
  const counts = (until) => {
    const more = counted(law, law.perturb(people.slice(tally?.n ?? 0, until)));
    tally = tally ? { n: tally.n + more.n, counts: tally.counts.map((count, cell) => count + more.counts[cell]) } : more;
    return estimate(law, tally);
  };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = (frame) => {
    if (run !== state.run) return;
    const until = Math.max(frame, Math.round(TIMES ** (frame / FRAMES))); // few at first: that is where it jumps
    const estimate = counts(Math.min(until, TIMES)), at = state.answer;
    points.push([tally.n, estimate.values[at], 1.96 * Math.sqrt(Math.max(estimate.variance[at], 0))]);
    if (!still || tally.n === TIMES) show(points, estimate, shares);
    if (tally.n < TIMES) return still ? step(frame + 1) : requestAnimationFrame(() => step(frame + 1));
    const [, value, reach] = points[points.length - 1];
    const truth = state.who === "me" ? percent(1, 0) : percent(shares[state.answer]);
    parts.end.textContent = phrase(`end_${state.who}`, { times: TIMES, value: percent(value), reach: fixed(100 * reach, 1), truth });
  };
  step(1);
}

/** Forget the run, so that another may begin. */
function stop() {
  state.run += 1;
  for (const chart of [parts.line, parts.bars]) chart.replaceChildren(el("p", { class: "empty" }, phrase("press_thousand")));
  parts.end.textContent = " ";
  parts.one.textContent = phrase("press_once");
}

let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(room, 150);
});

parts = {};
stage(trade(), proof(), settle());
parts.rows.replaceChildren(...Object.keys(NAMES).map((name) => row({ name }, 1)));
room();
stop();
load();
