/** The results page: estimates with their errors as they come in, what was refused, and what was promised. */

import { asNumber, asPercent, bars, columns, curve, dots, heights, histogram, picture, places } from "./chart.js";
import { base, byId, card, el, save, say, stage } from "./dom.js";
import { MOST, charts } from "./questions.js";
import { cells, relation, relate } from "./tables.js";
import { PROOFS, atMost, digits, fold, inHundred, moment, whole } from "./words.js";

const EVERY = 3000; // milliseconds between two looks
const TOKEN = `deniable results ${base}`; // every survey of a server has its own
const REASONS = {
  damaged: "incomplete or damaged in transit", "no-token": "no valid token", "other-survey": "made for another survey", closed: "the survey is closed",
  "too-late": "for a period that is over", "too-early": "from the future: the device’s clock is wrong", "too-large": "request too large", media: "unsupported media type",
  impossible: "not a valid report of this survey", "too-often": "too many requests from one address", busy: "the queue was full", slow: "sent too slowly",
  "store-away": "the database was unavailable", method: "not sent with POST",
};

let survey, views = [], relations = [], latest = null, promiseKnown = false, memory = "";

// Access: the token goes into a header, and stays in this tab.

function token() {
  try {
    return sessionStorage.getItem(TOKEN) ?? memory;
  } catch {
    return memory;
  }
}

function keep(value) {
  memory = value;
  try {
    sessionStorage.setItem(TOKEN, value);
  } catch {
    // the tab remembers
  }
}

async function ask(path) {
  const given = token();
  const answer = await fetch(`${base}${path}`, given ? { headers: { Authorization: `Bearer ${given}` } } : {});
  if (!answer.ok) throw Object.assign(new Error(String(answer.status)), { status: answer.status, detail: (await answer.json().catch(() => ({}))).detail });
  return answer;
}

/** Results are for the people who run the survey: others are not asked for a token that they cannot have. */
function door(wrong) {
  const field = el("input", { type: "password", id: "token", autocomplete: "off", required: true, "aria-describedby": "token-hint token-wrong", "aria-invalid": String(Boolean(wrong)) });
  const open = (event) => {
    event.preventDefault();
    keep(field.value.trim());
    start();
  };
  say("");
  const run = el("details", { class: "card", id: "operators", open: Boolean(wrong) }, el("summary", {}, "I run this survey"), el("form", { onsubmit: open },
    el("label", { class: "ask", for: "token" }, "The token to read results"),
    el("p", { class: "hint", id: "token-hint" }, "It was shown when the collector first started; the command deniable token creates another. It stays in this tab and never becomes part of an address."),
    field, el("p", { class: "wrong", id: "token-wrong" }, wrong ? "This token is not valid. Check it and try again." : ""),
    el("div", { class: "buttons" }, el("button", { class: "main" }, "Show the results"))));
  stage(card("The results are not public", "", el("p", {}, "The people who run this survey decide who can read them.")), run);
  if (wrong) field.focus();
}

// One view for each question: its size is known from the survey alone

function legend(question) {
  const keys = {
    places: [["", "area: cleaned share"], ["ring", "upper end of the interval"]],
    cells: [["shade", "raw share, and its interval: the darker, the larger the fitted share"], ["noise", "may be empty"]],
    histogram: [["", "fitted share"], ["reach", "interval"], ...(question.choices ? [] : [["median", "median and quartiles"]])],
  }[charts(question)[0].draw] ?? [["", "raw estimate"], ...(isShare(charts(question)[0]) ? [["noise", "may be zero"]] : []), ["whisker", "interval"], ["clean", "cleaned"]];
  return keys.map(([kind, words]) => el("span", {}, el("span", { class: `key ${kind}` }), words));
}

