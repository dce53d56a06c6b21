/** What anyone could conclude from a report: in odds, in words, and as a picture. */

import { el } from "./dom.js";
import { phrase } from "./texts.js";
import { atMost, fold, inHundred } from "./words.js";

const PRIORS = [["one_in_100", 0.01], ["one_in_10", 0.1], ["even", 0.5]];

function bar(chance) {
  const fill = el("div", { class: "fill" });
  fill.style.width = `${100 * chance}%`;
  return el("div", { class: "track", "aria-hidden": "true" }, fill);
}

/** A table of what chances can become. */
function table(odds) {
  const rows = PRIORS.map(([name, chance]) =>
    el("tr", {}, el("th", { scope: "row" }, phrase(name)), el("td", {}, phrase("at_most_in_100", { number: inHundred(atMost(chance, odds)) })), el("td", {}, bar(atMost(chance, odds)))),
  );
  const head = el("tr", {}, el("th", { scope: "col" }, phrase("odds_before")), el("th", { scope: "col" }, phrase("odds_after")), el("td"));
  const made = el("table", {}, el("caption", {}, phrase("odds_caption")), el("thead", {}, head), el("tbody", {}, rows));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": phrase("odds_label") }, made);
}

/** The promise of a survey to one person. */
export function promise(survey, asked) {
  const odds = Math.exp(survey.loss.epsilon);
  const open = asked.filter((question) => question.sensitive);
  const kept = asked.filter((question) => question.mechanism.lifetimeLoss);
  const again = survey.tree.question.find(({ repeat }) => repeat === "windows");
  if (survey.protection) return spoken(survey.protection(fold(odds)), odds);
  const sentence = phrase(asked.length > 1 ? "promise_all" : "promise_one", { fold: fold(odds), sure: inHundred(atMost(0.5, odds)) });
  return el("section", { class: "card", "aria-labelledby": "promise" },
    el("h2", { id: "promise" }, phrase("conclude")),
    el("p", {}, sentence),
    el("details", {}, el("summary", {}, phrase("more_promise")),
    open.length > 0 && el("p", {}, phrase("protected_only")),
    table(odds),
    kept.map((question) => el("p", {}, phrase("kept_answer", { ask: question.ask, epsilon: short(question.mechanism.lifetimeLoss.epsilon) }))),
    again && el("p", {}, phrase("asked_in_turn", { span: again.span })),
    el("p", { class: "small soft" }, phrase("not_covered"))),
  );
}

/** The promise of a survey that says itself what it protects. */
function spoken([first, ...more], odds) {
  return el("section", { class: "card", "aria-labelledby": "promise" },
    el("h2", { id: "promise" }, phrase("conclude")),
    el("p", {}, first),
    more.map((each) => el("p", {}, each)),
    el("details", {}, el("summary", {}, phrase("more_promise")), table(odds), el("p", { class: "small soft" }, phrase("not_covered"))));
}

const short = (epsilon) => Number(epsilon.toPrecision(6));

/** What this device found when it checked the survey, before anybody answers. */
export function checkedHere(survey, asked) {
  return el("p", { class: "notice checked", id: "checked" }, phrase(survey.protection ? "friends_checked" : asked.length > 1 ? "checked_all" : "checked_one", { epsilon: short(survey.loss.epsilon) }));
}
