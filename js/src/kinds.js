// The kinds of questions: for each, the domain that its mechanism must have, and how an answer is encoded for it.

import { OutsideDomain } from "./errors.js";
import { listed } from "./lists.js";

export const NO_ANSWER = "(no answer)";

const items = ({ items: labels, low, high, at_most: atMost = labels.length }) => ({
  kind: "key-value",
  labels,
  low,
  high,
  atMost,
});

/** `ends` says in words what a report says of an item besides its name: that it is rated low, or high. */
export const KINDS = {
  category: {
    domain: ({ choices, optional, other }) => ({
      kind: "categories",
      labels: optional ? [...choices, NO_ANSWER] : choices,
      other,
    }),
  },
  number: { domain: ({ low, high, steps = 1024, clip = true }) => ({ kind: "interval", low, high, steps, clip }) },
  ordered: {
    domain: ({ choices, low, high }) => ({ kind: "ordered", labels: choices ?? listed(high - low + 1, (i) => low + i) }),
  },
  place: { domain: ({ places, points }) => ({ kind: "points", labels: places, points }) },
  ratings: { domain: items, ends: [" (rated low)", " (rated high)"] },
  set: {
    domain: (data) => items({ ...data, low: 0, high: 1 }),
    encode: (answer) => {
      if (!Array.isArray(answer) && !(answer instanceof Set)) {
        throw new OutsideDomain("The answer to this question is a list of names, which may be empty.");
      }
      return new Map([...answer].map((name) => [name, 1])); // each counts once
    },
  },
  features: { domain: ({ dimensions, low, high }) => ({ kind: "features", dimensions, low, high }) },
};
