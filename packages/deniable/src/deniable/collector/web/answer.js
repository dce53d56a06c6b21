/** The answer page: ask, randomize once, show what will be sent, send it until it arrives, give a receipt. */

import { DeniableError, Device, InvalidLaw, InvalidSurvey, NoRandomness, SecureCoins, Survey, SurveyMismatch, openLedger } from "./deniable.js";
import { explain } from "./reports.js";
import { truthful } from "./chance.js";
import { base, byId, card, el, save, say, stage } from "./dom.js";
import { checkedHere, promise } from "./promise.js";
import { asks, control, mark } from "./questions.js";
import { moment, span } from "./words.js";

if (parent !== window) import("./embedded.js"); // a frame of another site

const AGAIN = 20_000; // milliseconds between attempts while the collector cannot be reached
const SUBMIT = `deniable submit ${base}`; // where the tab keeps the invitation code of this survey
const CLOCK = 120; // seconds by which clocks may differ without a word

let ahead = 0; // seconds by which the collector's clock is ahead of ours
const wrongClock = () => Math.abs(ahead) > CLOCK;
const now = () => Date.now() / 1000 + (wrongClock() ? ahead : 0);
let device, survey, stageNow = "open", needsToken = false, readable = false, sending = false, given = null, truth = null;

// Loading

async function fetched(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

/** The survey and its law, and by how much the collector's clock is ahead. */
async function served(path) {
  const answer = await fetched(path);
  const date = Date.parse(answer.headers.get("date") ?? "");
  ahead = Number.isNaN(date) ? 0 : (date - Date.now()) / 1000;
  return answer;
}

/** Show the survey; fetched once more if it does not go with its law, because the next round may open between the two answers. */
async function load(again = false) {
  try {
    survey = await Survey.fetch(base, { fetch: served });
  } catch (error) {
    if (error instanceof InvalidLaw && !again) return load(true);
    if (!(error instanceof DeniableError)) {
      const away = ["429", "503"].includes(error.message) ? "The collector is busy." : "The collector cannot be reached.";
      return trouble("The survey could not be loaded", `${away} Check your connection, wait a moment and try again. Nothing was sent.`, ["Try again", () => load()]);
    }
    if (error instanceof InvalidLaw) return unproved(error);
    if (!(error instanceof InvalidSurvey)) throw error;
    return unknown(error.message);
  }
  const strange = survey.questions.flatMap(({ asked }) => asked).find((question) => !asks(question));
  if (strange) return unknown(`It cannot ask a question of kind “${strange.kind}”.`);
  document.title = byId("title").textContent = survey.title;
  await shown();
  byId("lead").hidden = false; // only now: a long title moves it
  try {
    new SecureCoins();
  } catch (error) {
    if (!(error instanceof NoRandomness)) throw error;
    return trouble("Secure randomness is not available", "This browser lacks WebCrypto. Without secure randomness your answer would not be protected. Use a current browser. Nothing was sent.");
  }
  const ledger = await openLedger();
  device = survey.tree.question.some(({ repeat = "once" }) => repeat !== "once") ? new (await import("./repeated.js")).RepeatedDevice(survey, { ledger, now }) : new Device(survey, { ledger, now });
  if (survey.invitations && !(await invited(ledger))) return;
  if (ledger.lasting) return resume();
  trouble("This browser blocks storage for this page", "Storage is blocked or full, perhaps because of a private window or a setting. The page would forget that you answered, and a second answer would be randomized again and cost you more privacy. Allow storage for this site and reload the page. Or answer now, once, and keep this tab open until you see the receipt.",
    ["Reload", () => location.reload()], ["Answer once in this tab", () => { addEventListener("beforeunload", guard); ask(); }]);
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
  byId("results").classList.remove("unsure");
  byId("results").hidden = !readable; // a form for a token is of no use to people who answer
  byId("operators").hidden = readable;
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
    trouble("This survey is for invited people", "Open the link that you received, all of it. Nothing was sent.");
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
    if (right.token && code) history.replaceState(null, "", location.pathname); // the ledger has what it needs
    return right;
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    trouble("Your invitation was not used", `${error.message} Nothing was sent.`, ["Reload", () => location.reload()]);
    return null;
  }
}

