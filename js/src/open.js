// Utility-optimized response: sensitive answers are protected in full, the others are disclosed whenever that harms nobody.

import { InvalidReport } from "./errors.js";
import { allowed, equal, largest, ONE, over, rest, times, within } from "./fraction.js";
import { insist } from "./insist.js";
import * as layout from "./layout.js";
import { trueAt } from "./lists.js";

/** The law around that of `base`, which randomizes the sensitive answers. */
export function open(spec, domain, base) {
  const odds = allowed(spec);
  const { sensitive } = spec;
  const places = sensitive.map((label) => domain.places.get(label));
  const secret = domain.labels.map((_, place) => places.indexOf(place)); // its place among the sensitive ones, or -1
  const others = trueAt(secret.map((place) => place < 0));
  insist(places.every((place, i) => place > (places[i - 1] ?? -1)) && others.length && base.size === places.length);
  insist(base.blank && within(base.odds, spec.epsilon));

  // How open answers are hidden: a blank report of the base, as rarely as may be; one that supports nothing rarer still.
  const { p, blankSupport: a, fields } = base;
  const sent = over(p, times(odds, a));
  const idle = spec.flat ? 0 : (base.idle?.() ?? 0);
  const idleOdds = equal(p, ONE) ? odds : over(times(p, rest(a)), times(a, rest(p)));
  const idleSent = over(ONE, idleOdds);

  const [{ name, below }, ...more] = fields;
  const oneNumber = below && !more.length;
  /** The open answer that a report discloses, or null. */
  const disclosed = (report) => others[(oneNumber ? report[name] - below + 1 : report.open) - 1] ?? null;
  const empty = Object.fromEntries(fields.map((field) => [field.name, field.below ? 0 : new Array(field.bits).fill(false)]));

  return {
    odds: largest([odds, base.odds]),
    protects: "sensitive values",
    sensitive,
    base,
    hiding: { odds, sent, idle, idleOdds, secret, others },
    // A report that discloses an answer has no cell set, so how many are set is for the base to check.
    fields: oneNumber
      ? [layout.number(name, below + others.length)]
      : [layout.number("open", others.length + 1), ...fields.map((field) => ({ ...field, ones: undefined }))],
    randomize: (truth, coins) => {
      const own = base.randomize(Math.max(secret[truth], 0), coins);
      const blank = base.blank(coins);
      let hidden = coins.flip(sent);
      if (idle) hidden = (coins.flip(idleSent) || base.supports(blank).length > 0) && hidden;
      const number = hidden || secret[truth] >= 0 ? 0 : others.indexOf(truth) + 1;
      const chosen = secret[truth] >= 0 ? own : blank;
      if (!oneNumber) return { open: number, ...(number ? empty : chosen) };
      return number ? { [name]: below + number - 1 } : chosen;
    },
    disclosed,
    supports: (report) => {
      const open = disclosed(report);
      return open === null ? base.supports(report).map((place) => places[place]) : [open];
    },
    check: (report) => {
      if (oneNumber) return;
      if (!report.open) layout.check(fields, report);
      else if (JSON.stringify({ ...report, open: 0 }) !== JSON.stringify({ open: 0, ...empty })) {
        throw new InvalidReport("A report discloses an answer and has a protected part too.");
      }
    },
  };
}
