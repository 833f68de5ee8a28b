// The proxy against clients of bad manners: odd names, requests that two readers could read in two ways, cuts, floods.
import type { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { hostileHosts } from "../../../../../test/support/hostile-hosts.ts";
import {
  entries,
  type Host,
  hostAddress,
  openHost,
  openProxyStage,
  type Stage,
  type StageOptions,
} from "../../../../../test/support/proxy-stage.ts";
import { Credentials } from "./credentials.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
async function stage(options: StageOptions): Promise<Stage> {
  const opened = await openProxyStage(options);
  open.push(opened);
  return opened;
}
async function host(...given: Parameters<typeof openHost>): Promise<Host> {
  const opened = await openHost(...given);
  open.push(opened);
  return opened;
}

/** Not as `once` of Node's own has it: an error is no news here. */
const once = (socket: EventEmitter, event: string): Promise<void> =>
  new Promise((resolve) => socket.once(event, () => resolve()));

async function knock(
  behind: Stage,
): Promise<{ socket: Socket; heard: () => string; over: Promise<unknown> }> {
  const socket = connect({ path: behind.proxy.httpSocket });
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const over = once(socket, "close");
  await Promise.race([once(socket, "connect"), over]);
  return { socket, heard: () => text, over };
}

/** What comes back for these bytes until the other side has nothing more to say. */
async function said(behind: Stage, bytes: string | Uint8Array): Promise<string> {
  const { socket, heard } = await knock(behind);
  const ended = Promise.race([once(socket, "end"), once(socket, "close")]);
  socket.write(bytes);
  await ended;
  socket.destroy();
  return heard();
}

const socksTo = (name: string, port: number): Buffer => {
  const bytes = Buffer.from(name, "latin1").subarray(0, 255);
  const request = Buffer.from([5, 1, 0, 3, bytes.length, ...bytes, port >> 8, port & 0xff]);
  return Buffer.concat([Buffer.from([5, 1, 0]), request]);
};

test("no odd spelling of a host gets through any door: not one connection of more than 300 tries", async () => {
  const web = await host((_asked, reply) => reply.end("there"));
  const behind = await stage({
    allowed: ["good.example", "*.wide.example", hostAddress],
    limits: { headMs: 1_000, maxConnections: 1_000 },
  });
  expect(hostileHosts.length).toBeGreaterThan(100);
  const tries = hostileHosts.flatMap((name) => [
    `CONNECT ${name}:${web.port} HTTP/1.1\r\nHost: good.example\r\n\r\n`,
    `GET http://${name}:${web.port}/ HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n`,
    socksTo(name, web.port),
  ]);
  const through: string[] = [];
  // As many at once as a listening socket takes.
  for (let at = 0; at < tries.length; at += 40)
    await Promise.all(
      tries.slice(at, at + 40).map(async (bytes) => {
        const heard = await said(behind, bytes);
        const isThrough = typeof bytes === "string" ? /^HTTP\/1\.1 2/.test(heard) : heard.charCodeAt(3) === 0;
        if (isThrough) through.push(bytes.toString("latin1"));
      }),
    );
  expect(through).toEqual([]);
  expect(web.connections()).toBe(0);
  // The same doors are open for who is named.
  const named = `GET http://good.example:${web.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  expect(await said(behind, named)).toContain("there");
  expect(
    (await said(behind, Buffer.concat([socksTo("a.wide.example", web.port), Buffer.from(named)]))).charCodeAt(
      3,
    ),
  ).toBe(0);
});

describe("a request that two readers could read in two ways", () => {
  const body = "0\r\n\r\nGET /second HTTP/1.1\r\nHost: good.example\r\n\r\n";
  const heads: Readonly<Record<string, string>> = {
    "a length and pieces": `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n`,
    "two lengths": `Content-Length: 5\r\nContent-Length: ${body.length}\r\n`,
    "a length with a sign": `Content-Length: +${body.length}\r\n`,
    "pieces that are named twice": "Transfer-Encoding: chunked, chunked\r\n",
    "pieces that are not last": "Transfer-Encoding: chunked, identity\r\n",
    "pieces in another spelling": "Transfer-Encoding: xchunked\r\n",
    "pieces behind a blank": "Transfer-Encoding : chunked\r\n",
    "pieces on a folded line": "Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n",
    "a line that ends in half": `X: y\nContent-Length: ${body.length}\r\n`,
    "a zero in a header": "X: a\0b\r\n",
  };
  test.each(Object.entries(heads))("%s: at most one request arrives, and no second one", async (_, head) => {
    const web = await host((asked, reply) => {
      asked.resume();
      reply.end("there");
    });
    const behind = await stage({ allowed: ["good.example", hostAddress] });
    await said(
      behind,
      `POST http://good.example:${web.port}/first HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n${head}\r\n${body}`,
    );
    expect(web.seen.map(({ url }) => url)).not.toContain("/second");
    expect(web.seen.length).toBeLessThan(2);
  });

  test("the address counts, not what stands beside it as the host; and what is about one leg stays there", async () => {
    const web = await host((asked, reply) => reply.end(JSON.stringify(asked.headers)));
    const behind = await stage({ allowed: ["good.example", hostAddress] });
    const heard = await said(
      behind,
      [
        `GET http://good.example:${web.port}/ HTTP/1.1`,
        "Host: evil.example",
        "Proxy-Authorization: Basic eDp5",
        "Connection: close, X-Hop, Content-Length",
        "X-Hop: 1",
        "X-Kept: 1",
        "Upgrade: websocket",
        "\r\n",
      ].join("\r\n"),
    );
    expect(heard).toContain("200 OK");
    const [one] = web.seen;
    expect(one?.rawHeaders.filter((name) => name.toLowerCase() === "host")).toHaveLength(1);
    expect(one?.headers).toEqual({ host: `good.example:${web.port}`, "x-kept": "1", connection: "close" });
  });

  test.each([
    ["a path alone", "GET / HTTP/1.1"],
    ["another scheme", "GET ftp://good.example/ HTTP/1.1"],
    ["https without a tunnel", "GET https://good.example/ HTTP/1.1"],
    ["a name and a password", "GET http://a:b@good.example/ HTTP/1.1"],
    ["a file", "GET file:///etc/passwd HTTP/1.1"],
    ["a tunnel without a port", "CONNECT good.example HTTP/1.1"],
    ["a tunnel to no port", "CONNECT good.example:0 HTTP/1.1"],
    ["a tunnel to a port beyond all", "CONNECT good.example:70000 HTTP/1.1"],
    ["a tunnel to a path", "CONNECT good.example:443/x HTTP/1.1"],
  ])("%s is refused", async (_, line) => {
    const behind = await stage({ allowed: ["good.example"] });
    expect(await said(behind, `${line}\r\nHost: good.example\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 40[03]|^HTTP\/1\.1 505/,
    );
    expect(behind.lookedUp).toEqual([]);
  });

  test("an entry with a port is about that port only", async () => {
    const web = await host((_asked, reply) => reply.end("there"));
    const behind = await stage({ allowed: [`good.example:${web.port}`, hostAddress] });
    const tunnel = (port: number) =>
      said(
        behind,
        `CONNECT good.example:${port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
    expect(await tunnel(web.port)).toContain("there");
    expect(await tunnel(22)).toMatch(/^HTTP\/1\.1 403/);
  });

  test("inside a tunnel that gets a key, another whole address is refused", async () => {
    const credentials = new Credentials([
      { name: "K", secret: "s3cret-key", hosts: entries(["good.example"]), place: { kind: "placeholder" } },
    ]);
    const web = await host((_asked, reply) => reply.end("there"), { secure: "good.example" });
    const behind = await stage({ allowed: ["good.example", hostAddress], credentials });
    const { connect: connectTls } = await import("node:tls");
    const { socket } = await knock(behind);
    socket.write(`CONNECT good.example:${web.port} HTTP/1.1\r\n\r\n`);
    await once(socket, "data");
    socket.removeAllListeners("data");
    const secured = connectTls({ socket, servername: "good.example", ca: behind.proxy.authority().cert });
    await once(secured, "secureConnect");
    let heard = "";
    secured.on("data", (chunk: Buffer) => {
      heard += chunk;
    });
    secured.write("GET https://evil.example/ HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n");
    await once(secured, "close");
    expect(heard).toMatch(/^HTTP\/1\.1 400/);
    expect(web.seen).toEqual([]);
  });
});

describe("a client that wears the proxy out", () => {
  test("a head that never ends is not waited for, nor one that comes letter by letter, nor silence", async () => {
    const behind = await stage({ allowed: [], limits: { headMs: 200 } });
    const slow = await knock(behind);
    const letters = setInterval(() => slow.socket.write("X"), 20);
    const silent = await knock(behind);
    const socks = await knock(behind);
    socks.socket.write(Buffer.from([5, 1, 0, 5, 1, 0, 3, 200]));
    await Promise.all([slow, silent, socks].map(({ over }) => over));
    clearInterval(letters);
  });

  test("a second request on the same connection has the same time as the first", async () => {
    const web = await host((_asked, reply) => reply.end("there"));
    const behind = await stage({ allowed: ["good.example", hostAddress], limits: { headMs: 300 } });
    const { socket, heard, over } = await knock(behind);
    socket.write(`GET http://good.example:${web.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    await expect.poll(heard).toContain("there");
    const letters = setInterval(() => socket.write("X"), 20);
    await over;
    clearInterval(letters);
  });

  test("a head of any size is refused, not kept", async () => {
    const behind = await stage({ allowed: ["good.example"] });
    const big = `GET http://good.example/ HTTP/1.1\r\nX: ${"a".repeat(200_000)}\r\n\r\n`;
    expect(await said(behind, big)).toMatch(/^(?:HTTP\/1\.1 400.*)?$/s);
    const many = `GET http://good.example/ HTTP/1.1\r\n${"X: a\r\n".repeat(20_000)}\r\n`;
    expect(await said(behind, many)).toMatch(/^(?:HTTP\/1\.1 400.*)?$/s);
    expect(behind.lookedUp).toEqual([]);
  });

  test("there are at most so many at once, and there is room again when they are gone", async () => {
    const web = await host((_asked, reply) => reply.end("there"));
    const behind = await stage({ allowed: ["good.example", hostAddress], limits: { maxConnections: 5 } });
    const five = await Promise.all(Array.from({ length: 5 }, () => knock(behind)));
    const get = `GET http://good.example:${web.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await said(behind, get)).toMatch(/^HTTP\/1\.1 503/);
    for (const { socket } of five) socket.destroy();
    await expect.poll(() => said(behind, get)).toContain("there");
  });

  test("a host that never answers, or cuts in the middle, is told; both ends are let go", async () => {
    const cut = await host((_asked, reply) => {
      reply.writeHead(200, { "Content-Length": "1000" });
      reply.write("half");
      setTimeout(() => reply.socket?.destroy(), 50);
    });
    const behind = await stage({ allowed: ["good.example", hostAddress], limits: { connectMs: 300 } });
    const get = (port: number) =>
      `GET http://good.example:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await said(behind, get(cut.port))).toContain("half");
    // Nobody listens there.
    expect(await said(behind, get(1))).toMatch(/^HTTP\/1\.1 502.*cannot be reached/s);
    expect(await said(behind, "CONNECT good.example:1 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 502/);
    expect((await said(behind, socksTo("good.example", 1))).slice(2, 4)).toBe("\x05\x04");
  });

  test("when the command is over, what it has open is ended", async () => {
    const never = await host(() => undefined);
    const behind = await stage({ allowed: ["good.example", hostAddress] });
    const { socket } = await knock(behind);
    const word = Buffer.from(`keel:${behind.pass.word}`).toString("base64");
    socket.write(
      `GET http://good.example:${never.port}/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${word}\r\n\r\n`,
    );
    await expect.poll(() => never.seen.length).toBe(1);
    const over = once(socket, "close");
    const farOver = once(never.seen[0]?.socket ?? socket, "close");
    behind.pass.close();
    await Promise.all([over, farOver]);
  });

  test.each([
    ["a port to listen on", [5, 2, 0, 1, 127, 0, 0, 1, 0, 80], 7],
    ["packets", [5, 3, 0, 1, 127, 0, 0, 1, 0, 80], 7],
    ["a kind of address that is none", [5, 1, 0, 9, 1, 1], 8],
    ["no port", [5, 1, 0, 3, 1, 97, 0, 0], 4],
  ])("SOCKS: %s is refused", async (_, request, reply) => {
    const behind = await stage({ allowed: ["good.example"] });
    const heard = await said(behind, Buffer.from([5, 1, 0, ...request]));
    expect(heard.charCodeAt(3)).toBe(reply);
  });
});
