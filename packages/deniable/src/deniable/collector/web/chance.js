/** How often a report happens to be true. Found by trying: the law of the question runs again and again on this device, and nothing of it is kept. */

import { readerOf, supports } from "./reports.js";
import { phrase } from "./texts.js";
import { digits } from "./words.js";

const TRIES = 1000, LEAST = 60, TIME = 120; // milliseconds that may be spent on one question
const NEAR = 0.05; // of the range, for numbers

/** The share of reports of which this is so, or null if trying takes too long. */
function often(mechanism, draw, isTrue) {
  const end = performance.now() + TIME;
  let tries = 0, found = 0;
  while (tries < TRIES && (tries % 20 > 0 || performance.now() < end)) {
    const { answer, place } = draw(tries);
    found += isTrue(mechanism.perturb([answer])[0], place);
    tries += 1;
  }
  return tries < LEAST ? null : found / tries;
}

/** About how many of a hundred, to begin a sentence or to go on. */
const ofHundred = (share, begins = true) => phrase(share < 0.005 ? (begins ? "hardly_begins" : "hardly") : begins ? "about_begins" : "about", { number: Math.min(Math.round(100 * share), 99) });

/** The place of a label; of a number, that of the nearest point. */
function placeOf(labels, answer) {
  const exact = labels.indexOf(answer);
  if (exact >= 0 || typeof answer !== "number") return exact;
  const far = labels.map((label) => Math.abs(Number(label) - answer));
  return far.indexOf(Math.min(...far));
}

const inTurn = (list, turn) => list[turn % list.length];

function ofNumber({ mechanism }, answer, shown) {
  const { low, high } = mechanism.domain, near = NEAR * (high - low), reader = readerOf(mechanism);
  const isNear = (report, truth) => Math.abs(reader.number(report.value) - truth) <= near;
  const draw = (turn = 0) => {
    const truth = answer ?? low + ((high - low) * ((turn * 37) % 100)) / 99; // all over the range
    return { answer: truth, place: Math.min(Math.max(truth, low), high) };
  };
  const share = often(mechanism, draw, isNear);
  if (share === null) return null;
  const now = answer === null ? "near" : isNear(shown, draw().place) ? "near_too" : "near_not";
  return phrase(now, { how_many: ofHundred(share), near: digits(near, 3) });
}

function ofItems({ mechanism }, answer) {
  const { labels } = mechanism, own = answer && new Set(answer.keys());
  if (!own) return null;
  const named = (wanted) => {
    const places = [...labels.keys()].filter((place) => own.has(labels[place]) === wanted);
    return places.length > 0 ? often(mechanism, (turn) => ({ answer, place: inTurn(places, turn) }), (report, place) => supports(mechanism, report).includes(place)) : null;
  };
  const yes = named(true), no = named(false);
  if (yes === null) return no === null ? null : phrase("items_none", { how_many: ofHundred(no) });
  return no === null ? phrase("items", { how_many: ofHundred(yes) }) : phrase("items_beside", { how_many: ofHundred(yes), beside: ofHundred(no, false) });
}

function ofChoice({ mechanism }, answer, shown) {
  const { labels } = mechanism;
  const draw = (turn = 0) => {
    const truth = answer ?? inTurn(labels, turn);
    return { answer: truth, place: placeOf(labels, truth) };
  };
  if (draw().place < 0) return null;
  const names = (report, place) => supports(mechanism, report).includes(place);
  const share = often(mechanism, draw, names);
  if (share === null) return null;
  const said = answer === null ? "choice_unknown" : names(shown, draw().place) ? "choice_named" : "choice_not_named";
  return phrase(said, { how_many: ofHundred(share) });
}

/** A sentence about the reports of a question; `answers` are this person's, or null if they are no longer known. */
export function truthful(question, answers, shown) {
  const reader = readerOf(question.mechanism);
  if (question.together || reader.coordinates || shown.signs) return null;
  const answer = answers ? question.encode(answers) : null;
  if (reader.numbers) return ofNumber(question, answer, shown);
  if (!reader.ends.length) return null;
  if (question.items) return ofItems(question, answer);
  return ofChoice(question, answer, shown);
}
