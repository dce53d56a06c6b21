/** What the answer page says where a relay mixes the reports. Loaded only there, with the client that seals them. */

import { el } from "./dom.js";
import { termsFingerprint } from "./mix.js";
import { phrase } from "./texts.js";
import { fold, whole } from "./words.js";

export { canSeal, MixedDevice, termsFingerprint } from "./mix.js";

/** One in how many: a probability in words, never smaller than it is. */
const oneIn = (chance) => whole(Math.floor(Number((1 / chance).toPrecision(6))));

/** Before anybody answers. */
export const notice = ({ people }) => el("p", { class: "notice", id: "mixing" }, phrase("mix_notice", { others: whole(people - 1) }));

/** Both losses, what the collector and the relay see, and what people can compare. */
export function protection(survey, terms) {
  const { people, epsilon, delta, relay } = terms;
  const alone = { people: whole(people), fold: fold(Math.exp(epsilon)), number: oneIn(delta) };
  return el("section", { class: "card", "aria-labelledby": "mixed" },
    el("h2", { id: "mixed" }, phrase("mix_title")),
    el("p", { id: "alone" }, phrase("mix_alone", alone)),
    el("p", { id: "together" }, phrase("mix_together", { fold: fold(Math.exp(survey.loss.epsilon)) })),
    el("details", {}, el("summary", {}, phrase("mix_more")),
      el("p", {}, phrase("mix_conditions", { people: whole(people) })),
      el("p", {}, phrase("mix_seen")),
      el("p", {}, phrase("mix_compare", { address: `${relay.replace(/\/+$/, "")}/v1/mix` })),
      el("p", { class: "mono bits", id: "terms" }, termsFingerprint(terms).match(/..../g).join(" "))));
}
