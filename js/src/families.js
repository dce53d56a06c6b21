// From a description to a mechanism, refused if its law is not one that this client runs.

import { Direct, Hadamard, Subset, Unary } from "./categories.js";
import { domainFrom } from "./domains.js";
import { InvalidParameter } from "./errors.js";
import { KeySampling, PckvDirect, PckvUnary } from "./keys.js";
import { BitSampling, Duchi, Hybrid, MeanChannel, Piecewise, ThreeOutputs } from "./numbers.js";
import { Certain, Open, single } from "./open.js";
import { Design, Hashing, Wheel } from "./rings.js";
import { Bipartite, Coarsened, Finite, Staircase } from "./tables.js";
import { canonical, plain, read } from "./text.js";
import { DuchiVector, FeatureVector } from "./vectors.js";

const FAMILIES = {
  "direct-1": Direct,
  "label-1": Direct,
  "unary-1": Unary,
  "subset-1": Subset,
  "hadamard-1": Hadamard,
  "hashing-1": Hashing,
  "wheel-1": Wheel,
  "design-1": Design,
  "finite-1": Finite,
  "release-1": Finite,
  "bipartite-1": Bipartite,
  "staircase-1": Staircase,
  "coarsened-1": Coarsened,
  "duchi-1": Duchi,
  "three-outputs-1": ThreeOutputs,
  "piecewise-1": Piecewise,
  "hybrid-1": Hybrid,
  "bit-sampling-1": BitSampling,
  "mean-channel-1": MeanChannel,
  "feature-vector-1": FeatureVector,
  "duchi-vector-1": DuchiVector,
  "pckv-unary-1": PckvUnary,
  "pckv-direct-1": PckvDirect,
  "key-sampling-1": KeySampling,
  "utility-1": Open,
};

/** The mechanism with this description, as text or as an object. */
export function mechanismFromSpec(spec) {
  const text = typeof spec === "string" ? spec : JSON.stringify(spec, (_, value) => (typeof value === "bigint" ? `\0${value}` : value));
  return mechanismFrom(read(text.replace(/"\\u0000(\d+)"/g, "$1")));
}

/** The same from a tree that `read` made. */
export function mechanismFrom(tree) {
  const spec = plain(tree);
  const wire = spec?.mechanism;
  if (!Object.hasOwn(FAMILIES, wire)) {
    throw new InvalidParameter("This client does not know that mechanism. Update it, or answer with another one.");
  }
  try {
    const base = wire === "utility-1" ? baseFrom(tree.base) : undefined;
    return new FAMILIES[wire](spec, domainFrom(spec.domain), canonical(tree), base);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
      throw new InvalidParameter('A mechanism is JSON with "mechanism", "domain", "epsilon" and its parameters.');
    }
    throw error;
  }
}

function baseFrom(tree) {
  if (tree.mechanism !== "certain-1") return mechanismFrom(tree);
  return new Certain(plain(tree), single(), canonical(tree));
}
