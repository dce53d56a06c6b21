/** Keeps the answer page for when there is no network. It never touches reports, results or tokens. */

const KEPT = "deniable-pages-9";
const here = (part) => new URL(part, self.location.href).pathname;
const PARTS = [
  "./", "./pages/style.css", "./pages/icon.svg", "./pages/answer.js", "./pages/dom.js", "./pages/texts.js", "./pages/wording.js", "./pages/words.js", "./pages/promise.js",
  "./pages/questions.js", "./pages/chance.js", "./pages/deniable.js", "./pages/reports.js", "./v1/survey", "./v1/law", "./v1/promise", "./v1/status",
].map(here);
// kept when a survey asks for it
const LATER = ["./pages/invitation.js", "./pages/strings.js", "./pages/repeated.js", "./pages/embedded.js", "./pages/friends.js", "./pages/people.js",
  "./pages/people.en.json", "./pages/people.de.json", "./pages/people.fr.json", "./pages/people.es.json"].map(here);
// kept at once if the page has the terms of a relay: without these it could not send
const MIXING = ["./pages/mix.js", "./pages/relay.js", "./pages/mix.en.json", "./pages/mix.de.json", "./pages/mix.fr.json", "./pages/mix.es.json"].map(here);

async function keep() {
  const cache = await caches.open(KEPT);
  await cache.addAll(PARTS);
  const page = await (await cache.match(here("./"))).text();
  if (page.includes("deniable-mix-1")) await cache.addAll(MIXING);
  await self.skipWaiting();
}

self.addEventListener("install", (event) => event.waitUntil(keep()));

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("deniable-pages-") && name !== KEPT;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))).then(() => self.clients.claim()));
});

/** The newest there is: from the collector, or else what was kept. The date of a kept answer would be a wrong clock. */
async function newest(request, path) {
  const cache = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(path, answer.clone());
    return answer;
  } catch (error) {
    const kept = await cache.match(path);
    if (!kept) throw error;
    const headers = new Headers(kept.headers);
    headers.delete("date");
    return new Response(kept.body, { status: kept.status, headers });
  }
}

self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  if (event.request.method !== "GET" || address.origin !== self.location.origin || ![...PARTS, ...LATER, ...MIXING].includes(address.pathname)) return;
  event.respondWith(newest(event.request, address.pathname));
});
