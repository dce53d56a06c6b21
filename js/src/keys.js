// Laws for sets of keys with a value each: one pair of a padded set is reported, or one key drawn in public.

import { WHOLE } from "./coins.js";
import {
  equal,
  HALF,
  largest,
  less,
  ONE,
  over,
  plus,
  ratio,
  read,
  rest,
  smallest,
  spread,
  times,
  ZERO,
} from "./fraction.js";
import { insist } from "./insist.js";
import { flags, number } from "./layout.js";
import { listed, trueAt } from "./lists.js";

const protects = "any two sets of pairs";
const part = (a, b) => (b.n ? over(a, b) : ZERO);
const probability = (text) => {
  const chance = read(text);
  insist(!less(ONE, chance));
  return chance;
};

/** The key of a pair, null for padding, and whether its value is rounded up. */
function drawn({ atMost, heads }, pairs, coins) {
  const [key, value] = pairs[coins.below(atMost)] ?? [null];
  return [key, coins.tossEach(key === null ? WHOLE / 2 : heads(value))];
}

/** Every key has two bits, "high" and "low"; the drawn pair names its end more often than noise does. */
export function pckvUnary(spec, domain) {
  const law = ["kept", "flipped", "both", "noise", "noise_both"].map((name) => probability(spec[name]));
  const [kept, flipped, both, noise, noiseBoth] = law;
  const keys = domain.labels.length;
  const [named, other] = [plus(kept, both), plus(noise, noiseBoth)];
  insist(!less(ONE, plus(named, flipped)) && !less(ONE, plus(other, noise)));
  const [withTrue, alone] = [part(both, named), part(flipped, rest(named))];
  const [lowAlone, lowWithHigh] = [part(noise, rest(other)), part(noiseBoth, other)];
  const [odds, single] = [setOdds(law, keys, domain.atMost), setOdds(law, 2 * keys, 1)];
  return {
    odds,
    protects,
    proof: proofOf(odds, single),
    fields: [flags("high", keys), flags("low", keys)],
    randomize: (pairs, coins) => {
      const [key, up] = drawn(domain, pairs, coins);
      const trueEnd = coins.flip(named);
      const ends = [coins.flip(withTrue), coins.flip(alone)];
      const high = coins.toss(other, keys);
      let low = coins.toss(lowAlone, keys);
      if (!equal(lowAlone, lowWithHigh)) {
        const second = coins.toss(lowWithHigh, keys);
        low = low.map((bit, i) => (high[i] ? second[i] : bit));
      }
      if (key !== null) [(up ? high : low)[key], (up ? low : high)[key]] = [trueEnd, ends[trueEnd ? 0 : 1]];
      return { high, low };
    },
    supports: ({ high, low }) => trueAt(high.map((bit, key) => bit || low[key])),
  };
}

/** The worst ratio between the laws of two sets; null if it is unbounded. The derivation stands beside the Python code. */
function setOdds([kept, flipped, both, noise, noiseBoth], keys, padding) {
  const neither = rest(plus(plus(kept, flipped), both));
  const others = [rest(plus(plus(noise, noise), noiseBoth)), noise, noise, noiseBoth];
  const ends = [
    [neither, neither],
    [kept, flipped],
    [flipped, kept],
    [both, both],
  ];
  if (ends.some(([own], i) => own.n && !others[i].n)) return null;
  const pairs = ends.flatMap((end, i) => (others[i].n ? [end.map((chance) => over(chance, others[i]))] : []));
  const gains = pairs.map(([gain]) => gain);
  const [most, least] = [largest(gains), smallest(gains)];
  if (!least.n) return null;
  let worst = ONE;
  for (const [one, two] of pairs) {
    for (const shared of [0, padding, Math.max(0, 2 * padding - keys)]) {
      const [free, room] = [keys - shared, padding - shared];
      const weight = (gain, many, other) =>
        plus(plus(times(ratio(shared), gain), times(ratio(many), other)), ratio(room - many));
      for (const first of [0, Math.min(room, free), Math.max(0, Math.min(room, free - room))]) {
        worst = largest([worst, over(weight(one, first, most), weight(two, Math.min(room, free - first), least))]);
      }
    }
  }
  return worst;
}

/** A proof for single pairs is one for sets, unless sets have other odds: those follow by a theorem. */
const proofOf = (odds, single) => (single && equal(odds ?? ZERO, single) ? "proved" : "theorem");

/** The drawn key is named with probability a, else any other, of which some stand for padding. */
export function pckvDirect(spec, domain) {
  const [a, p] = [probability(spec.a), probability(spec.p)];
  const keys = domain.labels.length;
  const places = keys + domain.atMost;
  const noise = over(rest(a), ratio(2 * (places - 1)));
  const more = times(ratio(domain.atMost - 1), noise);
  const ends = [times(a, p), times(a, rest(p)), noise];
  const odds = spread(ends.map((end) => plus(end, more)));
  return {
    odds,
    protects,
    proof: proofOf(odds, spread(ends)),
    fields: [number("pair", 2 * keys + 1)],
    randomize: (pairs, coins) => {
      const [key, up] = drawn(domain, pairs, coins);
      const moved = coins.split(a, 1, places - 1);
      const [kept, either] = [coins.flip(p), coins.flip(HALF)];
      const place = ((key ?? places - 1) + moved) % places;
      return { pair: place < keys ? 2 * place + (moved ? either : up === kept) : 2 * keys };
    },
    supports: ({ pair }) => (pair < 2 * keys ? [pair >> 1] : []),
  };
}

/** A key is drawn in public; whether it is in the set, with which end, is reported by three-state response. */
export function keySampling(spec, domain) {
  const [p1, p2, q] = [spec.p1, spec.p2, spec.q].map(probability);
  const keys = domain.labels.length;
  const fakes = spec.fakes ?? listed(keys, () => WHOLE / 2);
  insist(fakes.length === keys && fakes.every((fake) => fake >= 0 && fake <= WHOLE));
  const ends = [times(p2, q), times(p2, rest(q))];
  const worst = [...new Set(fakes)].flatMap((heads) => {
    const fake = ratio(heads, WHOLE);
    const absent = [fake, rest(fake)].map((chance) => times(rest(p1), chance));
    return [[p1, rest(p2)], ...absent.map((chance) => [chance, ...ends])].map(spread);
  });
  return {
    odds: worst.includes(null) ? null : largest(worst),
    protects,
    fields: [number("key", keys), number("state", 3)],
    randomize: (pairs, coins) => {
      const key = coins.below(keys);
      const own = pairs.find(([place]) => place === key);
      const up = coins.tossEach(own ? domain.heads(own[1]) : WHOLE / 2);
      const fake = coins.tossEach(Number(fakes[key]));
      const [keptNone, keptLink, keptEnd] = [p1, p2, q].map((chance) => coins.flip(chance));
      const linked = own ? keptLink : !keptNone;
      return { key, state: linked ? ((own ? up === keptEnd : fake) ? 1 : 2) : 0 };
    },
    supports: ({ key, state }) => (state ? [key] : []),
  };
}
