// What a description must say. It comes from a program, so one sentence is enough for everything that can be wrong in it.

import { InvalidLaw, InvalidParameter } from "./errors.js";

export function insist(good) {
  if (!good) {
    throw new InvalidParameter("The parameters do not fit together: the description was changed.");
  }
}

export function lawful(holds, what) {
  if (!holds) throw new InvalidLaw(what);
}

/** The number, if it is a whole one in these bounds. */
export function whole(number, least, most) {
  insist(Number.isInteger(number) && number >= least && number <= most);
  return number;
}