function notInvited({ status, detail }) {
  trouble("Your invitation cannot be used", `${detail || `The collector answered with status ${status}.`} Nothing was sent.`);
}

function unknown(reason) {
  trouble("This page cannot show this survey", `${reason} Reload the page to get the newest version. If that does not help, tell the people who run the survey that their collector and its pages do not match. Nothing was sent.`, ["Reload", () => location.reload()]);
}

/** The law of the survey could not be proved on this device: nothing runs. The reason is for whoever runs the survey. */
function unproved(error) {
  console.error(error.message);
  if (error.message.includes("another survey")) return trouble("This survey is changing right now", "Its next round opened while this page was loading. Wait a moment and reload the page. Nothing was sent.", ["Reload", () => location.reload()]);
  trouble("This survey will not be answered here", `${error.notice} Nothing was sent. Tell the people who run the survey, and give them this reason: ${error.message}`, ["Reload", () => location.reload()]);
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
    return trouble("You answered another version of this survey", "This survey has the same name as one that you answered here, but different questions. It is not asked again, because that would cost you more privacy than promised. Tell the people who run the survey. Your report stays as it was.");
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
  return el("p", { class: "notice" }, `The clock of this device is ${span(ahead)} ${ahead > 0 ? "behind" : "ahead"}. This page uses the collector’s time instead.`);
}

const STAGES = {
  draft: ["This survey is not open yet", "It is still being prepared. Come back later."],
  closed: ["This survey is closed", "It was closed early."],
  archived: ["This survey is closed", "It has ended."],
  deleted: ["This survey is closed", "It was deleted, with all its reports."],
};

