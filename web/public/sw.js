// Keeps the page itself, so that it opens without the server and shows what the browser was told before. It holds no
// data: what was told stands in the browser's own store, and nothing of the server's answers goes through here.
const shell = "keel-shell";

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(keepShell());
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate" && !pathname.startsWith("/api/")) event.respondWith(openShell(request));
  else if (pathname.startsWith("/assets/")) event.respondWith(kept(request));
});

/** The page, and what it loads first. Its files have names of their contents: those of an older page go. */
async function keepShell() {
  const cache = await caches.open(shell);
  const response = await fetch("/", { cache: "no-cache" });
  if (!response.ok) return;
  const files = [...(await response.clone().text()).matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file]) => file);
  await cache.put("/", response);
  for (const { url } of await cache.keys()) {
    const { pathname } = new URL(url);
    if (pathname.startsWith("/assets/index-") && !files.includes(pathname)) await cache.delete(url);
  }
  await cache.addAll(files);
}

/** The server's own where it answers; a link that lets somebody in is never kept. */
async function openShell(request) {
  try {
    const response = await fetch(request);
    if (response.ok && !new URL(request.url).search) await keepShell().catch(() => undefined);
    return response;
  } catch {
    const cache = await caches.open(shell);
    return (await cache.match("/")) ?? Response.error();
  }
}

async function kept(request) {
  const cache = await caches.open(shell);
  const known = await cache.match(request);
  if (known) return known;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
