/** The results page: estimates with their errors as they come in, what was refused, and what was promised. */

import { asNumber, asPercent, bars, columns, curve, dots, heights, histogram, measured, named, picture, places } from "./chart.js";
import { base, byId, card, el, save, say, stage } from "./dom.js";
import { MOST, charts } from "./questions.js";
import { cells, relation, relate } from "./tables.js";
import { heard, joined, known, lang, phrase, place as where } from "./texts.js";
import { atMost, digits, fixed, fold, inHundred, level as asLevel, moment, range, whole } from "./words.js";

const EVERY = 3000; // milliseconds between two looks
const CONFIDENCE = "0.95", FALSE = "0.05"; // until others are chosen: the level, and the share of false reports
const TOKEN = `deniable results ${base}`; // every survey of a server has its own

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
  const run = el("details", { class: "card", id: "operators", open: Boolean(wrong) }, el("summary", {}, phrase("i_run")), el("form", { onsubmit: open },
    el("label", { class: "ask", for: "token" }, phrase("token")),
    el("p", { class: "hint", id: "token-hint" }, phrase("token_hint", { command: "deniable token" })),
    field, el("p", { class: "wrong", id: "token-wrong" }, wrong ? phrase("token_wrong") : ""),
    el("div", { class: "buttons" }, el("button", { class: "main" }, phrase("show_results")))));
  stage(card(phrase("not_public"), "", el("p", {}, phrase("not_public_why"))), run);
  if (wrong) field.focus();
}

// One view for each question: its size is known from the survey alone

function legend(question) {
  const keys = {
    places: [["", "key_area"], ["ring", "key_upper"]],
    cells: [["shade", "key_cells"], ["noise", "key_empty"]],
    histogram: [["", "key_fitted"], ["reach", "interval"], ...(question.choices ? [] : [["median", "key_quartiles"]])],
  }[charts(question)[0].draw] ?? [["", "key_raw"], ...(isShare(charts(question)[0]) ? [["noise", "key_zero"]] : []), ["whisker", "interval"], ["clean", "cleaned"]];
  return keys.map(([kind, name]) => el("span", {}, el("span", { class: `key ${kind}` }), phrase(name)));
}

