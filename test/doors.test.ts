// A server's door as strangers find it: which address they name, which page they come from, by TLS or without.
import { describe, expect, test } from "vitest";
import { isLoopback, readAddress } from "../keel/src/hosts/server/addresses.ts";
import { closeCodes } from "../keel/src/hosts/server/connection.ts";
import { openDoor } from "./doors/stage.ts";
import { rawRequest } from "./support/raw-http.ts";
import { rawSocket } from "./support/raw-socket.ts";
import { selfSigned } from "./support/self-signed.ts";

describe("the address of a server", () => {
  test.each(["0.0.0.0", "::", "192.0.2.7", "128.0.0.1"])("without TLS is not %s", async (host) => {
    await expect(readAddress({ port: 0, host })).rejects.toMatchObject({ code: "usage" });
  });

  test.each(["127.0.0.1", "127.8.9.10", "::1", "localhost"])("without TLS may be %s", async (host) => {
    await expect(readAddress({ port: 0, host })).resolves.toMatchObject({ host, tls: undefined });
  });

  test.each([
    ["a name that is pointed at who knows what", { host: "keel.example" }],
    ["a certificate without its key", { tlsCert: "/cert.pem" }],
    ["files that are not there", { tlsCert: "/nowhere/cert.pem", tlsKey: "/nowhere/key.pem" }],
    ["files that are no certificate", { tlsCert: import.meta.filename, tlsKey: import.meta.filename }],
    ["a public address that is none", { publicUrl: "keel.example" }],
    ["a public address with a path", { publicUrl: "https://keel.example/here" }],
    ["a public address with a name in it", { publicUrl: "https://me@keel.example" }],
    ["a public address that is read along", { publicUrl: "http://keel.example" }],
  ])("is not %s", async (_, at) => {
    await expect(readAddress({ port: 0, ...at })).rejects.toMatchObject({ code: "usage" });
  });

  test("is of this machine alone by the whole range, however it is spelled", () => {
    expect(["127.255.0.9", "[::1]", "LOCALHOST", "keel.localhost"].map(isLoopback)).not.toContain(false);
    expect(
      ["localhost.evil.example", "127.0.0.1.evil.example", "::ffff:1.2.3.4", "0.0.0.0"].map(isLoopback),
    ).not.toContain(true);
  });
});

const bearer = (secret: string): { Authorization: string } => ({ Authorization: `Bearer ${secret}` });
const asked = { path: "/api/sessions" };

describe("behind TLS", () => {
  test("a server is reached by its address, and not without TLS", async () => {
    const { port, secret, url } = await openDoor({ tls: selfSigned() });
    expect(url).toBe(`https://127.0.0.1:${port}`);
    const headers = { Host: `127.0.0.1:${port}`, ...bearer(secret) };
    const own = { ...headers, Origin: url };
    expect((await rawRequest({ port, tls: "not checked" }, { ...asked, headers: own })).status).toBe(200);
    expect((await rawRequest({ port }, { ...asked, headers })).status).not.toBe(200);
    const plain = { ...headers, Origin: `http://127.0.0.1:${port}` };
    expect((await rawRequest({ port, tls: "not checked" }, { ...asked, headers: plain })).status).toBe(403);
  });

  test("a browser's cookie is never sent without it", async () => {
    const { port, devices } = await openDoor({ tls: selfSigned() });
    const request = { path: `/?token=${devices.link("work")}`, headers: { Host: `localhost:${port}` } };
    const { status, headers } = await rawRequest({ port, tls: "not checked" }, request);
    expect(status).toBe(303);
    expect(headers["set-cookie"]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+; Secure$/);
    expect(headers["location"]).toBe("/");
  });
});

describe("with a proxy in front", () => {
  const publicUrl = "https://keel.example";

  test("its one name is let in, with or without the name of this machine, and no other", async () => {
    const { port, secret } = await openDoor({ publicUrl });
    const status = async (headers: Record<string, string>) =>
      (await rawRequest({ port }, { ...asked, headers: { ...headers, ...bearer(secret) } })).status;
    expect(await status({ Host: "keel.example", Origin: publicUrl })).toBe(200);
    expect(await status({ Host: `127.0.0.1:${port}`, Origin: publicUrl })).toBe(200);
    expect(await status({ Host: "KEEL.example" })).toBe(200);
    expect(await status({ Host: "keel.example:8443" })).toBe(421);
    expect(await status({ Host: "evil.example", Origin: publicUrl })).toBe(421);
    expect(await status({ Host: "keel.example", Origin: "http://keel.example" })).toBe(403);
    expect(await status({ Host: "keel.example", Origin: "https://keel.example.evil.example" })).toBe(403);
    expect(await status({ Host: "evil.example", "X-Forwarded-Host": "keel.example" })).toBe(421);
  });

  test("the cookie is secure for whom it lets in by that name, and plain on this machine", async () => {
    const { port, devices } = await openDoor({ publicUrl });
    const enter = async (host: string) => {
      const path = `/?token=${devices.link("work")}`;
      const { headers } = await rawRequest({ port }, { path, headers: { Host: host } });
      return headers["set-cookie"] ?? "";
    };
    expect(await enter("keel.example")).toContain("; Secure");
    expect(await enter(`127.0.0.1:${port}`)).not.toContain("; Secure");
  });
});

