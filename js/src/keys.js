// Sets of keys with a value each: one pair of a padded set is told, or what is known of one key that is drawn in public.

import { WHOLE } from "./coins.js";
import { below, equal, HALF, largest, minus, ONE, over, plus, ratio, read, times } from "./fraction.js";
import { flags, number } from "./layout.js";
import { Mechanism, refuseUnless } from "./mechanism.js";

const ZERO = ratio(0);
const part = (a, b) => (b.n ? over(a, b) : ZERO);

class Keys extends Mechanism {
  protects = "any two sets of pairs";

  constructor(spec, domain, text) {
    super(spec, domain, text);
    refuseUnless(domain.kind === "key-value", "This mechanism is for keys with values.");
  }

  /** The key of a pair, null for padding, and whether its value is rounded up. */
  told(pairs, coins) {
    const [key, value] = pairs[coins.below(this.domain.atMost)] ?? [null];
    return [key, coins.tossEach(key === null ? WHOLE / 2 : this.domain.heads(value))];
  }
}

const CHANCES = ["kept", "flipped", "both", "noise", "noise_both"];

/** Every key has two bits, "high" and "low"; the told pair names its end more often than noise does. */
export class PckvUnary extends Keys {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.law = CHANCES.map((name) => read(spec[name]));
    const [kept, flipped, both, noise, noiseBoth] = this.law;
    this.named = plus(kept, both);
    this.other = plus(noise, noiseBoth);
    const sums = [plus(this.named, flipped), plus(this.other, noise)];
    refuseUnless(!sums.some((sum) => below(ONE, sum)), "The chances of a report on one key must not sum to more than 1.");
    this.keys = domain.labels.length;
    this.odds = setOdds(this.law, this.keys, domain.atMost);
    if (!equal(this.odds ?? ZERO, setOdds(this.law, 2 * this.keys, 1) ?? ZERO)) this.proof = "theorem";
    this.fields = [flags("high", this.keys), flags("low", this.keys)];
  }

  randomize(pairs, coins) {
    const [, flipped, both, noise, noiseBoth] = this.law;
    const [key, up] = this.told(pairs, coins);
    const trueEnd = coins.flip(this.named);
    const ends = [coins.flip(part(both, this.named)), coins.flip(part(flipped, minus(ONE, this.named)))];
    const high = coins.toss(this.other, this.keys);
    const alone = part(noise, minus(ONE, this.other));
    const withHigh = part(noiseBoth, this.other);
    let low = coins.toss(alone, this.keys);
    if (!equal(alone, withHigh)) {
      const second = coins.toss(withHigh, this.keys);
      low = low.map((bit, i) => (high[i] ? second[i] : bit));
    }
    if (key !== null) {
      const otherEnd = trueEnd ? ends[0] : ends[1];
      high[key] = up ? trueEnd : otherEnd;
      low[key] = up ? otherEnd : trueEnd;
    }
    return { high, low };
  }

  supports({ high, low }) {
    return high.flatMap((bit, key) => (bit || low[key] ? [key] : []));
  }
}

/** The worst ratio between the laws of two sets; null if it is unbounded. The derivation stands in the Python client. */
function setOdds([kept, flipped, both, noise, noiseBoth], keys, padding) {
  const neither = minus(ONE, plus(plus(kept, flipped), both));
  const others = [minus(ONE, plus(plus(noise, noise), noiseBoth)), noise, noise, noiseBoth];
  const high = [neither, kept, flipped, both];
  const low = [neither, flipped, kept, both];
  if (high.some((told, i) => told.n && !others[i].n)) return null;
  const pairs = high.flatMap((told, i) => (others[i].n ? [[over(told, others[i]), over(low[i], others[i])]] : []));
  const gains = pairs.map(([one]) => one);
  const most = largest(...gains);
  const least = gains.reduce((a, b) => (below(b, a) ? b : a));
  if (!least.n) return null;
  const weighed = (both, gain, many, other, room) =>
    plus(plus(times(ratio(both), gain), times(ratio(many), other)), ratio(room - many));
  let worst = ONE;
  for (const [one, two] of pairs) {
    for (const both of [0, padding, Math.max(0, 2 * padding - keys)]) {
      const [free, room] = [keys - both, padding - both];
      for (const first of [0, Math.min(room, free), Math.max(0, Math.min(room, free - room))]) {
        const second = Math.min(room, free - first);
        worst = largest(worst, over(weighed(both, one, first, most, room), weighed(both, two, second, least, room)));
      }
    }
  }
  return worst;
}

