import { Answers, Device, DeviceOptions, Survey } from "./index.js";

/** Whether a survey asks any question in more than one period. */
export function isRepeated(survey: Survey): boolean;

/**
 * One person's client of a survey that is asked again: at most one report in a period, made from permanent answers that the
 * ledger keeps. What was kept and the report are written in one transaction.
 */
export class RepeatedDevice extends Device {
  /** The period that it is now. */
  readonly period: number;
  /** Whether a report is wanted now: it is this person's turn, and there is none for this period. */
  due(): Promise<boolean>;
  /** When the next period begins in which this person is asked, in seconds since 1970. */
  nextDue(): Promise<number>;
  /** The epsilon of all reports so far, and how many there were. */
  spent(): Promise<{ epsilon: number; reports: number }>;
}
