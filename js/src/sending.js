// Sending a report with fetch, and waiting between attempts.

import { SecureCoins } from "./coins.js";

const AGAIN = new Set([0, 408, 425, 429, 500, 502, 503, 504]); // what means that the same report may succeed later

/** What came of one attempt: the status, 0 if nobody answered, and how many milliseconds the collector asks to wait. */
async function attempt(url, message, { fetch = globalThis.fetch, token }) {
  const headers = { "Content-Type": "application/vnd.deniable.reports" };
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/v1/reports`, {
      method: "POST",
      body: message,
      headers,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout?.(10_000),
    });
    const body = answer.ok ? {} : await answer.json().catch(() => ({}));
    return {
      status: answer.status,
      wait: 1000 * Number(/^\d{1,5}$/.exec(answer.headers.get("Retry-After") ?? "") ?? 0),
      detail: String(body.detail ?? ""),
    };
  } catch (error) {
    return { status: 0, wait: 0, detail: error.name };
  }
}

export async function sendUntil(url, message, options) {
  const { attempts = 5, sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)) } = options;
  let reply = await attempt(url, message, options);
  for (let tried = 1; tried < attempts && AGAIN.has(reply.status); tried++) {
    const backoff = 500 * 2 ** (tried - 1) * (0.5 + new SecureCoins().below(500) / 1000); // so that devices do not come at once
    await sleep(Math.max(reply.wait, backoff));
    reply = await attempt(url, message, options);
  }
  const arrived = reply.status >= 200 && reply.status < 300;
  return { ...reply, state: arrived ? "sent" : AGAIN.has(reply.status) ? "kept" : "refused" };
}