/** The told key is named with probability a, else any other, of which some stand for padding. */
export class PckvDirect extends Keys {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    [this.a, this.p] = [read(spec.a), read(spec.p)];
    refuseUnless(!below(ONE, this.a) && !below(ONE, this.p), "The probabilities a and p are at most 1.");
    this.keys = domain.labels.length;
    this.places = this.keys + domain.atMost;
    const noise = over(minus(ONE, this.a), ratio(2 * (this.places - 1)));
    const rest = times(ratio(domain.atMost - 1), noise);
    const ends = [times(this.a, this.p), times(this.a, minus(ONE, this.p)), noise].map((end) => plus(end, rest));
    const least = ends.reduce((a, b) => (below(b, a) ? b : a));
    this.odds = least.n ? over(largest(...ends), least) : null;
    this.fields = [number("pair", 2 * this.keys + 1)];
  }

  randomize(pairs, coins) {
    const [key, up] = this.told(pairs, coins);
    const moved = coins.split(this.a, 1, this.places - 1);
    const [kept, either] = [coins.flip(this.p), coins.flip(HALF)];
    const place = ((key ?? this.places - 1) + moved) % this.places;
    const high = moved ? either : up === kept;
    return { pair: place < this.keys ? 2 * place + (high ? 1 : 0) : 2 * this.keys };
  }

  supports({ pair }) {
    return pair < 2 * this.keys ? [pair >> 1] : [];
  }
}

/** A key is drawn in public; whether it is in the set, with which end, is told by three-state response. */
export class KeySampling extends Keys {
  constructor(spec, domain, text) {
    super(spec, domain, text);
    this.three = [spec.p1, spec.p2, spec.q].map(read);
    this.keys = domain.labels.length;
    this.fakes = spec.fakes ?? new Array(this.keys).fill(WHOLE / 2);
    const good = this.fakes.length === this.keys && this.fakes.every((fake) => Number(fake) >= 0 && Number(fake) <= WHOLE);
    refuseUnless(good && !this.three.some((chance) => below(ONE, chance)), "Chances are from 0 to 1, fakes one for each key.");
    this.odds = this.worst();
    this.fields = [number("key", this.keys), number("state", 3)];
  }

  worst() {
    const [p1, p2, q] = this.three;
    const [absent, wrong] = [minus(ONE, p1), minus(ONE, q)];
    let worst = ONE;
    for (const heads of new Set(this.fakes)) {
      const fake = ratio(heads, WHOLE);
      const columns = [
        [p1, minus(ONE, p2)],
        [times(absent, fake), times(p2, q), times(p2, wrong)],
        [times(absent, minus(ONE, fake)), times(p2, q), times(p2, wrong)],
      ];
      for (const column of columns) {
        const high = largest(...column);
        const low = column.reduce((a, b) => (below(b, a) ? b : a));
        if (high.n && !low.n) return null;
        if (high.n) worst = largest(worst, over(high, low));
      }
    }
    return worst;
  }

  randomize(pairs, coins) {
    const key = coins.below(this.keys);
    const own = pairs.find(([place]) => place === key);
    const up = coins.tossEach(own ? this.domain.heads(own[1]) : WHOLE / 2);
    const fake = coins.tossEach(Number(this.fakes[key]));
    const [keptNone, keptLink, keptEnd] = this.three.map((chance) => coins.flip(chance));
    if (!own) return { key, state: keptNone ? 0 : fake ? 1 : 2 };
    return { key, state: keptLink ? (up === keptEnd ? 1 : 2) : 0 };
  }

  supports({ key, state }) {
    return state ? [key] : [];
  }
}