function view(question, place) {
  const { sure = false } = charts(question)[0], words = el("p", { class: "findings" }), plan = el("p", { class: "small soft plan" }), count = el("span", { class: "count" }, counted(0)), veil = el("div", { class: "veil" }, el("p", {}, phrase("loading")));
  const boxes = charts(question).map((chart) => ({ ...chart, box: el("div", { class: "chart" }) }));
  const body = el("tbody"), past = survey.survey.window ? el("tbody") : null, png = el("button", { class: "plain", disabled: true, onclick: () => pictures(question, boxes) }, "PNG");
  const head = sortable(["answer", "raw", "error", "interval", sure ? "p_value" : "cleaned"], ["answer", "value", "standard_error", "low", "cleaned"], (by) => {
    made.sorted = by;
    if (made.found) numbers(made, made.found);
  });
  const table = el("table", {}, el("caption", {}, phrase(sure ? "names_caption" : "cleaned_caption")), el("thead", {}, el("tr", {}, head)), body);
  const time = past && el("div", { class: "chart trend" });
  const history = past && el("details", { ontoggle: () => history.open && look() }, el("summary", {}, phrase("by_period")), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": phrase("periods_of", { ask: question.ask }) },
    el("table", {}, el("thead", {}, el("tr", {}, ["from", "reports_head", "largest_estimates"].map((name) => el("th", { scope: "col" }, phrase(name))))), past)));
  const element = el("section", { class: "card", "aria-labelledby": `h${place}` },
    el("div", { class: "head" }, el("h2", { id: `h${place}` }, question.ask), count), words, time,
    boxes.map((each) => [each.caption && el("h3", {}, each.caption), each.box]),
    el("div", { class: "under" }, el("p", { class: "legend" }, legend(question)), png), plan,
    el("details", { open: sure }, el("summary", {}, phrase("numbers")), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": phrase("numbers_of", { ask: question.ask }) }, table)), history);
  const made = { question, element, words, plan, count, veil, boxes, body, png, past, history, time, sorted: null, found: null };
  return made;
}

/** Headings that sort a table: by a column from its largest number down, then up, then in the order of the question. */
function sortable(names, keys, sort) {
  const heads = names.map((name, column) => el("th", { scope: "col", class: column ? "n" : "" }, el("button", { class: "sort", onclick: () => press(column) }, phrase(name))));
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
  const compare = by.key === "answer" ? (a, b) => String(a.answer).localeCompare(String(b.answer), lang, { numeric: true }) : (a, b) => (a[by.key] ?? -Infinity) - (b[by.key] ?? -Infinity);
  return [...lines].sort((a, b) => by.sign * compare(a, b));
}

const P_VALUE = "p-value";
const chance = (p) => (p < 0.0001 ? phrase("below", { number: 0.0001 }) : fixed(p, 4));
const QUARTILES = ["lower quartile", "median", "upper quartile"];
const isShare = ({ measure }) => measure === "share" || measure === "share at most";
const label = (line) => line.answer || measured(line.measure);
const counted = (reports) => phrase("reports", { reports });

function rowsOf(found, chart) {
  if (chart.measure === "share" && found.chart && !["places", "cells"].includes(chart.draw)) return found.chart; // ordered and folded by the collector
  let rows = found.estimates.filter((line) => line.measure === chart.measure && (chart.named ? line.answer === "" : true));
  if (chart.ranked) rows = [...rows].sort((a, b) => b.value - a.value).slice(0, MOST);
  else rows = rows.slice(0, ["bars", "dots"].includes(chart.draw) ? MOST : rows.length);
  return rows.map((line) => ({ label: label(line), value: line.value, low: line.low, high: line.high, cleaned: line.cleaned }));
}

function drawn(question, chart, rows, width, quartiles) {
  const first = [...rows].sort((a, b) => b.value - a.value).slice(0, 3).map((row) => `${named(row.label, row.others)} ${isShare(chart) ? asPercent(row.value) : asNumber(row.value)}`);
  const title = `${question.ask} ${chart.caption ?? ""} ${measured(chart.measure)}: ${first.join(", ")}`;
  if (chart.draw === "cells") return cells(rows, question.ask);
  if (chart.draw === "places") return places(rows, width, title, question.points);
  return { bars, columns, curve, dots, histogram }[chart.draw](rows, width, title, [question.low, question.high], quartiles);
}

const room = (box) => Math.max(160, Math.floor(box.clientWidth || 600));

/** Give every chart its room, whether there is something to draw or not. All is measured before anything is changed. */
function reserve() {
  const all = views.flatMap(({ boxes }) => boxes);
  for (const chart of all) chart.width = room(chart.box);
  for (const chart of all) {
    const height = chart.draw === "cells" ? "minHeight" : "height"; // long names of rows and columns need more room
    chart.box.style[height] = `${heights[chart.draw](chart.rows, chart.width)}px`;
  }
}

function update(each, found) {
  each.count.textContent = counted(found.reports);
  each.words.textContent = (found.words ?? [found.glance ?? ""]).map(heard).join(" ");
  each.plan.textContent = planned(found);
  each.found = found;
  const [first] = each.boxes;
  each.png.disabled = found.hidden;
  each.boxes.forEach((chart, place) => {
    const rows = found.hidden ? [] : rowsOf(found, chart);
    if (rows.length > 0) return chart.box.replaceChildren(drawn(each.question, chart, rows, chart.width, found.estimates.filter(({ measure }) => QUARTILES.includes(measure))));
    if (chart !== first) return chart.box.replaceChildren(el("div", { class: "veil" }, el("p", {}, found.hidden ? "" : phrase("only_noise"))));
    each.veil.firstChild.textContent = found.hidden ? phrase("hidden", { minimum: latest.minimum_reports, reports: found.reports }) : phrase("nothing_stands_out");
    chart.box.replaceChildren(each.veil);
  });
  numbers(each, found);
}

/** What was planned beside what came out. */
function planned({ planned: plan, error }) {
  if (!plan) return "";
  const said = (one) => (plan.measure === "share" ? phrase("percentage_points", { number: digits(100 * one, 2) }) : `± ${digits(one, 2)}`);
  return phrase("planned", { error: said(error), planned: said(plan.error), reports: plan.reports });
}

function numbers(each, found) {
  const sure = new Map(found.estimates.filter(({ measure }) => measure === P_VALUE).map(({ answer, value }) => [answer, value]));
  each.body.replaceChildren(...inOrder(found.estimates.filter(({ measure }) => measure !== P_VALUE), each.sorted).map((line) => {
    const format = isShare(line) ? asPercent : asNumber;
    const cells = [format(line.value), line.standard_error === null ? phrase("unknown") : format(line.standard_error), line.low === null ? phrase("unknown") : range(format(line.low), format(line.high)), sure.has(line.answer) ? chance(sure.get(line.answer)) : format(line.cleaned)];
    return el("tr", {}, el("th", { scope: "row" }, line.measure === "share" ? named(line.answer) : line.measure === "share at most" ? phrase("at_most", { number: line.answer }) : joined(named(line.answer), measured(line.measure))), cells.map((cell) => el("td", { class: "n" }, cell)));
  }));
}

/** The questions over time, of a survey with periods; and what it costs a person to be asked again. */
async function overTime(found) {
  if (found.spending) byId("spending").textContent = heard(found.spending.words);
  if (!found.trends?.length) return;
  const { timeline } = await import("./trend.js"), width = room(views[0].time); // all are as wide
  for (const each of views) {
    const own = found.trends.find(({ question }) => question === each.question.id);
    if (own) each.time.replaceChildren(...timeline(own, width, found.confidence));
  }
}

/** The table of periods, while it is open. */
function periods(each, history) {
  if (each.history?.open) each.past.replaceChildren(...history.filter((line) => line.question === each.question.id).map((line) => {
    const first = [...line.estimates].sort((a, b) => b.value - a.value).slice(0, 3);
    const largest = first.map((row) => (row.measure === "share" ? `${named(row.answer)} ${asPercent(row.value)} ± ${row.low === null ? "?" : fixed(50 * (row.high - row.low), 1)}` : `${named(label(row))} ${asNumber(row.value)}`));
    return el("tr", {}, el("th", { scope: "row" }, moment(line.begins)), el("td", { class: "n" }, whole(line.reports)), el("td", {}, line.hidden ? phrase("hidden_below", { minimum: latest.minimum_reports }) : line.words?.map(heard).join(" ") ?? largest.join(", ")));
  }));
}

async function pictures(question, boxes) {
  const note = phrase("picture_note", { people: latest.people, confidence: asLevel(latest.confidence), epsilon: latest.epsilon });
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
  figures = { people: figure(survey.survey.people ? phrase("people_planned", { people: survey.survey.people }) : phrase("people_counted")), ...(operator && { duplicates: figure(phrase("duplicates")), refused: figure(phrase("refused")) }), loss: figure(phrase("largest_change")) };
  live = el("input", { type: "checkbox", id: "live", checked: true, onchange: () => look() });
  level = el("select", { id: "level", onchange: () => look() }, ["0.8", "0.9", "0.95", "0.99"].map((value) => el("option", { value, selected: value === CONFIDENCE }, asLevel(value))));
  share = el("select", { id: "share", onchange: () => look() }, ["0.01", "0.05", "0.1", "0.2"].map((value) => el("option", { value, selected: value === FALSE }, asLevel(value))));
  alarms = el("ul", {});
  bounded = el("tbody");
  when = el("span", { class: "count" }, "");
  const download = (format, media) => el("button", { class: "plain", onclick: async () => {
    try {
      save(`${survey.survey.id}.${format}`, await (await ask(`/v1/results?format=${format}&confidence=${level.value}`)).blob(), media);
    } catch {
      say(phrase("not_downloaded"));
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
    el("div", { class: "bar-of-tools" }, el("label", { class: "check", for: "live" }, live, phrase("live")), el("label", { class: "check", for: "level" }, phrase("confidence")), level, download("csv", "text/csv"), download("json", "application/json"), when),
    el("p", { id: "spending" }),
    views.map((each) => each.element),
    relations.map((each) => each.element),
    el("details", { class: "card", id: "promise" }, el("summary", { id: "proof" }, phrase("computing")), el("p", { id: "loss" }, " "),
      scroll(phrase("loss_label"), el("table", { class: "exact" }, el("thead", {}, el("tr", {}, ["question", "mechanism", "exact_odds", "epsilon", "certificate"].map((name) => el("th", { scope: "col" }, phrase(name))))), promised)),
      el("h3", {}, phrase("certificates")), el("pre", { id: "certificates", dir: "ltr", tabindex: "0", role: "region", "aria-label": phrase("certificates") }, phrase("not_yet"))),
    operator && el("details", { class: "card", id: "fakes" }, el("summary", { id: "suspected" }, phrase("false_reports")), el("p", { id: "who" }, " "), alarms,
      el("h3", {}, phrase("false_reports_hold")),
      el("p", {}, el("label", { class: "check", for: "share" }, phrase("false_share")), " ", share),
      scroll(phrase("false_label"), el("table", {}, el("caption", {}, phrase("false_caption")),
        el("thead", {}, el("tr", {}, ["question", "answer", "interval", "recovered"].map((name, column) => el("th", { scope: "col", class: column > 1 ? "n" : "" }, phrase(name))))), bounded))),
    operator && el("details", { class: "card", id: "refused" }, el("summary", { id: "turned-away" }, phrase("refused_since", { count: 0 })),
      el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, phrase("reason")), el("th", { scope: "col" }, phrase("meaning")), el("th", { scope: "col", class: "n" }, phrase("number")))), refusals)));
  reserve();
}

