// The service worker: keeps the page, the package and the model in the box, so that
// the page works without a network. With a network, the server's files come first.
const CACHE = "runcible-page";
const PACKAGE = "runcible-web/";
const PAGE = ["./", "page.css", "page.js", "talk.js", "icon.svg"];

async function keep() {
  const cache = await caches.open(CACHE);
  const response = await fetch(`${PACKAGE}files.json`);
  const files = await response.clone().json();
  await cache.put(`${PACKAGE}files.json`, response);
  await cache.addAll([...PAGE, ...files.map((name) => PACKAGE + name)]);
}

async function answer(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    // Updates only files that are kept: models have a separate cache.
    if (response.ok && (await cache.match(request))) {
      await cache.put(request, response.clone());
    }
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(keep());
});
self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const own = new URL(request.url).origin === self.location.origin;
  if (own && request.method === "GET" && !request.headers.has("range")) {
    event.respondWith(answer(request));
  }
});
