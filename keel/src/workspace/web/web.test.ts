import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { quiet, send, testWeb, web } from "../../../../test/support/web-site.ts";

const { serve, listen, page: pageOf } = testWeb();

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
    await web().fetch(url, quiet);
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
      limits: { maxBytes: 1_000 },
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
      { limits: { maxBytes: 1_000_000 } },
    );
    expect(page).toMatchObject({ bytes: 1_000_000, extent: "part" });
  });

  test("a small body that unpacks to a huge one ends at the limit", async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000, "z"));
    const page = await pageOf(send(bomb, { "content-type": "text/plain", "content-encoding": "gzip" }), {
      limits: { maxBytes: 100_000 },
    });
    expect(page).toMatchObject({ bytes: 100_000, extent: "part" });
  });

  test("a server that says nothing is left", async () => {
    const { url } = await serve(() => undefined);
    const answer = await web({ limits: { answerMs: 100 } }).fetch(url, quiet);
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
    const answer = await web({ limits: { wholeMs: 200 } }).fetch(url, quiet);
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
      quiet,
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
    const answer = await web().fetch(url, quiet);
    expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining(words) });
    expect(answer).toMatchObject({ why: expect.stringContaining("curl -o") });
  });

  test("a body without a type that turns out to be binary", async () => {
    for (const bytes of [20, 2_000]) {
      const { url } = await serve(send(Buffer.alloc(bytes), {}));
      const answer = await web().fetch(url, quiet);
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
    expect(await web().fetch(wrong.url, quiet)).toMatchObject({
      why: `${wrong.url} sent a body that cannot be unpacked.`,
    });
    expect(await web().fetch(unknown.url, quiet)).toMatchObject({
      why: expect.stringContaining("packed as lzma"),
    });
    expect(await web().fetch(cut.url, quiet)).toMatchObject({ why: `${cut.url} broke the connection off.` });
  });

  test("a host that nobody knows or that refuses, in words", async () => {
    const missing = Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    const lookUp = () => Promise.reject(missing);
    expect(await web({ lookUp }).fetch("http://gone.example/", quiet)).toMatchObject({
      why: "http://gone.example/ cannot be found: its host has no address.",
    });
    const closed = net.createServer();
    const port = await listen(closed);
    closed.close();
    const url = `http://127.0.0.1:${port}/`;
    expect(await web().fetch(url, quiet)).toMatchObject({ why: `${url} refuses the connection.` });
  });

  test("what does not speak HTTP, or sends too long a head", async () => {
    const talk = async (words: string): Promise<string> => {
      const server = net.createServer((socket) => void socket.on("error", () => undefined).end(words));
      return `http://127.0.0.1:${await listen(server)}/`;
    };
    const garbage = await talk("SSH-2.0-OpenSSH\r\n");
    const long = await talk(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`);
    expect(await web().fetch(garbage, quiet)).toMatchObject({ kind: "refused" });
    expect(await web().fetch(long, quiet)).toMatchObject({ why: `${long} sent a head that is too long.` });
  });
});