async function ask() {
  if (STAGES[stageNow]) return trouble(STAGES[stageNow][0], `${STAGES[stageNow][1]} Nothing was sent.`);
  if (!survey.isOpen(now())) {
    const closed = survey.closes !== null && now() >= survey.closes;
    const when = closed ? `It closed on ${moment(survey.closes)}.` : `It opens on ${moment(survey.opens)}. Come back then.`;
    return trouble(closed ? "This survey is closed" : "This survey is not open yet", `${when} If that seems wrong, check the clock of this device. Nothing was sent.`);
  }
  if (device.due && !(await device.due())) return trouble("Nothing is asked of you now", `You report in one of several periods, which your device drew once. Come back on ${moment(await device.nextDue())}. Nothing was sent.`);
  const questions = await device.questions();
  const controls = questions.flatMap(({ asked }) => asked).map(control);
  const summary = el("div", { class: "card trouble summary", tabindex: "-1", hidden: true });
  const form = el("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); randomize(controls, summary, button); } });
  const button = el("button", { class: "main", type: "submit" }, "Randomize my answer" + (controls.length > 1 ? "s" : ""));
  const part = survey.budget === "sampled" && el("p", { class: "notice" },
    `You are asked ${questions.length} of ${survey.questions.length} ${survey.questions.some(({ together }) => together) ? "parts of the survey" : "questions"}. Your device drew them at random before you answered anything.`);
  const anonymous = invitation && el("p", { class: "notice", id: "anonymous" },
    "Your invitation was exchanged for an anonymous token. Those who invited you can see that you used it. Nobody can see which report is yours.");
  form.append(...[checkedHere(survey, questions), anonymous, clockNotice(), part, summary, ...controls.map((each) => each.element)].filter(Boolean),
    el("p", { class: "soft" }, "Nothing is sent yet. You will see the randomized report first. It is drawn only once."),
    el("div", { class: "buttons" }, button));
  stage(form, promise(survey, questions));
  certificate();
}

/** What the collector says besides: whether people need an invitation, and whether its own certificate holds. */
async function certificate() {
  try {
    const found = await (await fetched(`${base}/v1/promise`)).json();
    needsToken = found.needs_token;
    if (found.certified === false) return trouble("The privacy promise does not hold", "The certificate of this survey does not hold: its reports reveal more than promised. Do not answer, and tell the people who run the survey.");
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
    summary.replaceChildren(el("h2", {}, "Please correct these answers"), el("ul", {}, problems.map((problem) =>
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
    summary.replaceChildren(el("h2", {}, "Nothing was randomized"), el("p", {}, error.message));
    return summary.focus();
  }
  given = Object.fromEntries(controls.map((each) => [each.question.id, each.describe(answers[each.question.id])]));
  truth = answers;
  review();
}

// Showing and sending

/** The bits of a report, folded away. */
function bits(line) {
  const shown = line.bits.length <= 160 ? line.bits : `${line.bits.slice(0, 160)}… (${line.bits.length} bits)`;
  return el("details", { class: "small" }, el("summary", {}, "As bits"), el("p", { class: "bits mono" }, shown));
}

async function comparison() {
  const lines = explain(survey, await device.message());
  return lines.map((line) => {
    const question = survey.questions.find((each) => each.id === line.question);
    const mine = el("div", {}, el("h3", {}, "Your answer (stays here)"), el("p", { class: "answer" }, given ? question.asked.map(({ id }) => given[id]).join(", ") : "not stored, not even here"));
    const theirs = el("div", { class: "sent" }, el("h3", {}, "What is sent"), el("p", { class: "answer" }, line.text), bits(line));
    const chance = line.disclosed ? null : truthful(question, truth, line.fields);
    return el("section", { class: "card" }, el("h2", {}, question.ask), el("div", { class: "pair" }, mine, theirs),
      question.together && el("p", { class: "small soft" }, "Your answers to these questions are reported together, as one randomized combination."),
      chance && el("p", { class: "small chance" }, chance),
      el("p", { class: "small soft" }, line.disclosed ? "This answer is not marked “protected”, so it is sent as it is." : `Every ${question.sensitive ? "protected" : "other"} answer could have led to the same report.`));
  });
}

async function review() {
  const lines = await comparison();
  const field = el("input", { type: "password", id: "token", autocomplete: "off" });
  const invited = needsToken && el("div", { class: "card" }, el("label", { class: "ask", for: "token" }, "Your invitation code"), el("p", { class: "hint" }, "Only invited people can take part in this survey."), field);
  const go = el("button", { class: "main", onclick: () => {
    if (needsToken) remember("sessionStorage", SUBMIT, field.value.trim());
    remember("localStorage", consent(), "yes");
    deliver();
  } }, "Send the report");
  stage(card("This is what will be sent", "bare", el("p", {}, "Your answer was randomized on this device. Nothing has been sent yet. If you leave now, this report waits here for you; it is never drawn again.")),
    lines, promise(survey, await device.questions()), invited, el("div", { class: "buttons reach" }, go));
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
  if (!reason.isConnected) say("Sending.");
  const token = recall("sessionStorage", SUBMIT) || undefined;
  try {
    const right = invitation && (await exchanged());
    if (invitation && !right?.token) return right && (LATER.includes(right.status) ? waiting(right) : notInvited(right));
    if (right && right.after > Date.now()) return soon(right.after - Date.now());
    const send = () => device.send(base, { attempts: 3, token, seal: right ? seal(right.token) : undefined });
    const outcome = await inOneTab(`deniable ${survey.lasting}`, send);
    sending = false;
    if (outcome.state === "kept") return waiting(outcome);
    if (outcome.state === "refused" && outcome.status === 401) {
      needsToken = true;
      await review();
      return say("The collector requires a valid invitation code. Your report is still here.");
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
  say("The report is saved and will be sent soon.");
  stage(card("Saved, to be sent soon", "", el("p", {}, `Your report will be sent within ${span(wait / 1000)}. It waits so that nobody can guess from the time which invitation it belongs to.`),
    el("p", {}, "Keep this page open, or open it again later.")));
}

let timer;
const reason = el("p");
function waiting(outcome) {
  clearTimeout(timer);
  timer = setTimeout(deliver, AGAIN);
  reason.textContent = outcome.status === 0 ? "The collector cannot be reached. Perhaps there is no network." : `The collector says: ${outcome.detail || `status ${outcome.status}`}`;
  say("The report is saved and will be sent later.");
  if (reason.isConnected) return; // already shown; the focus stays where it is
  stage(card("Saved, to be sent later", "", reason,
    el("p", {}, "Your report is safe on this device. It will be sent unchanged when the collector responds: automatically while this page is open, otherwise when you open it again."),
    el("div", { class: "buttons" }, el("button", { class: "plain", onclick: deliver }, "Try now"))));
}

addEventListener("online", async () => {
  if (device && agreed() && (await device.entry())?.state === "kept") deliver();
});

function refused(outcome) {
  given = truth = null;
  const what = {
    409: "The collector now runs another survey. Reload the page to see it; this report cannot be counted there.",
    410: "The survey or its period is over. There is nothing more to do.",
    422: "The collector considers the report invalid. Tell the people who run the survey that this page and their collector do not match.",
  };
  say("The report was refused.");
  stage(card("The report was refused", "trouble", el("p", {}, outcome.detail || `The collector answered with status ${outcome.status}.`),
    el("p", {}, what[outcome.status] ?? "You can send it again later, unchanged."),
    el("div", { class: "buttons" }, el("button", { class: "plain", onclick: deliver }, "Send the same report again"))));
}

// The receipt

async function receipt(entry) {
  document.documentElement.dataset.state = "sent";
  const message = await device.message();
  const id = entry.message.slice(48, 80);
  const lines = explain(survey, message);
  const sentAt = entry.sentAt ? new Date(entry.sentAt) : null;
  const data = {
    survey: survey.id, title: survey.title, fingerprint: survey.fingerprint, report: id, sent: sentAt?.toISOString() ?? null,
    epsilon: survey.epsilon, said: lines.map((line) => ({ question: line.question, text: line.text, bits: line.bits })),
    bytes: entry.message,
  };
  const text = JSON.stringify(data, null, 2);
  const copy = el("button", { class: "plain", onclick: () => navigator.clipboard?.writeText(text).then(() => say("The receipt is copied."), () => say("The browser does not allow copying. Download it instead.")) }, "Copy");
  const fields = [["Report", id], ["Arrived", sentAt ? sentAt.toLocaleString() : "earlier"], ["Survey", `${survey.id} ${survey.fingerprint}`]];
  say(given ? "Your report has arrived." : "");
  stage(
    card(given ? "Thank you. Your report has arrived" : "You have answered", "good",
      el("p", {}, device.spent ? `You are asked again on ${moment(await device.nextDue())}. Number of your reports so far: ${(await device.spent()).reports}. They cost epsilon ${Number((await device.spent()).epsilon.toPrecision(4))}, all together.` : "It is counted once, however often it is sent. It cannot be changed: a second answer would cost you more privacy."),
      el("dl", {}, fields.map(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value)])),
      el("h3", {}, "What was sent"),
      el("ul", {}, lines.map((line) => el("li", {}, `${survey.questions.find((each) => each.id === line.question).ask} ${line.text}`))),
      el("div", { class: "buttons" }, el("button", { class: "plain", onclick: () => save(`receipt-${survey.id}.json`, text, "application/json") }, "Download the receipt"), navigator.clipboard && copy, el("button", { class: "plain", onclick: () => print() }, "Print"))),
    readable && el("p", { class: "card", id: "shared" }, el("a", { href: "results" }, "See the results so far"), ". They are estimates from the randomized reports of everybody who answered."),
    promise(survey, await device.questions()));
  given = truth = null;
  certificate();
}

function trouble(title, text, ...actions) {
  say("");
  stage(card(title, "trouble", el("p", {}, text),
    actions.length > 0 && el("div", { class: "buttons" }, actions.map(([name, act], place) => el("button", { class: place ? "plain" : "main", onclick: act }, name)))));
}

addEventListener("unhandledrejection", ({ reason }) => {
  const why = reason instanceof DeniableError ? reason.message : "This page could not continue.";
  trouble("Something went wrong", `${why} Nothing was sent without your consent, and no report is lost. Reload the page.`, ["Reload", () => location.reload()]);
});

load();
if (navigator.serviceWorker) navigator.serviceWorker.register("worker.js").catch(() => {}); // without it the page needs a network