function view(question, place) {
  const { sure = false } = charts(question)[0], words = el("p", { class: "findings" }), plan = el("p", { class: "small soft plan" }), count = el("span", { class: "count" }, "0 reports"), veil = el("div", { class: "veil" }, el("p", {}, "Loading."));
  const boxes = charts(question).map((chart) => ({ ...chart, box: el("div", { class: "chart" }) }));
  const body = el("tbody"), past = survey.survey.window ? el("tbody") : null, png = el("button", { class: "plain", disabled: true, onclick: () => pictures(question, boxes) }, "PNG");
  const head = sortable(["answer", "raw", "± error", "interval", sure ? "p-value" : "cleaned"], ["answer", "value", "standard_error", "low", "cleaned"], (by) => {
    made.sorted = by;
    if (made.found) numbers(made, made.found);
  });
  const table = el("table", {}, el("caption", {}, sure ? NAMES : "Raw estimates are unbiased, so they may lie outside the possible range. Cleaned estimates are the nearest possible values; they have no error of their own."), el("thead", {}, el("tr", {}, head)), body);
  const time = past && el("div", { class: "chart trend" });
  const element = el("section", { class: "card", "aria-labelledby": `h${place}` },
    el("div", { class: "head" }, el("h2", { id: `h${place}` }, question.ask), count), words, time,
    boxes.map((each) => [each.caption && el("h3", {}, each.caption), each.box]),
    el("div", { class: "under" }, el("p", { class: "legend" }, legend(question)), png), plan,
    el("details", { open: sure }, el("summary", {}, "Numbers"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers: ${question.ask}` }, table)),
    past && el("details", {}, el("summary", {}, "Period by period"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Periods: ${question.ask}` },
      el("table", {}, el("thead", {}, el("tr", {}, ["from", "reports", "largest estimates"].map((name) => el("th", { scope: "col" }, name)))), past))));
  const made = { question, element, words, plan, count, veil, boxes, body, png, past, time, sorted: null, found: null };
  return made;
}

/** Headings that sort a table: by a column from its largest number down, then up, then in the order of the question. */
function sortable(names, keys, sort) {
  const heads = names.map((name, column) => el("th", { scope: "col", class: column ? "n" : "" }, el("button", { class: "sort", onclick: () => press(column) }, name)));
  function press(column) {
    const now = heads[column].getAttribute("aria-sort"), next = { null: "descending", descending: "ascending", ascending: null }[now];
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    if (next) heads[column].setAttribute("aria-sort", next);
    sort(next && { key: keys[column], sign: next === "ascending" ? 1 : -1 });
  }
  return heads;
}

function inOrder(lines, by) {
  if (!by) return lines;
  const compare = by.key === "answer" ? (a, b) => String(a.answer).localeCompare(String(b.answer), undefined, { numeric: true }) : (a, b) => (a[by.key] ?? -Infinity) - (b[by.key] ?? -Infinity);
  return [...lines].sort((a, b) => by.sign * compare(a, b));
}

const NAMES = "Shares are those among the people who verified the names and took no part in the search. All intervals hold together. p-value: how often a string that nobody has would be backed so well.";
const P_VALUE = "p-value";
const chance = (p) => (p < 0.0001 ? "below 0.0001" : p.toFixed(4));
const QUARTILES = ["lower quartile", "median", "upper quartile"];
const isShare = ({ measure }) => measure === "share" || measure === "share at most";
const label = (line) => line.answer || line.measure;
const counted = (reports) => `${whole(reports)} report${reports === 1 ? "" : "s"}`;

function rowsOf(found, chart) {
  if (chart.measure === "share" && found.chart && !["places", "cells"].includes(chart.draw)) return found.chart; // ordered and folded by the collector
  let rows = found.estimates.filter((line) => line.measure === chart.measure && (chart.named ? line.answer === "" : true));
  if (chart.ranked) rows = [...rows].sort((a, b) => b.value - a.value).slice(0, MOST);
  else rows = rows.slice(0, ["bars", "dots"].includes(chart.draw) ? MOST : rows.length);
  return rows.map((line) => ({ label: label(line), value: line.value, low: line.low, high: line.high, cleaned: line.cleaned }));
}