function whoAnswers({ invited, needs_token: token }) {
  return invited ? phrase("invited_once") : joined(phrase(token ? "with_token" : "anyone"), phrase("many_each"));
}

function promises(found) {
  if (operator) byId("who").textContent = whoAnswers(found);
  promiseKnown = found.certified !== null || found.trouble !== "";
  const odds = Math.exp(found.loss.epsilon ?? Infinity);
  figures.loss.number.textContent = phrase("fold", { number: fold(odds) });
  byId("loss").textContent = phrase(found.loss.odds ? "odds_bounded" : "odds_unbounded", { odds: heard(found.loss.odds), sure: inHundred(atMost(0.5, odds)), epsilon: digits(found.loss.epsilon ?? Infinity, 9), budget: found.budget, unit: heard(found.unit) });
  const state = { true: "certified", false: "uncertified", null: found.trouble ? "no_certificate" : "certifying" }[String(found.certified)];
  byId("proof").textContent = phrase(state, { proof: known(`proof_${found.loss.proof}`, found.loss.proof), trouble: heard(found.trouble), epsilon: digits(found.loss.epsilon ?? Infinity, 4) });
  byId("promise").open ||= found.certified === false;
  if (found.certified !== null) byId("certificates").lang = "en"; // the document is in English, whatever the page is in
  if (found.certified !== null) byId("certificates").textContent = found.questions.map((each) => `${each.question}\n${each.certificate.text}`).join("\n\n");
  [...promised.rows].forEach((row, place) => {
    const each = found.questions[place], certificate = each.certificate;
    const said = phrase(!certificate ? "by_formula" : certificate.holds ? "holds" : "holds_not");
    const cells = [phrase("with_bits", { mechanism: each.mechanism, bits: each.bits }), each.loss.exact ?? each.loss.odds ?? phrase("no_bound"), digits(each.loss.epsilon ?? Infinity, 9)];
    const proof = `${each.loss.proof}${certificate ? `: ${certificate.proved}` : ""} (${each.loss.protects})`;
    cells.forEach((cell, column) => { row.cells[column + 1].textContent = cell; });
    row.cells[4].replaceChildren(`${said}, `, el("span", { lang: "en", dir: "ltr" }, proof)); // in the words of the certificate
  });
}

