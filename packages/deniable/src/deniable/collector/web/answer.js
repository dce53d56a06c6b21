/** The answer page: ask, randomize once, show what will be sent, send it until it arrives, give a receipt. */

import { DeniableError, Device, InvalidLaw, InvalidSurvey, NoRandomness, SecureCoins, Survey, SurveyMismatch, openLedger } from "./deniable.js";
import { explain } from "./reports.js";
import { truthful } from "./chance.js";
import { base, byId, card, el, save, say, stage } from "./dom.js";
import { checkedHere, promise } from "./promise.js";
import { asks, control, mark, own } from "./questions.js";
import { fetchTexts, heard, joined, kept, known, lang, phrase, place } from "./texts.js";
import { listed, moment, quoted, span, whole } from "./words.js";

if (parent !== window) import("./embedded.js"); // a frame of another site

const AGAIN = 20_000; // milliseconds between attempts while the collector cannot be reached
const SUBMIT = `deniable submit ${base}`; // where the tab keeps the invitation code of this survey
const CLOCK = 120; // seconds by which clocks may differ without a word

const again = [phrase("reload"), () => location.reload()];
/** How reports are put into words in another language than the client's own. */
const WORDS = lang === "en" ? undefined : { text: (name, values) => phrase(`report_${name}`, values), quoted, listed };

let ahead = 0; // seconds by which the collector's clock is ahead of ours
const wrongClock = () => Math.abs(ahead) > CLOCK;
const now = () => Date.now() / 1000 + (wrongClock() ? ahead : 0);
/** The terms under which a relay mixes the reports, which came with this page; null if they go to the collector. */
const terms = JSON.parse(byId("mix").content.textContent || "null");
let relay = null; // the module for that
let device, survey, stageNow = "open", needsToken = false, readable = false, sending = false, given = null, truth = null;

// Loading

