// What a description must say. It comes from a program, so one sentence is enough for everything that can be wrong in it.

import { InvalidLaw, InvalidParameter } from "./errors.js";

/** Refuses what does not hold, with a sentence. */
export function lawful(holds, what, kind = InvalidLaw) {
  if (!holds) throw new kind(what);
}

export const insist = (good) =>
  lawful(good, "The description was changed.", InvalidParameter);

/** The number, if it is a whole one in these bounds. */
export function whole(number, least, most) {
  insist(Number.isInteger(number) && number >= least && number <= most);
  return number;
}
