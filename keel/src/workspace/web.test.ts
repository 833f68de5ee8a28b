import http from "node:http";
import https from "node:https";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import zlib from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../../../test/verifies.ts";
import type { Web, WebPage } from "../engine/web.ts";
import { selfSigned } from "../models/self-signed.ts";
import { nodeWeb, type WebOptions } from "./web.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void | Promise<void>;

/** A real server; `host` is a name that only our own resolver knows. */
async function serve(answer: Answer): Promise<{ port: number; url: string; seen: http.IncomingMessage[] }> {
  const seen: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    void answer(request, response);
  });
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const port = await listen(server);
  return { port, url: `http://127.0.0.1:${port}/`, seen };
}

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

const web = (options: Partial<WebOptions> = {}): Web =>
  nodeWeb({ version: "1.2.3", allowHosts: ["127.0.0.1"], ...options });
const never = new AbortController().signal;

async function pageOf(answer: Answer, options: Partial<WebOptions> = {}): Promise<WebPage> {
  const { url } = await serve(answer);
  const found = await web(options).fetch(url, never);
  if (found.kind !== "page") throw new Error(JSON.stringify(found));
  return found.page;
}

const send =
  (body: string | Uint8Array, headers: http.OutgoingHttpHeaders, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

describe("a page", () => {
  test("comes as Markdown, with what is known about it", async () => {
    verifies("S4.10");
    const page = await pageOf(
      send("<title>T</title><h1>Hi</h1><p>there<script>x()</script>", {
        "content-type": "text/html; charset=utf-8",
      }),
    );
    expect(page).toMatchObject({
      status: 200,
      statusText: "OK",
      mediaType: "text/html",
      title: "T",
      text: "# Hi\n\nthere",
      extent: "whole",
    });
    expect(page.bytes).toBe(55);
  });

  test("is asked for with one GET that says who asks and carries nothing of the user's", async () => {
    const { url, seen } = await serve(send("x", { "content-type": "text/plain" }));
    await web().fetch(url, never);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: "GET", url: "/" });
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
    expect(seen[0]?.headers["user-agent"]).toBe("keel/1.2.3");
  });

  test.each([
    ["text/plain", "<b>as it is</b>", "<b>as it is</b>"],
    ["application/json", '{"a":1}', '{"a":1}'],
    ["application/ld+json; charset=utf-8", "[]", "[]"],
    ["text/markdown", "# Hi", "# Hi"],
    ["application/xhtml+xml", "<p>x</p>", "x"],
    ["", "<!DOCTYPE html><p>x</p>", "x"],
    ["", "just words", "just words"],
  ])("of the type %j is shown as what it is", async (type, body, expected) => {
    expect((await pageOf(send(body, type === "" ? {} : { "content-type": type }))).text).toBe(expected);
  });

  test.each([
    ["the server says it", "text/html; charset=iso-8859-1", Buffer.from("caf\xe9", "latin1"), "café"],
    [
      "the page says it",
      "text/html",
      Buffer.from('<meta charset="windows-1252">caf\xe9 \x80', "latin1"),
      "café €",
    ],
    [
      "the page says it the old way",
      "text/html",
      Buffer.from(
        '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">\x93\xfa\x96{',
        "latin1",
      ),
      "日本",
    ],
    ["a mark says it", "text/plain; charset=latin1", Buffer.from("\ufeffcafé", "utf16le"), "café"],
    ["nobody says it", "text/html", Buffer.from("café"), "café"],
    ["nobody knows it", "text/html; charset=klingon", Buffer.from("café"), "café"],
  ])("is read in its character set when %s", async (_, type, body, expected) => {
    expect((await pageOf(send(body, { "content-type": type }))).text).toBe(expected);
  });

  test.each([
    ["gzip", zlib.gzipSync],
    ["br", zlib.brotliCompressSync],
    ["deflate", zlib.deflateSync],
  ])("is unpacked from %s", async (encoding, pack) => {
    const body = "words ".repeat(1_000);
    const page = await pageOf(
      send(pack(body), { "content-type": "text/plain", "content-encoding": encoding }),
    );
    expect(page).toMatchObject({ text: body, bytes: body.length });
  });

  test("that was not found is still a page, with its status", async () => {
    const page = await pageOf(send("<h1>Gone</h1>", { "content-type": "text/html" }, 404));
    expect(page).toMatchObject({ status: 404, statusText: "Not Found", text: "# Gone" });
  });

  test("may come in pieces that cut characters and tags in two", async () => {
    const page = await pageOf(async (_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      for (const byte of Buffer.from("<p>日本 <b>caf&eacute;</b></p>")) {
        response.write(Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    expect(page.text).toBe("日本 café");
  });
});

describe("what is too much", () => {
  test("a page that is too long is read in part", async () => {
    const page = await pageOf(send("x".repeat(5_000), { "content-type": "text/plain" }), {
      limits: { mostBytes: 1_000 },
    });
    expect(page).toMatchObject({ bytes: 1_000, extent: "part", text: "x".repeat(1_000) });
  });

  test("an endless page ends at the limit", async () => {
    const page = await pageOf(
      (_, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        const more = (): void => {
          while (response.writable && response.write("y".repeat(65_536)));
          response.once("drain", more);
        };
        more();
      },
      { limits: { mostBytes: 1_000_000 } },
    );
    expect(page).toMatchObject({ bytes: 1_000_000, extent: "part" });
  });

  test("a small body that unpacks to a huge one ends at the limit", async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000, "z"));
    const page = await pageOf(send(bomb, { "content-type": "text/plain", "content-encoding": "gzip" }), {
      limits: { mostBytes: 100_000 },
    });
    expect(page).toMatchObject({ bytes: 100_000, extent: "part" });
  });

  test("a server that says nothing is left", async () => {
    const { url } = await serve(() => undefined);
    const answer = await web({ limits: { answerMs: 100 } }).fetch(url, never);
    expect(answer).toEqual({
      kind: "refused",
      why: `${url} cannot be reached: it said nothing for 0.1 seconds.`,
    });
  });

  test("a server that sends one byte at a time is left", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const timer = setInterval(() => response.write("x"), 20);
      response.once("close", () => clearInterval(timer));
    });
    const answer = await web({ limits: { wholeMs: 200 } }).fetch(url, never);
    expect(answer).toEqual({ kind: "refused", why: `${url} did not answer in full within 0.2 seconds.` });
  });

  test("an interrupt ends a running fetch", async () => {
    const { url } = await serve(
      (_, response) => void response.writeHead(200, { "content-type": "text/plain" }).write("x"),
    );
    const stop = new AbortController();
    const running = web().fetch(url, stop.signal);
    await pause(50);
    stop.abort();
    expect(await running).toEqual({ kind: "refused", why: "Interrupted." });
  });

  test("a name that is never looked up does not hold the call", async () => {
    const answer = await web({ limits: { wholeMs: 100 }, lookUp: () => new Promise(() => undefined) }).fetch(
      "http://slow.example/",
      never,
    );
    expect(answer).toMatchObject({ why: expect.stringContaining("within 0.1 seconds") });
  });
});

