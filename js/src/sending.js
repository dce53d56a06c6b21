// Sending a report with fetch, and waiting between attempts.

import { hex } from "./bytes.js";
import { SecureCoins } from "./coins.js";

const AGAIN = /^(0|408|42[59]|50[0234])$/; // what means that the same report may succeed later

/** What came of one attempt: the status, 0 if nobody answered, and how many milliseconds the collector asks to wait. */
async function attempt(url, message, { fetch = globalThis.fetch, token }) {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/v1/reports`, {
      method: "POST",
      body: message,
      headers: { "Content-Type": "application/vnd.deniable.reports", ...(token && { Authorization: `Bearer ${token}` }) },
      credentials: "omit",
      redirect: "error", // a report goes to the collector and to nobody else
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout?.(10_000),
    });
    const wait = 1000 * Number(/^\d{1,5}$/.exec(answer.headers.get("Retry-After")));
    return { wait, ...judged(message, answer.status, await answer.json().catch(() => null)) };
  } catch (error) {
    return { status: 0, wait: 0, detail: error.name };
  }
}

/** What an answer means: status 0 if it is not that of a collector of this survey, as where a network wants a login. */
function judged(message, status, body) {
  const counted = status === 200 && body?.counted + body?.duplicates > 0 && body.survey === hex(message.slice(8, 24));
  const problem = status !== 200 && String(body?.type).startsWith("urn:deniable:problem:");
  if (counted || problem || AGAIN.test(status)) return { status, detail: String(body?.detail ?? "") };
  return { status: 0, detail: `something else than the collector answered (status ${status})` };
}

export async function sendUntil(url, message, options) {
  const { attempts = 5, sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)) } = options;
  for (let tried = 1; ; tried++) {
    const reply = await attempt(url, message, options);
    const isLater = AGAIN.test(reply.status);
    if (!isLater || tried >= attempts) return { ...reply, state: isLater ? "kept" : reply.status === 200 ? "sent" : "refused" };
    const backoff = 250 * 2 ** tried * (0.5 + new SecureCoins().below(500) / 1000); // so that devices do not come at once
    await sleep(Math.max(reply.wait, backoff));
  }
}
