/** The playground: what privacy costs, the certificate, and how an estimate settles. */

import { mechanismFromSpec } from "./deniable.js";
import { estimate, tally as counted } from "./estimate.js";
import { supports } from "./reports.js";
import { bars, heights, lines } from "./chart.js";
import { base, byId, el, say, stage } from "./dom.js";
import { atMost, digits, fold, inHundred, listed, percent, whole } from "./words.js";

const TIMES = 1000; // reports of one run
const FRAMES = 50;
const MOST = 12; // bars that are shown
const ONE = "Press “Once” and look at what would be sent.";
const NAMES = {
  direct: "one answer, often a wrong one", "unary, symmetric": "a noisy bit for each answer", "unary, optimized": "a noisy bit for each answer, better tuned",
  subset: "a set of answers", design: "a point of a block design", wheel: "a stretch of a ring", "hashing, binary": "a hash function and a bit",
  "hashing, optimized": "a hash function and a bucket", hadamard: "a column of a Hadamard matrix",
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
    slider("epsilon", "Privacy: epsilon", { min: 0.1, max: 8, step: 0.1, value: state.epsilon, shown: (value) => value.toFixed(1), set: (value) => { state.epsilon = value; } }),
    slider("people", "People", { min: 1, max: 7, step: 0.1, value: 4, shown: (value) => whole(round(10 ** value)), set: (value) => { state.people = round(10 ** value); } }),
    slider("values", "Possible answers", { min: 2, max: 64, step: 1, value: state.values, shown: String, set: (value) => { state.values = value; } }));
  parts.words = el("p", { class: "notice words" }, " ");
  parts.rows = el("tbody");
  const head = ["mechanism", "typical error of a share", "", "bits sent", "guessed right from one report"].map((name) => (name ? el("th", { scope: "col" }, name) : el("td")));
  const table = el("table", { class: "options" }, el("caption", {}, "All of them keep the same promise. They differ in precision and in what is sent."), el("thead", {}, el("tr", {}, head)), parts.rows);
  return el("section", { class: "card", "aria-labelledby": "trade" }, el("h2", { id: "trade" }, "1. Private or precise"),
    el("p", {}, "A small epsilon protects each person well and needs many people. A large one reveals more about each."), sliders, parts.words,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The mechanisms" }, table));
}

/** One line of the table; before there are numbers it takes the same room. */
function row(option, worst) {
  const known = option.error !== undefined;
  const input = el("input", { type: "radio", name: "mechanism", id: `m-${option.name}`, value: option.name, checked: option.name === state.picked, onchange: () => pick(option.name) });
  const fill = el("div", { class: "fill" });
  fill.style.width = known ? `${Math.max(1, (100 * option.error) / worst)}%` : "0";
  const name = el("label", { class: "check", for: `m-${option.name}` }, input, el("span", {}, option.name, option.planned && el("b", {}, " (the planner’s choice)")));
  return el("tr", { class: option.name === state.picked ? "picked" : "" }, el("th", { scope: "row" }, name, el("div", { class: "small soft" }, NAMES[option.name])),
    el("td", {}, known ? `± ${digits(100 * option.error, 2)} points` : "…"), el("td", {}, el("div", { class: "track", "aria-hidden": "true" }, fill)),
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
    if (turn === asked) say(error.message === "429" ? "The collector is busy. Retrying." : "The collector cannot be reached. Retrying.");
    pending = setTimeout(load, 3000);
    return;
  }
  if (turn !== asked) return; // the sliders have moved on
  say("");
  state.options = found.options;
  if (!found.options.some((option) => option.name === state.picked)) state.picked = found.options.find((option) => option.planned).name;
  const odds = Math.exp(state.epsilon), best = found.options[0];
  parts.words.textContent = `Epsilon ${state.epsilon.toFixed(1)}: a report changes odds by a factor of at most ${fold(odds)}, so even odds become at most ${inHundred(atMost(0.5, odds))} in 100. ` +
    `With ${whole(state.people)} people a share is then off by about ${digits(100 * best.error, 2)} percentage points. Four times as many people halve that.`;
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
  parts.certificate = el("pre", { tabindex: "0", role: "region", "aria-label": "The certificate" }, "…");
  return el("section", { class: "card", "aria-labelledby": "certified" }, el("h2", { id: "certified" }, "2. The certificate"),
    el("p", {}, "The law of a mechanism is the program that a device runs on an answer. The collector proves a bound on the privacy loss of this program, in exact fractions, for every answer and every random draw, and names the rules it used. If it finds a report that reaches the bound, it shows it as the worst case."), parts.certificate);
}