async function fetched(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

/** The survey and its law, each fetched once, and by how much the collector's clock is ahead. */
function serving() {
  const known = new Map();
  return async (path) => {
    if (!known.has(path)) {
      const answer = await fetched(path);
      const date = Date.parse(answer.headers.get("date") ?? "");
      ahead = Number.isNaN(date) ? 0 : (date - Date.now()) / 1000;
      known.set(path, await answer.text());
    }
    return { ok: true, text: async () => known.get(path) };
  };
}

/** The survey that is served; with a module of its own if it asks whom people know. */
async function served() {
  const fetch = serving();
  try {
    return await Survey.fetch(base, { fetch });
  } catch (error) {
    const text = await fetch(`${base}/v1/survey`).then((answer) => answer.text(), () => "");
    if (!(error instanceof DeniableError) || !text.includes('"kind":"friends"')) throw error;
    const [{ FriendsSurvey, FriendsDevice, memberOf }, { people, said, protection }] = await Promise.all([import("./friends.js"), import("./people.js"), fetchTexts("people", base)]);
    const found = await FriendsSurvey.fetch(base, { fetch });
    const [question] = found.questions;
    question.control = (id) => people(question, id);
    found.said = (message) => said(found, message);
    found.protection = (fold) => protection(found, fold);
    found.device = async (options) => {
      const made = new FriendsDevice(found, options), link = memberOf(location.hash);
      if (link) await made.belongs(link).then(() => history.replaceState(null, "", location.pathname + location.search));
      question.remembered = await made.remembered();
      return made;
    };
    return found;
  }
}

/** Show the survey; fetched once more if it does not go with its law, because the next round may open between the two answers. */
async function load(retried = false) {
  try {
    survey = await served();
  } catch (error) {
    if (error instanceof InvalidLaw && !retried) return load(true);
    if (!(error instanceof DeniableError)) {
      const away = ["429", "503"].includes(error.message) ? "busy" : "unreachable";
      return trouble(phrase("not_loaded"), joined(phrase(away), phrase("check_connection"), phrase("nothing_sent")), [phrase("try_again"), () => load()]);
    }
    if (error instanceof InvalidLaw) return unproved(error);
    if (!(error instanceof InvalidSurvey)) throw error;
    return unknown(error.message);
  }
  const strange = survey.questions.flatMap(({ asked }) => asked).find((question) => !asks(question));
  if (strange) return unknown(phrase("strange_kind", { kind: strange.kind }));
  const { language } = survey.tree.survey;
  if (language) byId("title").lang = language;
  document.title = byId("title").textContent = survey.title;
  await shown();
  byId("lead").hidden = false; // only now: a long title moves it
  try {
    new SecureCoins();
  } catch (error) {
    if (!(error instanceof NoRandomness)) throw error;
    return trouble(phrase("no_randomness"), joined(phrase("no_randomness_why"), phrase("nothing_sent")));
  }
  const ledger = await openLedger();
  if (terms) {
    device = await mixing(ledger);
    if (!device) return;
  } else device = survey.device ? await survey.device({ ledger, now }) : survey.tree.question.some(({ repeat = "once" }) => repeat !== "once") ? new (await import("./repeated.js")).RepeatedDevice(survey, { ledger, now }) : new Device(survey, { ledger, now });
  if (survey.invitations && !(await invited(ledger))) return;
  if (ledger.lasting) return resume();
  trouble(phrase("no_storage"), phrase("no_storage_why"), again, [phrase("answer_once"), () => { addEventListener("beforeunload", guard); ask(); }]);
}

/** What the collector says of the survey besides: a corrected title, which is only shown, and whether it is open. */
async function shown() {
  try {
    const found = await (await fetched(`${base}/v1/status`)).json();
    if (found.fingerprint !== survey.fingerprint) return;
    document.title = byId("title").textContent = String(found.title);
    stageNow = found.stage;
    needsToken = found.needs_token;
    readable = found.results !== "token";
  } catch {
    // offline: the title of the survey stands
  }
}

/** A device that sends through the relay and nowhere else; null, and the reason is shown, if this browser or the terms will not do. */
async function mixing(ledger) {
  [relay] = await Promise.all([import("./relay.js"), fetchTexts("mix", base)]);
  byId("foot").textContent = phrase("mix_foot", { address: terms.relay });
  if (!(await relay.canSeal())) {
    trouble(phrase("mix_no_sealing"), joined(phrase("mix_no_sealing_why"), phrase("nothing_sent")), again);
    return null;
  }
  try {
    return new relay.MixedDevice(survey, terms, { ledger, now });
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    trouble(phrase("mix_wrong"), joined(heard(error.message), phrase("mix_tell"), phrase("nothing_sent")), again);
    return null;
  }
}

// Invitations
let invitation = null, seal = null, code = null; // of a survey for invited people
const LATER = [0, 408, 425, 429, 500, 502, 503, 504]; // the same exchange may succeed later

/** For invited people only: the invitation is exchanged at once, so that it is long over when the report is sent. */
async function invited(ledger) {
  const { Invitation, codeOf, withToken } = await import("./invitation.js");
  invitation = new Invitation(survey, ledger);
  seal = (token) => (message) => withToken(message, token);
  code = codeOf(location.hash);
  if ((await device.entry().catch(() => null))?.state === "sent") return true;
  if (!code && !(await invitation.state())) {
    trouble(phrase("invited_only"), joined(phrase("open_link"), phrase("nothing_sent")));
    return false;
  }
  const right = await exchanged();
  if (right && !right.token && !LATER.includes(right.status)) notInvited(right);
  return right !== null && (Boolean(right.token) || LATER.includes(right.status));
}

/** The token, or what the collector says instead; null if nothing was exchanged because it cannot be trusted. */
async function exchanged() {
  try {
    const right = await invitation.right(base, code);
    if (right.token && code) history.replaceState(null, "", location.pathname + location.search); // the ledger has what it needs
    return right;
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    trouble(phrase("invitation_unused"), joined(heard(error.message), phrase("nothing_sent")), again);
    return null;
  }
}

function notInvited({ status, detail }) {
  trouble(phrase("invitation_useless"), joined(heard(detail) || phrase("status_answer", { status }), phrase("nothing_sent")));
}

function unknown(reason) {
  trouble(phrase("unknown_survey"), joined(heard(reason), phrase("unknown_survey_why"), phrase("nothing_sent")), again);
}

/** The law of the survey could not be proved on this device: nothing runs. The reason is for whoever runs the survey. */
function unproved(error) {
  console.error(error.message);
  if (error.message.includes("another survey")) return trouble(phrase("changing"), joined(phrase("changing_why"), phrase("nothing_sent")), again);
  trouble(phrase("unproved"), joined(phrase("unproved_notice"), phrase("nothing_sent"), phrase("unproved_reason", { reason: error.message })), again);
}

function guard(event) {
  if (given !== null) event.preventDefault();
}

/** Go on where this person was: nothing yet, randomized but not sent, on its way, or done. */
async function resume() {
  let entry;
  try {
    entry = await device.entry();
  } catch (error) {
    if (!(error instanceof SurveyMismatch)) throw error;
    return trouble(phrase("other_version"), phrase("other_version_why"));
  }
  if (entry === null) return ask();
  if (entry.state === "sent") return receipt(entry);
  if (agreed()) return deliver();
  return review();
}

/** Small things to remember; where storage is blocked, for as long as the tab lives. */
const memory = new Map();

function remember(store, name, value) {
  memory.set(name, value);
  try {
    globalThis[store].setItem(name, value);
  } catch {
    // the tab remembers
  }
}

function recall(store, name) {
  try {
    return memory.get(name) ?? globalThis[store].getItem(name);
  } catch {
    return memory.get(name) ?? null;
  }
}

/** Whether the person pressed Send: nothing leaves before, not even on a later visit. */
const consent = () => `deniable send ${survey.lasting}${device.period === undefined ? "" : ` ${device.period}`}`, agreed = () => recall("localStorage", consent()) === "yes";

// Asking

function clockNotice() {
  if (!wrongClock()) return null;
  return el("p", { class: "notice" }, phrase(ahead > 0 ? "clock_behind" : "clock_ahead", { time: span(ahead) }));
}

const STAGES = { draft: "not_open", closed: "closed", archived: "closed", deleted: "closed" };

async function ask() {
  if (STAGES[stageNow]) return trouble(phrase(STAGES[stageNow]), joined(phrase(`stage_${stageNow}`), phrase("nothing_sent")));
  if (!survey.isOpen(now())) {
    const closed = survey.closes !== null && now() >= survey.closes;
    const when = closed ? phrase("closed_on", { when: moment(survey.closes) }) : phrase("opens_on", { when: moment(survey.opens) });
    return trouble(phrase(closed ? "closed" : "not_open"), joined(when, phrase("check_clock"), phrase("nothing_sent")));
  }
  if (device.due && !(await device.due())) return trouble(phrase("not_due"), joined(phrase("not_due_why", { when: moment(await device.nextDue()) }), phrase("nothing_sent")));
  const questions = await device.questions();
  const controls = questions.flatMap(({ asked }) => asked).map(control);
  const summary = el("div", { class: "card trouble summary", tabindex: "-1", hidden: true });
  const form = el("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); randomize(controls, summary, button); } });
  const button = el("button", { class: "main", type: "submit" }, phrase("randomize", { count: controls.length }));
  const part = survey.budget === "sampled" && el("p", { class: "notice" },
    phrase(survey.questions.some(({ together }) => together) ? "sampled_parts" : "sampled_questions", { number: questions.length, all: survey.questions.length }));
  const anonymous = invitation && el("p", { class: "notice", id: "anonymous" }, phrase("anonymous"));
  form.append(...[checkedHere(survey, questions), relay?.notice(terms), anonymous, clockNotice(), part, summary, ...controls.map((each) => each.element)].filter(Boolean),
    el("p", { class: "soft" }, phrase("not_sent_yet")),
    el("div", { class: "buttons" }, button));
  stage(form, promise(survey, questions), relay?.protection(survey, terms));
  certificate();
}

/** What the collector says besides: whether people need an invitation, and whether its own certificate holds. */
async function certificate() {
  try {
    const found = await (await fetched(`${base}/v1/promise`)).json();
    needsToken = found.needs_token;
    if (found.certified === false) return trouble(phrase("no_certificate"), phrase("no_certificate_why"));
  } catch {
    // offline: what this device proved stands without it
  }
}

async function randomize(controls, summary, button) {
  const answers = {}, problems = [];
  for (const each of controls) {
    let problem = null;
    try {
      answers[each.question.id] = each.read();
    } catch (error) {
      problem = error;
      problems.push(error);
    }
    mark(each, problem);
  }
  summary.hidden = problems.length === 0;
  if (problems.length > 0) {
    summary.replaceChildren(el("h2", {}, phrase("correct_these")), el("ul", {}, problems.map((problem) =>
      el("li", {}, el("a", { href: `#${problem.field}`, onclick: (event) => { event.preventDefault(); byId(problem.field).focus(); } }, problem.message)))));
    return summary.focus();
  }
  button.disabled = true;
  try {
    await device.answer(answers);
  } catch (error) {
    button.disabled = false;
    if ((await device.entry()) !== null) return resume(); // answered in another tab
    summary.hidden = false;
    summary.replaceChildren(el("h2", {}, phrase("not_randomized")), el("p", {}, heard(error.message)));
    return summary.focus();
  }
  given = Object.fromEntries(controls.map((each) => [each.question.id, each.describe(answers[each.question.id])]));
  truth = answers;
  review();
}

// Showing and sending

/** The bits of a report, folded away. */
function bits(line) {
  const shown = line.bits.length <= 160 ? line.bits : phrase("more_bits", { bits: line.bits.slice(0, 160), count: line.bits.length });
  return el("details", { class: "small" }, el("summary", {}, phrase("as_bits")), el("p", { class: "bits mono" }, shown));
}

/** What a report says, in words. */
const explained = (message) => (survey.said ? survey.said(message) : explain(survey, message, WORDS));

async function comparison() {
  const lines = explained(await device.message());
  return lines.map((line) => {
    const question = survey.questions.find((each) => each.id === line.question);
    const mine = el("div", {}, el("h3", {}, phrase("your_answer")), el("p", { class: "answer" }, given ? question.asked.map(({ id }) => given[id]).join(", ") : phrase("not_stored")));
    const theirs = el("div", { class: "sent" }, el("h3", {}, phrase("what_is_sent")), el("p", { class: "answer" }, line.text), bits(line));
    const chance = line.disclosed || survey.said ? null : truthful(question, truth, line.fields);
    return el("section", { class: "card" }, el("h2", {}, own(question.ask)), el("div", { class: "pair" }, mine, theirs),
      question.together && el("p", { class: "small soft" }, phrase("together")),
      chance && el("p", { class: "small chance" }, chance),
      el("p", { class: "small soft" }, phrase(line.disclosed ? "disclosed" : question.sensitive ? "every_protected" : "every_other")));
  });
}

async function review() {
  const lines = await comparison();
  const field = el("input", { type: "password", id: "token", autocomplete: "off" });
  const asksCode = needsToken && !terms; // a relay asks nobody for one
  const invited = asksCode && el("div", { class: "card" }, el("label", { class: "ask", for: "token" }, phrase("code")), el("p", { class: "hint" }, phrase("code_hint")), field);
  const go = el("button", { class: "main", onclick: () => {
    if (asksCode) remember("sessionStorage", SUBMIT, field.value.trim());
    remember("localStorage", consent(), "yes");
    deliver();
  } }, phrase("send"));
  stage(card(phrase("will_be_sent"), "bare", el("p", {}, phrase("will_be_sent_why"))),
    lines, promise(survey, await device.questions()), relay?.protection(survey, terms), invited, el("div", { class: "buttons reach" }, go));
  certificate();
}

/** Do this in one tab at a time, where the browser lets a page know of its other tabs: a frame without storage may not. */
async function inOneTab(name, work) {
  if (!navigator.locks) return work();
  return navigator.locks.request(name, work).catch((error) => {
    if (error.name !== "SecurityError") throw error;
    return work();
  });
}

/** Send what the ledger holds, in one tab at a time, now and later until it has arrived. */
async function deliver() {
  if (sending) return;
  sending = true;
  if (!reason.isConnected) say(phrase("sending"));
  const token = recall("sessionStorage", SUBMIT) || undefined;
  try {
    const right = invitation && (await exchanged());
    if (invitation && !right?.token) return right && (LATER.includes(right.status) ? waiting(right) : notInvited(right));
    if (right && right.after > Date.now()) return soon(right.after - Date.now());
    const send = () => device.send(terms ? "" : base, { attempts: 3, token, seal: right ? seal(right.token) : undefined });
    const outcome = await inOneTab(`deniable ${survey.lasting}`, send);
    sending = false;
    if (outcome.state === "kept") return waiting(outcome);
    if (outcome.state === "refused" && outcome.status === 401) {
      needsToken = true;
      await review();
      return say(phrase("code_needed"));
    }
    const entry = await device.entry();
    return outcome.state === "sent" ? receipt(entry) : refused(outcome);
  } finally {
    sending = false;
  }
}

/** The report waits, so that its arrival says nothing about the invitation. */
function soon(wait) {
  clearTimeout(timer);
  timer = setTimeout(deliver, Math.min(wait, 1e9));
  say(phrase("soon_status"));
  stage(card(phrase("soon"), "", el("p", {}, phrase("soon_why", { time: span(wait / 1000) })),
    el("p", {}, phrase("keep_open"))));
}

let timer;
const reason = el("p");
function waiting(outcome) {
  clearTimeout(timer);
  timer = setTimeout(deliver, AGAIN);
  reason.textContent = outcome.status === 0 ? joined(phrase(terms ? "mix_unreachable" : "unreachable"), phrase("no_network")) : phrase(terms ? "mix_says" : "collector_says", { what: heard(outcome.detail) || phrase("status", { status: outcome.status }) });
  say(phrase("later_status"));
  if (reason.isConnected) return; // already shown; the focus stays where it is
  stage(card(phrase("later"), "", reason,
    el("p", {}, phrase(terms ? "mix_later" : "later_why")),
    el("div", { class: "buttons" }, el("button", { class: "plain", onclick: deliver }, phrase("try_now")))));
}

addEventListener("online", async () => {
  if (device && agreed() && (await device.entry())?.state === "kept") deliver();
});

function refused(outcome) {
  given = truth = null;
  say(phrase("refused_status"));
  stage(card(phrase("refused"), "trouble", el("p", {}, heard(outcome.detail) || phrase("status_answer", { status: outcome.status })),
    el("p", {}, terms && outcome.status === 409 ? phrase("mix_other_terms") : known(`refused_${outcome.status}`, phrase("refused_otherwise"))),
    el("div", { class: "buttons" }, el("button", { class: "plain", onclick: deliver }, phrase("send_again")))));
}

// The receipt

async function askedAgain() {
  const { reports, epsilon } = await device.spent();
  return phrase("asked_again", { when: moment(await device.nextDue()), reports, epsilon: Number(epsilon.toPrecision(4)) });
}

/** What comes after this round, for the same people; the page looks for it, and the list can be forgotten. */
async function nextRound() {
  const { round } = survey, last = round >= survey.tree.survey.rounds;
  if (last) return el("p", { id: "rounds" }, phrase("friends_last"));
  clearTimeout(timer);
  timer = setTimeout(async function look() {
    const now = await fetched(`${base}/v1/status`).then((answer) => answer.json(), () => null);
    if (now && now.fingerprint !== survey.fingerprint) return location.reload();
    timer = setTimeout(look, AGAIN);
  }, AGAIN);
  const forget = el("button", { class: "plain", onclick: async () => { await device.forget(); forget.remove(); say(phrase("friends_forgotten")); } }, phrase("friends_forget"));
  const keeps = (await device.remembered())?.knows;
  return el("div", { id: "rounds" }, el("p", {}, phrase("friends_next", { round: round + 1 })), keeps && el("p", {}, phrase("friends_keeps")), keeps && forget);
}

async function receipt(entry) {
  document.documentElement.dataset.state = "sent";
  const message = await device.message();
  const id = entry.message.slice(48, 80);
  const lines = explained(message);
  const sentAt = entry.sentAt ? new Date(entry.sentAt) : null;
  const data = {
    survey: survey.id, title: survey.title, fingerprint: survey.fingerprint, report: id, sent: sentAt?.toISOString() ?? null,
    epsilon: survey.epsilon, said: lines.map((line) => ({ question: line.question, text: line.text, bits: line.bits })),
    bytes: entry.message, ...(relay && { relay: terms.relay, terms: relay.termsFingerprint(terms) }),
  };
  const text = JSON.stringify(data, null, 2);
  const copy = el("button", { class: "plain", onclick: () => navigator.clipboard?.writeText(text).then(() => say(phrase("copied")), () => say(phrase("not_copied"))) }, phrase("copy"));
  const fields = [[phrase("field_report"), id], [phrase("field_arrived"), sentAt ? sentAt.toLocaleString(place) : phrase("earlier")], [phrase("field_survey"), `${survey.id} ${survey.fingerprint}`]];
  say(given ? phrase("arrived") : "");
  stage(
    card(phrase(given ? "thanks" : "answered"), "good",
      relay && el("p", { id: "stored" }, phrase("mix_stored", { people: whole(terms.people) })),
      el("p", {}, device.spent ? await askedAgain() : phrase("counted_once")),
      device.remembered && (await nextRound()),
      el("dl", {}, fields.map(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value)])),
      el("h3", {}, phrase("what_was_sent")),
      el("ul", {}, lines.map((line) => el("li", {}, `${survey.questions.find((each) => each.id === line.question).ask} ${line.text}`))),
      el("div", { class: "buttons" }, el("button", { class: "plain", onclick: () => save(`receipt-${survey.id}.json`, text, "application/json") }, phrase("download_receipt")), navigator.clipboard && copy, el("button", { class: "plain", onclick: () => print() }, phrase("print")))),
    readable && el("p", { class: "card", id: "shared" }, el("a", { href: `results${kept}` }, phrase("see_results")), `. ${phrase("see_results_why")}`),
    promise(survey, await device.questions()), relay?.protection(survey, terms));
  given = truth = null;
  certificate();
}

function trouble(title, text, ...actions) {
  say("");
  stage(card(title, "trouble", el("p", {}, text),
    actions.length > 0 && el("div", { class: "buttons" }, actions.map(([name, act], place) => el("button", { class: place ? "plain" : "main", onclick: act }, name)))));
}

addEventListener("unhandledrejection", ({ reason }) => {
  const why = reason instanceof DeniableError ? heard(reason.message) : phrase("could_not_continue");
  trouble(phrase("wrong"), joined(why, phrase("wrong_why")), again);
});

load();
if (navigator.serviceWorker) navigator.serviceWorker.register("worker.js").catch(() => {}); // without it the page needs a network