function drawn(question, chart, rows, width, quartiles) {
  const first = [...rows].sort((a, b) => b.value - a.value).slice(0, 3).map((row) => `${row.label} ${isShare(chart) ? asPercent(row.value) : asNumber(row.value)}`);
  const title = `${question.ask} ${chart.caption ?? ""} ${chart.measure}: ${first.join(", ")}`;
  if (chart.draw === "cells") return cells(rows, question.ask);
  if (chart.draw === "places") return places(rows, width, title, question.points);
  return { bars, columns, curve, dots, histogram }[chart.draw](rows, width, title, [question.low, question.high], quartiles);
}

/** Give every chart its room, whether there is something to draw or not. */
function reserve(each) {
  for (const chart of each.boxes) {
    chart.width = Math.max(240, Math.floor(chart.box.clientWidth || 600));
    chart.box.style.height = `${heights[chart.draw](chart.rows, chart.width)}px`;
  }
}

function update(each, found) {
  each.count.textContent = counted(found.reports);
  each.words.textContent = (found.words ?? [found.glance ?? ""]).join(" ");
  each.plan.textContent = planned(found);
  each.found = found;
  const [first] = each.boxes;
  each.png.disabled = found.hidden;
  each.boxes.forEach((chart, place) => {
    const rows = found.hidden ? [] : rowsOf(found, chart);
    if (rows.length > 0) return chart.box.replaceChildren(drawn(each.question, chart, rows, chart.width, found.estimates.filter(({ measure }) => QUARTILES.includes(measure))));
    if (chart !== first) return chart.box.replaceChildren(el("div", { class: "veil" }, el("p", {}, found.hidden ? "" : "So far this may be only noise. More reports are needed.")));
    each.veil.firstChild.textContent = !found.hidden ? "Nothing stands out from the noise yet. More reports are needed." : `Hidden below ${counted(latest.minimum_reports)}; so far there ${found.reports === 1 ? "is 1" : `are ${whole(found.reports)}`}. Estimates from fewer would be mostly noise.`;
    chart.box.replaceChildren(each.veil);
  });
  numbers(each, found);
}

/** What was planned beside what came out. */
function planned({ planned: plan, error }) {
  if (!plan) return "";
  const [size, unit] = plan.measure === "share" ? [100, " percentage points"] : [1, ""];
  const said = (one) => `± ${digits(size * one, 2)}${unit}`;
  return `Standard error: ${said(error)}. Planned: ${said(plan.error)}, with ${counted(plan.reports)}.`;
}

function numbers(each, found) {
  const sure = new Map(found.estimates.filter(({ measure }) => measure === P_VALUE).map(({ answer, value }) => [answer, value]));
  each.body.replaceChildren(...inOrder(found.estimates.filter(({ measure }) => measure !== P_VALUE), each.sorted).map((line) => {
    const format = isShare(line) ? asPercent : asNumber;
    const cells = [format(line.value), line.standard_error === null ? "unknown" : format(line.standard_error), line.low === null ? "unknown" : `${format(line.low)} to ${format(line.high)}`, sure.has(line.answer) ? chance(sure.get(line.answer)) : format(line.cleaned)];
    return el("tr", {}, el("th", { scope: "row" }, line.measure === "share" ? line.answer : line.measure === "share at most" ? `at most ${line.answer}` : `${line.answer} ${line.measure}`.trim()), cells.map((cell) => el("td", { class: "n" }, cell)));
  }));
}

/** The questions over time, of a survey with periods; and what it costs a person to be asked again. */
async function overTime(found) {
  if (found.spending) byId("spending").textContent = found.spending.words;
  if (!found.trends?.length) return;
  const { timeline } = await import("./trend.js");
  for (const each of views) {
    const own = found.trends.find(({ question }) => question === each.question.id);
    if (own) each.time.replaceChildren(...timeline(own, Math.max(240, Math.floor(each.time.clientWidth || 600)), found.confidence));
  }
}