async function certify() {
  const name = state.picked, turn = asked;
  try {
    const answer = await fetch(`${base}/v1/try?values=${state.values}&epsilon=${state.epsilon}&certify=${encodeURIComponent(name)}`);
    const found = await answer.json();
    if (name === state.picked && turn === asked) parts.certificate.textContent = answer.ok ? found.text : found.detail;
  } catch {
    parts.certificate.textContent = "The collector cannot be reached.";
  }
}

// Section 3: a thousand reports

function settle() {
  const answer = el("select", { id: "answer", onchange: () => { state.answer = Number(answer.value); stop(); } });
  const who = el("select", { id: "who", onchange: () => { state.who = who.value; stop(); } },
    el("option", { value: "me" }, "me, a thousand times"), el("option", { value: "crowd" }, "a thousand different people"));
  parts.answer = answer;
  parts.one = el("p", { class: "notice", "aria-live": "polite" }, ONE);
  parts.line = el("div", { class: "chart" });
  parts.bars = el("div", { class: "chart" });
  parts.end = el("p", { "aria-live": "polite" }, " ");
  const field = (id, name, control) => el("div", {}, el("label", { for: id }, name), control);
  return el("section", { class: "card", "aria-labelledby": "settle" }, el("h2", { id: "settle" }, "3. Your answer, a thousand times"),
    el("p", {}, "Your browser does this itself, with real randomness. It runs the program of the mechanism selected above, after checking its privacy proof. Nothing is sent."),
    el("div", { class: "sliders" }, field("answer", "Your answer", answer), field("who", "Who answers", who)),
    el("div", { class: "buttons" }, el("button", { onclick: once }, "Once"), el("button", { class: "plain", onclick: thousand }, "A thousand times"), el("button", { class: "plain", onclick: stop }, "Start again")),
    el("p", {}), parts.one, el("h3", {}, "The share of your answer, as reports come in"), parts.line,
    el("p", { class: "legend" }, el("span", {}, el("span", { class: "key" }), "estimate, with its 95 % band"), el("span", {}, el("span", { class: "key clean" }), "truth")),
    el("h3", {}, "All answers"), parts.bars, parts.end);
}

function choices() {
  state.answer = Math.min(state.answer, state.values - 1);
  parts.answer.replaceChildren(...Array.from({ length: state.values }, (_, place) => el("option", { value: place, selected: place === state.answer }, `answer ${place + 1}`)));
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
  const shown = names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : listed(names);
  const said = names.length === 0 ? "names no answer" : `names ${names.length === 1 ? "answer" : "answers"} ${shown}`;
  const among = names.includes(state.answer + 1) ? "Yours is among them, perhaps only by chance." : "Yours is not among them.";
  parts.one.textContent = `Your answer is ${state.answer + 1}. The report ${said}. ${among} Press again: it changes.`;
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
  parts.width = Math.max(240, Math.floor(parts.line.clientWidth || 600));
  parts.line.style.height = `${heights.lines()}px`;
  parts.bars.style.height = `${heights.bars(Math.min(state.values, MOST), parts.width)}px`;
}

function show(points, estimate, shares) {
  const name = `Estimate of the share of answer ${state.answer + 1}`;
  parts.line.replaceChildren(lines(points, parts.width, name, { truth: shares[state.answer], last: TIMES, unit: "reports" }));
  const rows = estimate.values.map((value, place) => {
    const reach = 1.96 * Math.sqrt(Math.max(estimate.variance[place], 0));
    return { label: `answer ${place + 1}`, value, low: value - reach, high: value + reach, cleaned: shares[place] };
  });
  const kept = rows.length <= MOST ? rows : [...rows].sort((a, b) => b.cleaned - a.cleaned || b.value - a.value).slice(0, MOST);
  parts.bars.replaceChildren(bars(kept, parts.width, "Estimates of all answers"));
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
    parts.end.textContent = state.who === "me"
      ? `After ${whole(TIMES)} reports of one person the estimate is ${percent(value)} ± ${(100 * reach).toFixed(1)}, and the truth is 100 %: the answer is known. That is why a device randomizes once, keeps that report, and sends the same one however often it is asked.`
      : `After ${whole(TIMES)} people the estimate is ${percent(value)} ± ${(100 * reach).toFixed(1)}, and the truth is ${percent(shares[state.answer])}. The shares are known, and each single report can still be denied.`;
  };
  step(1);
}

/** Forget the run, so that another may begin. */
function stop() {
  state.run += 1;
  for (const chart of [parts.line, parts.bars]) chart.replaceChildren(el("p", { class: "empty" }, "Press “A thousand times”."));
  parts.end.textContent = " ";
  parts.one.textContent = ONE;
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