function refused(counts) {
  const some = Object.entries(counts).filter(([, count]) => count > 0), all = some.reduce((sum, [, count]) => sum + count, 0);
  figures.refused.number.textContent = whole(all);
  byId("turned-away").textContent = phrase("refused_since", { count: all });
  if (all > 0 && refusals.rows.length === 0) byId("refused").open = true; // the first one is worth a look
  refusals.replaceChildren(...some.map(([reason, count]) => el("tr", {}, el("th", { scope: "row" }, reason), el("td", {}, known(`why_${reason}`, "")), el("td", { class: "n" }, whole(count)))));
}

function fakes(found) {
  byId("suspected").textContent = found.suspicions.length === 0 ? phrase("unsuspected") : phrase("suspected", { count: found.suspicions.length });
  byId("fakes").open ||= found.suspicions.length > 0;
  const alarm = (each) => phrase(each.period === undefined ? "alarm" : "alarm_period", { ...each, what: heard(each.what), seen: asNumber(each.seen), allowed: asNumber(each.allowed), chance: each.false_alarm_probability.toExponential(0) });
  alarms.replaceChildren(...found.suspicions.map((each) => el("li", { class: "wrong" }, alarm(each))));
  if (found.suspicions.length === 0) alarms.replaceChildren(el("li", {}, phrase("no_alarm")));
  bounded.replaceChildren(...(found.false_reports?.estimates ?? []).map((each) => el("tr", {}, el("th", { scope: "row" }, each.question), el("td", {}, named(each.answer)),
    el("td", { class: "n" }, range(asPercent(each.low), asPercent(each.high))), el("td", { class: "n" }, each.recovered === undefined ? "–" : asPercent(each.recovered)))));
}

