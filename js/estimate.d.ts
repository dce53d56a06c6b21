import type { Fraction, Label, Mechanism, Report } from "./index.js";

export interface Tally {
  readonly n: number;
  readonly counts: number[];
}
export interface Estimate {
  readonly labels: readonly Label[];
  readonly values: number[];
  readonly variance: number[];
  readonly n: number;
}

/** Whether `tally` and `estimate` know the family: for shares of categories and means of numbers, not for keys and vectors. */
export function estimates(mechanism: Mechanism): boolean;
export function tally(mechanism: Mechanism, reports: readonly Report[]): Tally;
/** Unbiased, with the variance of its noise. */
export function estimate(mechanism: Mechanism, tally: Tally): Estimate;
/** The simplest fraction at most e^epsilon that loses no more than 1e-15 of epsilon: the exact odds of a budget. */
export function oddsBelow(epsilon: number): Fraction;