describe("what is refused", () => {
  test.each([
    ["application/pdf", "is application/pdf, which cannot be shown as text"],
    ["image/png", "is image/png"],
    ["application/octet-stream", "is application/octet-stream"],
  ])("a body of the type %s, with another way to it", async (type, words) => {
    const { url } = await serve(send("%PDF", { "content-type": type }));
    const answer = await web().fetch(url, never);
    expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining(words) });
    expect(answer).toMatchObject({ why: expect.stringContaining("curl -o") });
  });

  test("a body without a type that turns out to be binary", async () => {
    for (const bytes of [20, 2_000]) {
      const { url } = await serve(send(Buffer.alloc(bytes), {}));
      const answer = await web().fetch(url, never);
      expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining("binary data") });
    }
  });

  test("a body that is packed wrongly, in an unknown way, or cut", async () => {
    const type = { "content-type": "text/plain" };
    const wrong = await serve(send("no gzip", { ...type, "content-encoding": "gzip" }));
    const unknown = await serve(send("x", { ...type, "content-encoding": "lzma" }));
    const cut = await serve((_, response) => {
      response.writeHead(200, { ...type, "content-length": "100" }).write("x");
      setTimeout(() => response.destroy(), 20);
    });
    expect(await web().fetch(wrong.url, never)).toMatchObject({
      why: `${wrong.url} sent a body that cannot be unpacked.`,
    });
    expect(await web().fetch(unknown.url, never)).toMatchObject({
      why: expect.stringContaining("packed as lzma"),
    });
    expect(await web().fetch(cut.url, never)).toMatchObject({ why: `${cut.url} broke the connection off.` });
  });

  test("a host that nobody knows or that refuses, in words", async () => {
    const missing = Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    const lookUp = () => Promise.reject(missing);
    expect(await web({ lookUp }).fetch("http://gone.example/", never)).toMatchObject({
      why: "http://gone.example/ cannot be found: its host has no address.",
    });
    const closed = net.createServer();
    const port = await listen(closed);
    closed.close();
    const url = `http://127.0.0.1:${port}/`;
    expect(await web().fetch(url, never)).toMatchObject({ why: `${url} refuses the connection.` });
  });

  test("what does not speak HTTP, or sends too long a head", async () => {
    const talk = async (words: string): Promise<string> => {
      const server = net.createServer((socket) => void socket.on("error", () => undefined).end(words));
      open.push(server);
      return `http://127.0.0.1:${await listen(server)}/`;
    };
    const garbage = await talk("SSH-2.0-OpenSSH\r\n");
    const long = await talk(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`);
    expect(await web().fetch(garbage, never)).toMatchObject({ kind: "refused" });
    expect(await web().fetch(long, never)).toMatchObject({ why: `${long} sent a head that is too long.` });
  });
});

test("a certificate that nobody vouches for is refused", async () => {
  const server = https.createServer(selfSigned(), (_, response) => void response.end("secret"));
  open.push(server);
  const url = `https://127.0.0.1:${await listen(server)}/`;
  expect(await web().fetch(url, never)).toMatchObject({
    kind: "refused",
    why: expect.stringContaining("has a certificate that is not trusted"),
  });
});

describe("the guard", () => {
  test("reaches nothing private, not even to ask", async () => {
    const { url, seen } = await serve(send("secret", { "content-type": "text/plain" }));
    const answer = await web({ allowHosts: [] }).fetch(url, never);
    expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining("loopback") });
    expect(seen).toEqual([]);
  });

  test("a public name that leads inside is refused", async () => {
    const { port, seen } = await serve(send("secret", { "content-type": "text/plain" }));
    const answer = await web({ allowHosts: [], lookUp: async () => ["127.0.0.1"] }).fetch(
      `http://inside.example:${port}/`,
      never,
    );
    expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining("leads to 127.0.0.1") });
    expect(seen).toEqual([]);
  });

  test("connects to the address that was judged, however often the name changes its mind", async () => {
    const { port, seen } = await serve(send("judged", { "content-type": "text/plain" }));
    let asked = 0;
    // The second answer leads to a place where nobody listens.
    const lookUp = async () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.77"];
    const answer = await web({ allowHosts: ["moving.example"], lookUp }).fetch(
      `http://moving.example:${port}/`,
      never,
    );
    expect(answer).toMatchObject({ kind: "page", page: { text: "judged" } });
    expect(asked).toBe(1);
    expect(seen[0]?.headers.host).toBe(`moving.example:${port}`);
  });

  test("judges the name again at every redirect", async () => {
    const { port, seen } = await serve(
      (_, response) => void response.writeHead(302, { location: "/again" }).end(),
    );
    let asked = 0;
    const lookUp = async () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.77"];
    const url = `http://moving.example:${port}/`;
    const answer = await web({ allowHosts: ["moving.example"], lookUp }).fetch(url, never);
    expect(answer).toMatchObject({ kind: "refused", why: `${url} refuses the connection.` });
    expect(seen).toHaveLength(1);
    expect(asked).toBe(2);
  });
});