describe("a request", () => {
  test("with a header twice is refused, whichever of the two is right", async () => {
    const { port, secret } = await openDoor();
    const Host = `127.0.0.1:${port}`;
    const right = `Bearer ${secret}`;
    const twice = [
      { Host: [Host, "evil.example"], Authorization: right },
      { Host: ["evil.example", Host], Authorization: right },
      { Host, Authorization: [right, "Bearer wrong"] },
      { Host, Authorization: right, Origin: [`http://${Host}`, "https://evil.example"] },
    ];
    for (const headers of twice) expect((await rawRequest({ port }, { ...asked, headers })).status).toBe(400);
  });

  test("with a right secret is let in, however many wrong ones were tried from there", async () => {
    const { port, secret } = await openDoor();
    const status = async (given: string) => {
      const headers = { Host: `127.0.0.1:${port}`, ...bearer(given) };
      return (await rawRequest({ port }, { ...asked, headers })).status;
    };
    const told: (number | undefined)[] = [];
    for (let count = 0; count < 25; count += 1) told.push(await status(`wrong-${count}`));
    expect(told.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(told.slice(20)).toEqual(Array.from({ length: 5 }, () => 429));
    expect(await status(secret)).toBe(200);
  });

  test("to read from a page of another site is refused, and a link to the page is not", async () => {
    const { port, secret } = await openDoor();
    const site = { Host: `127.0.0.1:${port}`, ...bearer(secret) };
    const status = async (path: string, headers: Record<string, string>) =>
      (await rawRequest({ port }, { path, headers: { ...site, ...headers } })).status;
    for (const from of ["cross-site", "same-site"]) {
      expect(await status("/api/sessions", { "Sec-Fetch-Site": from, "Sec-Fetch-Mode": "navigate" })).toBe(
        403,
      );
      expect(await status("/", { "Sec-Fetch-Site": from, "Sec-Fetch-Mode": "no-cors" })).toBe(403);
      expect(await status("/", { "Sec-Fetch-Site": from, "Sec-Fetch-Mode": "navigate" })).not.toBe(403);
    }
    expect(await status("/api/sessions", { "Sec-Fetch-Site": "same-origin" })).toBe(200);
  });
});

// Its client has no header of its own, so that its secret may be its first line.
describe("the socket of the official SDK", () => {
  const path = "/ws/sdk/0198c0de-0000-7000-8000-000000000001";
  const secretLine = (token: string) => ({
    payload: `${JSON.stringify({ type: "auth", credential: { type: "oauth", token } })}\n`,
  });

  test("tells nothing to who brings no secret, and waits for it no longer than for a head", async () => {
    const at = await openDoor({}, { limits: { headMs: 200 } });
    const Host = `127.0.0.1:${at.port}`;
    const silent = await rawSocket(at, { path, headers: { Host } });
    const wrong = await rawSocket(at, { path, headers: { Host } });
    wrong.send(secretLine("wrong"));
    const eager = await rawSocket(at, { path, headers: { Host } });
    eager.send({ payload: '{"type":"user","message":{"role":"user","content":"Hi"}}\n' });
    for (const socket of [silent, wrong, eager]) {
      expect(await socket.closed).toBe(closeCodes.noSecret);
      expect(socket.heard.filter(({ opcode }) => opcode === 1)).toEqual([]);
    }
    expect(at.door.clients()).toBe(0);
    expect(at.model.requests).toEqual([]);
  });

  test("is no way around the address, the page, and the count of wrong secrets", async () => {
    const at = await openDoor();
    const Host = `127.0.0.1:${at.port}`;
    const status = async (headers: Record<string, string>) =>
      (await rawSocket(at, { path, headers })).answer.status;
    expect(await status({ Host: "evil.example" })).toBe(421);
    expect(await status({ Host, Origin: "https://evil.example" })).toBe(403);
    const wrong = Array.from({ length: 20 }, async (_, count) => {
      const socket = await rawSocket(at, { path, headers: { Host } });
      socket.send(secretLine(`wrong-${count}`));
      await socket.closed;
    });
    await Promise.all(wrong);
    const headers = { Host, ...bearer("wrong") };
    expect((await rawRequest(at, { ...asked, headers })).status).toBe(429);
  });
});