function periods(each, history) {
  each.past?.replaceChildren(...history.filter((line) => line.question === each.question.id).map((line) => {
    const first = [...line.estimates].sort((a, b) => b.value - a.value).slice(0, 3);
    const largest = first.map((row) => (row.measure === "share" ? `${row.answer} ${asPercent(row.value)} ± ${row.low === null ? "?" : (50 * (row.high - row.low)).toFixed(1)}` : `${label(row)} ${asNumber(row.value)}`));
    return el("tr", {}, el("th", { scope: "row" }, moment(line.begins)), el("td", { class: "n" }, whole(line.reports)), el("td", {}, line.hidden ? `hidden below ${counted(latest.minimum_reports)}` : line.words?.join(" ") ?? largest.join(", ")));
  }));
}

async function pictures(question, boxes) {
  const note = `${whole(latest.people)} people, ${100 * latest.confidence} % intervals, epsilon ${latest.epsilon} for one person over the whole survey`;
  for (const [place, { box, caption }] of boxes.entries()) {
    const chart = box.querySelector("svg");
    if (chart) save(`${latest.survey}-${question.id}${place ? `-${place + 1}` : ""}.png`, await picture(chart, caption ? `${question.ask} ${caption}` : question.ask, note));
  }
}

// The frame around them

const figure = (name) => {
  const number = el("b", {}, "–");
  return { number, element: el("div", { class: "figure" }, number, el("span", {}, name)) };
};

let figures, refusals, promised, when, live, level, share, alarms, bounded, timer, operator = true;

function build() {
  figures = { people: figure(survey.survey.people ? `people counted, ${whole(survey.survey.people)} planned` : "people counted"), ...(operator && { duplicates: figure("duplicates, not counted"), refused: figure("refused") }), loss: figure("largest change of odds, one person") };
  live = el("input", { type: "checkbox", id: "live", checked: true, onchange: () => look() });
  level = el("select", { id: "level", onchange: () => look() }, ["0.8", "0.9", "0.95", "0.99"].map((value) => el("option", { value, selected: value === "0.95" }, `${100 * value} %`)));
  share = el("select", { id: "share", onchange: () => look() }, ["0.01", "0.05", "0.1", "0.2"].map((value) => el("option", { value, selected: value === "0.05" }, `${100 * value} %`)));
  alarms = el("ul", {});
  bounded = el("tbody");
  when = el("span", { class: "count" }, "");
  const download = (format, media) => el("button", { class: "plain", onclick: async () => {
    try {
      save(`${survey.survey.id}.${format}`, await (await ask(`/v1/results?format=${format}&confidence=${level.value}`)).blob(), media);
    } catch {
      say("The file could not be downloaded. Try again.");
    }
  } }, format.toUpperCase());
  refusals = el("tbody");
  promised = el("tbody", {}, survey.question.map((question) => el("tr", {}, el("th", { scope: "row" }, question.id), [0, 1, 2, 3].map(() => el("td", {}, "…")))));
  const asked = survey.question.flatMap((question) => question.questions ?? [question]);
  views = asked.map(view);
  relations = (survey.table ?? []).map((each) => relation(each, asked));
  const scroll = (name, table) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table);
  stage(
    el("div", { class: "figures" }, Object.values(figures).map((each) => each.element)),
    el("div", { class: "bar-of-tools" }, el("label", { class: "check", for: "live" }, live, "Live"), el("label", { class: "check", for: "level" }, "Confidence"), level, download("csv", "text/csv"), download("json", "application/json"), when),
    el("p", { id: "spending" }),
    views.map((each) => each.element),
    relations.map((each) => each.element),
    el("details", { class: "card", id: "promise" }, el("summary", { id: "proof" }, "Privacy: the certificate is being computed."), el("p", { id: "loss" }, " "),
      scroll("The privacy loss of each question", el("table", { class: "exact" }, el("thead", {}, el("tr", {}, ["question", "mechanism", "exact odds", "epsilon", "certificate"].map((name) => el("th", { scope: "col" }, name)))), promised)),
      el("h3", {}, "The certificates"), el("pre", { id: "certificates", tabindex: "0", role: "region", "aria-label": "The certificates" }, "not yet")),
    operator && el("details", { class: "card", id: "fakes" }, el("summary", { id: "suspected" }, "False reports"), el("p", { id: "who" }, " "), alarms,
      el("h3", {}, "What holds if some reports are false"),
      el("p", {}, el("label", { class: "check", for: "share" }, "At most this share of the reports is false:"), " ", share),
      scroll("Intervals in spite of false reports", el("table", {}, el("caption", {}, "The intervals hold whatever the false reports contain. A recovered share holds only under an assumption: false reports are spread evenly over the answers whose estimates are positive."),
        el("thead", {}, el("tr", {}, ["question", "answer", "interval", "recovered"].map((name, column) => el("th", { scope: "col", class: column > 1 ? "n" : "" }, name)))), bounded))),
    operator && el("details", { class: "card", id: "refused" }, el("summary", { id: "turned-away" }, "Refused since the collector started: 0"),
      el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "reason"), el("th", { scope: "col" }, "meaning"), el("th", { scope: "col", class: "n" }, "number"))), refusals)));
  views.forEach(reserve);
}

