import { Coins, Device, DeviceOptions, Survey } from "./index.js";

/** Who answers and whom they know, as numbers of members or as their names. */
export interface Friendships {
  me: number | string;
  knows: Iterable<number | string>;
}

/** Whether the text of a survey asks whom people know. */
export function asksForFriends(text: string): boolean;

/** What stands for a name in a list of hashed names. */
export function hashedName(name: string): string;

/** The member and the secret in what follows the # of a link; null if there is none. */
export function memberOf(hash: string): { member: number; secret: string } | null;

/** A message that shows that who sent it has the secret of its member. */
export function signed(message: Uint8Array, secret: string): Uint8Array;

/** One round, from the description of its mechanism and how lists are coded in it. */
export class Round {
  constructor(spec: object, terms: object);
  /** Which round it is, from 1. */
  readonly number: number;
  /** What later rounds must have in common with this one. */
  readonly binding: string;
  /** Work out what follows from what was published; only then can somebody answer. */
  open(): Promise<Round>;
  /** What somebody reports, as bytes. */
  report(answer: Friendships, coins: Coins): Uint8Array;
  /** What is in the bytes of a report: the member, and a number or how many bytes a list takes. */
  reading(report: Uint8Array): { member: number; number?: number; bytes?: number };
}

/** A survey about friends: one question, three rounds that the same people answer. */
export class FriendsSurvey extends Survey {
  static parse(text: string, options: { law: string; expected?: string }): FriendsSurvey;
  static fetch(url: string, options?: { expected?: string; fetch?: typeof globalThis.fetch }): Promise<FriendsSurvey>;
  readonly rounds: Round;
  /** Whether a report must show that its member sent it. */
  readonly needsSecret: boolean;
  /** The message of one person. */
  made(answers: Record<string, Friendships>, options?: { coins?: Coins; id?: Uint8Array }): Promise<Uint8Array>;
}

/** One person's client: epsilon is paid once, and whom they know is kept in the ledger until the last round. */
export class FriendsDevice extends Device {
  constructor(survey: FriendsSurvey, options?: DeviceOptions);
  /** Which round it is, from 1. */
  readonly period: number;
  /** What an earlier round was answered with, and whose link was opened; null if nothing is kept. */
  remembered(): Promise<{ me?: number; knows?: number[]; secret?: string } | null>;
  /** Forget whom this person knows. */
  forget(): Promise<void>;
  /** Keep the member and the secret of a link. */
  belongs(link: { member: number; secret: string }): Promise<void>;
}