describe("a redirect", () => {
  const redirect =
    (target: (path: string) => string | undefined): Answer =>
    (request, response) => {
      const to = target(request.url ?? "");
      if (to === undefined)
        response.writeHead(200, { "content-type": "text/plain" }).end(`at ${request.url}`);
      else response.writeHead(301, { location: to }).end();
    };

  test("on its host is followed, and the page says where it was found", async () => {
    const { url } = await serve(
      redirect((path) => (path === "/" ? "/a" : path === "/a" ? "b?c" : undefined)),
    );
    const answer = await web().fetch(url, never);
    expect(answer).toMatchObject({ kind: "page", page: { url: `${url}b?c`, text: "at /b?c" } });
  });

  test("is followed five times and not six", async () => {
    const hops = (most: number) => redirect((path) => (path.length - 1 < most ? `${path}x` : undefined));
    const five = await serve(hops(5));
    const six = await serve(hops(6));
    expect(await web().fetch(five.url, never)).toMatchObject({ kind: "page", page: { text: "at /xxxxx" } });
    expect(await web().fetch(six.url, never)).toEqual({
      kind: "refused",
      why: `${six.url} redirects more than 5 times.`,
    });
    expect(six.seen).toHaveLength(6);
  });

  test("to another host or port is told and not followed", async () => {
    const other = await serve(send("other", { "content-type": "text/plain" }));
    const { url } = await serve(redirect(() => other.url));
    expect(await web().fetch(url, never)).toEqual({
      kind: "moved",
      status: 301,
      statusText: "Moved Permanently",
      to: other.url,
    });
    expect(other.seen).toEqual([]);
    const { url: outside } = await serve(redirect(() => "https://example.org/new"));
    expect(await web().fetch(outside, never)).toMatchObject({ kind: "moved", to: "https://example.org/new" });
  });

  test.each([["http://127.0.0.1:1/"], ["file:///etc/passwd"], ["http://169.254.169.254/"]])(
    "to %s reaches nothing",
    async (to) => {
      const { url, seen } = await serve(redirect(() => to));
      expect((await web().fetch(url, never)).kind).toBe("moved");
      expect(seen).toHaveLength(1);
    },
  );

  test("that names no place is a page like any other", async () => {
    const { url } = await serve(
      (_, response) => void response.writeHead(302, { "content-type": "text/plain" }).end("lost"),
    );
    expect(await web().fetch(url, never)).toMatchObject({
      kind: "page",
      page: { status: 302, text: "lost" },
    });
  });
});
