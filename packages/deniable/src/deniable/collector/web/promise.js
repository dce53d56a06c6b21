/** What anyone could conclude from a report: in odds, in words, and as a picture. */

import { el } from "./dom.js";
import { atMost, fold, inHundred } from "./words.js";

const PRIORS = [["1 in 100", 0.01], ["1 in 10", 0.1], ["even", 0.5]];

function bar(chance) {
  const fill = el("div", { class: "fill" });
  fill.style.width = `${100 * chance}%`;
  return el("div", { class: "track", "aria-hidden": "true" }, fill);
}

/** A table of what chances can become. */
function table(odds) {
  const rows = PRIORS.map(([name, chance]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, `at most ${inHundred(atMost(chance, odds))} in 100`), el("td", {}, bar(atMost(chance, odds)))),
  );
  const head = el("tr", {}, el("th", { scope: "col" }, "before the report"), el("th", { scope: "col" }, "after the report"), el("td"));
  const made = el("table", {}, el("caption", {}, "How likely somebody considers one answer rather than another"), el("thead", {}, head), el("tbody", {}, rows));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What chances can become" }, made);
}

/** The promise of a survey to one person. */
export function promise(survey, asked) {
  const odds = Math.exp(survey.loss.epsilon);
  const open = asked.filter((question) => question.sensitive);
  const kept = asked.filter((question) => question.mechanism.lifetimeLoss);
  const again = survey.tree.question.find(({ repeat }) => repeat === "windows");
  const all = asked.length > 1 ? "all your answers together" : "your answer";
  const sentence =
    `Whoever reads your report, and whatever else they know, it changes their odds about ${all} by a factor of at most ${fold(odds)}. ` +
    `Somebody who thinks one of two answers as likely as the other can become at most ${inHundred(atMost(0.5, odds))} in 100 sure.`;
  return el("section", { class: "card", "aria-labelledby": "promise" },
    el("h2", { id: "promise" }, "What anyone could conclude from it"),
    el("p", {}, sentence),
    el("details", {}, el("summary", {}, "More about this promise"),
    open.length > 0 && el("p", {}, "This applies to the answers marked “protected”. The others may be sent as they are."),
    table(odds),
    kept.map((question) => el("p", {}, `“${question.ask}” may be asked again. Your randomized answer is kept on this device, and later reports are made from it: together they disclose at most epsilon ${short(question.mechanism.lifetimeLoss.epsilon)} about one answer, however often you are asked.`)),
    again && el("p", {}, `This survey asks again. Of any ${again.span} periods you report in one, and each of these reports discloses as much again.`),
    el("p", { class: "small soft" }, "Not covered: that you took part, when, and from where. The network can see that.")),
  );
}

const short = (epsilon) => Number(epsilon.toPrecision(6));

/** What this device found when it checked the survey, before anybody answers. */
export function checkedHere(survey, asked) {
  const together = asked.length > 1 ? "all your answers together" : "your answer";
  return el("p", { class: "notice checked", id: "checked" },
    `This device has checked the survey’s privacy proof itself: epsilon ${short(survey.loss.epsilon)} for ${together}.`);
}
