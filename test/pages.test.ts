// The files of the browser app, as a server's door gives them out.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { pathOf, type Route, settingsPages } from "../web/src/route.ts";
import { openDoor } from "./doors/stage.ts";
import { type RawRequest, rawRequest } from "./support/raw-http.ts";

const page = '<!doctype html><script type="module" src="/assets/main-AbCd1234.js"></script>';
const code = `console.log("${"keel ".repeat(100)}")`;

/** A page as it is built, with a file beside it that is none of it. */
async function built() {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-pages-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const web = path.join(folder, "web");
  mkdirSync(path.join(web, "assets"), { recursive: true });
  writeFileSync(path.join(folder, "secret.js"), "beside the page");
  writeFileSync(path.join(web, "index.html"), page);
  writeFileSync(path.join(web, "icon.svg"), "<svg/>");
  writeFileSync(path.join(web, ".env"), "KEY=1");
  writeFileSync(path.join(web, "assets/main-AbCd1234.js"), code);
  writeFileSync(path.join(web, "assets/main-AbCd1234.js.br"), brotliCompressSync(code));
  symlinkSync(path.join(folder, "secret.js"), path.join(web, "assets/link-AbCd1234.js"));
  symlinkSync(folder, path.join(web, "above"));
  const { port } = await openDoor({}, { pages: web });
  const get = (asked: string, more: Partial<RawRequest> = {}) =>
    rawRequest({ port }, { path: asked, ...more, headers: { Host: `127.0.0.1:${port}`, ...more.headers } });
  return { get, web };
}

test("the page and its files load before anybody was let in, each kept by a browser as long as it may", async () => {
  const { get } = await built();
  expect(await get("/")).toMatchObject({ status: 200, body: page, headers: { "cache-control": "no-cache" } });
  expect(await get("/assets/main-AbCd1234.js")).toMatchObject({
    status: 200,
    body: code,
    headers: {
      "cache-control": "max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
    },
  });
  const { headers } = await get("/icon.svg");
  expect(headers).toMatchObject({ "cache-control": "no-cache", "content-type": "image/svg+xml" });
  expect((await get("/icon.svg", { headers: { "If-None-Match": headers["etag"] ?? "" } })).status).toBe(304);
});

test("no code runs in the page but its own files, and no other page may hold it in a frame", async () => {
  const { get } = await built();
  const { headers } = await get("/");
  const policy = headers["content-security-policy"] ?? "";
  expect(policy).toMatch(/^default-src 'self';/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|http:|nonce/);
  expect(headers).toMatchObject({
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  });
  expect(headers["access-control-allow-origin"]).toBeUndefined();
});

test("an address of a view is answered with the page, and any other that is no file is not", async () => {
  const { get } = await built();
  for (const view of ["/pair", "/sessions/0198c0de-0000-7000-8000-000000000001", "/workspaces/a/b"])
    expect(await get(view)).toMatchObject({ status: 200, body: page });
  for (const none of [
    "/nothing",
    "/sessions",
    "/sessions/a/b/c",
    "/assets/none-AbCd1234.js",
    "/assets",
    "/assets/",
  ])
    expect((await get(none)).status).toBe(401);
});

test("every address that the page gives itself leads to it again", async () => {
  const { get } = await built();
  const session = "0198c0de-0000-7000-8000-000000000001";
  const routes: Route[] = [
    { page: "overview" },
    { page: "worker", workspace: session },
    { page: "worker", workspace: session, worker: session },
    { page: "session", session },
    { page: "asks" },
    ...settingsPages.map((on): Route => ({ page: "settings", on })),
    { page: "pair" },
    { page: "gallery" },
    { page: "gallery", shelf: "asks" },
  ];
  for (const route of routes)
    expect(await get(pathOf(route)), pathOf(route)).toMatchObject({ status: 200, body: page });
});

test("what was made smaller at the build is sent to who can read it", async () => {
  const { get } = await built();
  const small = brotliCompressSync(code);
  const asked = { headers: { "Accept-Encoding": "gzip, deflate, br" } };
  const { headers } = await get("/assets/main-AbCd1234.js", asked);
  expect(headers).toMatchObject({
    "content-encoding": "br",
    "content-length": String(small.length),
    vary: "accept-encoding",
  });
  expect(brotliDecompressSync(small).toString()).toBe(code);
  const plain = await get("/assets/main-AbCd1234.js", { headers: { "Accept-Encoding": "gzip" } });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect((await get("/assets/main-AbCd1234.js.br")).status).toBe(401);
});

test("no path leads out of the folder, in whatever way it is written", async () => {
  const { get } = await built();
  const ways = [
    "/../secret.js",
    "/assets/../../secret.js",
    "/assets/..%2f..%2fsecret.js",
    "/assets/%2e%2e/%2e%2e/secret.js",
    "/assets/..\\..\\secret.js",
    "/assets/link-AbCd1234.js",
    "/above/secret.js",
    "//secret.js",
    "/./index.html",
    "/.env",
    "/assets/main-AbCd1234.js%00.svg",
    "/__proto__",
    "/constructor",
  ];
  for (const way of ways) {
    const { status, body } = await get(way);
    expect({ way, status }).toEqual({ way, status: 401 });
    expect(body).not.toContain("beside the page");
  }
});

test("is only read: with another method it is no page", async () => {
  const { get } = await built();
  expect(await get("/", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
    expect((await get("/", { method })).status).toBe(401);
});

test("a build beside a running server is served from then on", async () => {
  const { get, web } = await built();
  await get("/");
  rmSync(path.join(web, "assets/main-AbCd1234.js"));
  writeFileSync(path.join(web, "assets/next-EfGh5678.js"), "next");
  writeFileSync(path.join(web, "index.html"), "next page");
  utimesSync(path.join(web, "index.html"), 1, 1);
  expect((await get("/")).body).toBe("next page");
  expect((await get("/assets/next-EfGh5678.js")).body).toBe("next");
  expect((await get("/assets/main-AbCd1234.js")).status).toBe(401);
});

test("where none was built, the server says so", async () => {
  const { port } = await openDoor();
  const { status, headers, body } = await rawRequest(
    { port },
    { path: "/", headers: { Host: `127.0.0.1:${port}` } },
  );
  expect({ status, type: headers["content-type"] }).toEqual({
    status: 200,
    type: "text/plain; charset=utf-8",
  });
  expect(body).toContain("not part of this build");
});