function whoAnswers({ invited, needs_token: token }) {
  if (invited) return "Only invited people could answer, each once.";
  const anyone = "Nothing shows that each report is another person's: whoever wants to can send many. Read the results with that in mind, or invite people once each.";
  return token ? `Reports required a token, which many devices may share. ${anyone}` : `Anyone could answer this survey. ${anyone}`;
}

function promises(found) {
  if (operator) byId("who").textContent = whoAnswers(found);
  promiseKnown = found.certified !== null || found.trouble !== "";
  const odds = Math.exp(found.loss.epsilon ?? Infinity);
  figures.loss.number.textContent = `${fold(odds)}-fold`;
  byId("loss").textContent = `A report changes the odds between two answers of a person ${found.loss.odds ? `by a factor of at most ${found.loss.odds}` : "without bound"}: from even odds to at most ${inHundred(atMost(0.5, odds))} in 100. Exact epsilon ${digits(found.loss.epsilon ?? Infinity, 9)} of ${found.budget}, for ${found.unit}.`;
  const state = { true: `The certificate holds (${found.loss.proof}: ${PROOFS[found.loss.proof]})`, false: "THE CERTIFICATE DOES NOT HOLD", null: found.trouble ? `There is no certificate: ${found.trouble}` : "The certificate is being computed" };
  byId("proof").textContent = `${state[String(found.certified)]}: epsilon ${digits(found.loss.epsilon ?? Infinity, 4)} for one person`;
  byId("promise").open ||= found.certified === false;
  if (found.certified !== null) byId("certificates").textContent = found.questions.map((each) => `${each.question}\n${each.certificate.text}`).join("\n\n");
  [...promised.rows].forEach((row, place) => {
    const each = found.questions[place], certificate = each.certificate;
    const said = certificate ? `${certificate.holds ? "holds" : "DOES NOT HOLD"}, ${each.loss.proof}: ${certificate.proved}` : `by formula, ${each.loss.proof}`;
    const cells = [`${each.mechanism}, ${each.bits} bits`, each.loss.exact ?? each.loss.odds ?? "no bound", digits(each.loss.epsilon ?? Infinity, 9), `${said} (${each.loss.protects})`];
    cells.forEach((cell, column) => { row.cells[column + 1].textContent = cell; });
  });
}

function refused(counts) {
  const some = Object.entries(counts).filter(([, count]) => count > 0), all = some.reduce((sum, [, count]) => sum + count, 0);
  figures.refused.number.textContent = whole(all);
  byId("turned-away").textContent = `Refused since the collector started: ${whole(all)}`;
  if (all > 0 && refusals.rows.length === 0) byId("refused").open = true; // the first one is worth a look
  refusals.replaceChildren(...some.map(([reason, count]) => el("tr", {}, el("th", { scope: "row" }, reason), el("td", {}, REASONS[reason] ?? ""), el("td", { class: "n" }, whole(count)))));
}

