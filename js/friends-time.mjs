// What a browser's client takes for rounds about friends: `node friends-time.mjs FILE`, FILE as js/test/friends.json has
// them. Prints a line for each round: seconds of the processor to read the survey, to open the round, and for each report; the
// largest memory so far, in MB; and the messages.

import { readFileSync } from "node:fs";
import { hex, unhex } from "./src/bytes.js";
import { FriendsSurvey } from "./src/friends.js";
import { SeededCoins } from "./src/seeded.js";

const spent = async (work) => {
  const before = process.cpuUsage();
  const found = await work();
  const { user, system } = process.cpuUsage(before);
  return [found, (user + system) / 1e6];
};

for (const { survey: text, law, made } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const [survey, reading] = await spent(() => FriendsSurvey.parse(text, { law }));
  const [, opening] = await spent(() => survey.rounds.open());
  survey.opened = survey.rounds;
  const messages = [];
  const reports = [];
  for (const { seed, id, answer } of made) {
    const [message, seconds] = await spent(() => survey.made({ friends: answer }, { coins: new SeededCoins(seed), id: unhex(id) }));
    messages.push(hex(message));
    reports.push(seconds);
  }
  const memory = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1000; // not that of who started it
  console.log(JSON.stringify({ reading, opening, reports, memory, messages }));
}