/** Everything that the page shows, asked for at once; the periods only if somebody looks at them. */
function gather() {
  const json = (path) => ask(path).then((answer) => answer.json());
  const history = views.some((each) => each.history?.open);
  const query = `confidence=${level?.value ?? CONFIDENCE}&history=${history}${operator ? `&fakes=${share?.value ?? FALSE}` : ""}`;
  return [json(`/v1/results?${query}`), operator ? json("/v1/intake") : null, promiseKnown ? null : json("/v1/promise")];
}

let turn = 0;
async function look(coming = Promise.all(gather())) {
  const mine = ++turn;
  clearTimeout(timer);
  try {
    const [found, intake, promise] = await coming;
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
    await overTime(found);
    if (found.history) views.forEach((each) => periods(each, found.history));
    relations.forEach((each, place) => relate(each, found.tables[place], latest));
    when.textContent = phrase("as_of", { time: new Date().toLocaleTimeString(where) });
    if (byId("status").textContent) say("");
  } catch (error) {
    if (error.status === 401) return door(true);
    const why = { 429: "busy", 503: "database_away" }[error.status] ?? "unreachable";
    say(joined(phrase(why), phrase("showing_last"), phrase("retrying")));
  }
  if (live.checked) timer = setTimeout(() => (document.hidden ? addEventListener("visibilitychange", look, { once: true }) : look()), EVERY);
}

let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    reserve();
    if (!latest) return;
    latest.questions.forEach((each, place) => update(views[place], each));
    overTime(latest);
  }, 150);
});

async function start() {
  let coming;
  views = [];
  try {
    const [file, state] = await Promise.all(["survey", "status"].map(async (name) => (await fetch(`${base}/v1/${name}`)).json()));
    const { title, results } = state; // as corrected
    survey = file;
    if (survey.survey.window) import("./trend.js"); // arrives while the results are on their way
    byId("title").textContent = title;
    document.title = phrase("window", { title });
    operator = results !== "shared" || token() !== "";
    if (results === "token" && token() === "") return door(false);
    const all = gather();
    coming = Promise.all(all);
    coming.catch(() => null); // look says what went wrong
    if (operator) await all[1]; // before the frame is there: whoever has no token never sees it
  } catch (error) {
    if (error.status === 401) return door(token() !== "");
    return stage(card(phrase("unreachable_title"), "trouble", el("p", {}, phrase("check_connection")), el("div", { class: "buttons" }, el("button", { onclick: start }, phrase("try_again")))));
  }
  build();
  if (!operator) byId("stage").append(el("p", { class: "small" }, el("a", { href: "#", onclick: (event) => { event.preventDefault(); door(false); } }, phrase("i_run"))));
  await look(coming);
}

start();