function fakes(found) {
  byId("suspected").textContent = found.suspicions.length === 0 ? "False reports: no suspicious pattern" : `False reports: ${found.suspicions.length} suspicious pattern${found.suspicions.length === 1 ? "" : "s"}`;
  byId("fakes").open ||= found.suspicions.length > 0;
  const alarm = (each) => `${each.question}${each.period === undefined ? "" : `, period ${each.period}`}: ${each.what}, ${asNumber(each.seen)}; at most ${asNumber(each.allowed)} if all reports are honest. The probability of a false alarm is at most ${each.false_alarm_probability.toExponential(0)}.`;
  alarms.replaceChildren(...found.suspicions.map((each) => el("li", { class: "wrong" }, alarm(each))));
  if (found.suspicions.length === 0) alarms.replaceChildren(el("li", {}, "No pattern that honest people do not produce. False reports that follow the protocol cannot be seen."));
  bounded.replaceChildren(...(found.false_reports?.estimates ?? []).map((each) => el("tr", {}, el("th", { scope: "row" }, each.question), el("td", {}, each.answer),
    el("td", { class: "n" }, `${asPercent(each.low)} to ${asPercent(each.high)}`), el("td", { class: "n" }, each.recovered === undefined ? "–" : asPercent(each.recovered)))));
}

let turn = 0;
async function look() {
  const mine = ++turn;
  clearTimeout(timer);
  try {
    const [found, intake, promise] = await Promise.all([
      ask(`/v1/results?confidence=${level.value}${operator ? `&fakes=${share.value}` : ""}`).then((answer) => answer.json()), operator ? ask("/v1/intake").then((answer) => answer.json()) : null,
      promiseKnown ? null : ask("/v1/promise").then((answer) => answer.json()),
    ]);
    if (mine !== turn) return; // something newer is on its way
    latest = found;
    figures.people.number.textContent = whole(found.people);
    if (promise) promises(promise);
    if (operator) {
      figures.duplicates.number.textContent = whole(intake.messages.duplicate);
      refused(intake.refused);
      fakes(found);
    }
    found.questions.forEach((each, place) => update(views[place], each));
    views.forEach((each) => periods(each, found.history));
    await overTime(found);
    relations.forEach((each, place) => relate(each, found.tables[place], latest));
    when.textContent = `as of ${new Date().toLocaleTimeString()}`;
    if (byId("status").textContent) say("");
  } catch (error) {
    if (error.status === 401) return door(true);
    const wait = { 429: "The collector is busy.", 503: "The database is unavailable." }[error.status];
    say(`${wait ?? "The collector cannot be reached."} Showing the last results. Retrying.`);
  }
  if (live.checked) timer = setTimeout(() => (document.hidden ? addEventListener("visibilitychange", look, { once: true }) : look()), EVERY);
}

let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    views.forEach(reserve);
    if (!latest) return;
    latest.questions.forEach((each, place) => update(views[place], each));
    overTime(latest);
  }, 150);
});

async function start() {
  try {
    survey = await (await fetch(`${base}/v1/survey`)).json();
    if (survey.survey.window) import("./trend.js"); // arrives while the results are on their way
    const { title, results } = await (await fetch(`${base}/v1/status`)).json(); // as corrected
    byId("title").textContent = title;
    document.title = `Results: ${title}`;
    operator = results !== "shared" || token() !== "";
    if (operator) await ask("/v1/intake");
  } catch (error) {
    if (error.status === 401) return door(token() !== "");
    return stage(card("The collector cannot be reached", "trouble", el("p", {}, "Check the connection and try again."), el("div", { class: "buttons" }, el("button", { onclick: start }, "Try again"))));
  }
  build();
  if (!operator) byId("stage").append(el("p", { class: "small" }, el("a", { href: "#", onclick: (event) => { event.preventDefault(); door(false); } }, "I run this survey")));
  await look();
}

start();
