/** The playground of the documentation: a crowd answers in this page, with the client that real surveys use. Nothing is sent. */

import { mechanismFromSpec } from "./deniable.js";
import { estimate, tally } from "./estimate.js";

export const Z = 1.96; // of a 95 % interval

/** So many people, as many with each answer as the shares say. */
export function crowd(labels, shares, people) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const ends = shares.map((_, place) => Math.round((people * shares.slice(0, place + 1).reduce((sum, share) => sum + share, 0)) / total));
  return labels.flatMap((label, place) => Array(ends[place] - (ends[place - 1] ?? 0)).fill(label));
}

/** What a collector learns from the randomized reports of these people: estimated shares with intervals, and nothing else. */
export function survey({ spec, law }, people) {
  const mechanism = mechanismFromSpec(spec, law); // the privacy loss is proved here, in this page
  const reports = mechanism.perturb(people);
  const { values, variance } = estimate(mechanism, tally(mechanism, reports));
  const half = [...variance].map((each) => Z * Math.sqrt(each));
  return { epsilon: mechanism.loss.epsilon, values: [...values], half };
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function made(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function show(place, labels, truth, found) {
  const table = made("table");
  table.append(made("caption", `Proved on this device: epsilon ${found.epsilon.toFixed(3)}. Truth, and what the collector estimates:`));
  const head = table.createTHead().insertRow();
  for (const text of ["answer", "truth", "estimate", "95 % interval"]) head.append(made("th", text, { scope: "col" }));
  const body = table.createTBody();
  labels.forEach((label, place) => {
    const row = body.insertRow();
    row.append(made("th", label, { scope: "row" }));
    const [value, half] = [found.values[place], found.half[place]];
    for (const text of [percent(truth[place]), percent(value), `${percent(value - half)} to ${percent(value + half)}`]) row.append(made("td", text));
  });
  place.replaceChildren(table);
}

export async function start(root) {
  const cases = await (await fetch(new URL("laws.json", import.meta.url))).json();
  const labels = cases[0].spec.domain.labels;
  const epsilon = made("select", undefined, { id: "pg-epsilon" });
  cases.forEach(({ spec }, place) => epsilon.append(made("option", String(spec.epsilon), { value: place })));
  epsilon.value = "1";
  const people = made("select", undefined, { id: "pg-people" });
  for (const number of [1, 100, 1000, 10000]) people.append(made("option", number.toLocaleString("en"), { value: number }));
  people.value = "1000";
  const result = made("div", undefined, { role: "status" });
  const button = made("button", "Ask them", { class: "md-button md-button--primary", type: "button" });
  const form = made("p");
  form.append(made("label", "Epsilon ", { for: "pg-epsilon" }), epsilon, made("label", " People ", { for: "pg-people" }), people, " ", button);
  root.replaceChildren(form, result);
  button.addEventListener("click", () => {
    const asked = crowd(labels, [40, 30, 20, 10], Number(people.value));
    const truth = labels.map((label) => asked.filter((each) => each === label).length / asked.length);
    show(result, labels, truth, survey(cases[epsilon.value], asked));
  });
  button.click();
}

if (globalThis.document) start(document.getElementById("playground"));
