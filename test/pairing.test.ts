// A device that has no secret gets one, and loses it: over a server's door, with the client that programs use.
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, pairDevice } from "../keel/src/client/connect.ts";
import type { PairOptions } from "../keel/src/client/pair-device.ts";
import { type Access, accessLevels, mayDo, operations } from "../keel/src/protocol/operation.ts";
import { openDoor } from "./doors/stage.ts";
import { rawRequest } from "./support/raw-http.ts";
import { rawSocket } from "./support/raw-socket.ts";
import { verifies } from "./support/verifies.ts";

/** A server, a client of somebody who may do everything, and another device. */
async function stage() {
  const at = await openDoor();
  const own = connect({ url: at.url, secret: at.secret });
  onTestFinished(() => own.close());
  const pair = (more: Partial<PairOptions> & { code: string }) =>
    pairDevice({ url: at.url, name: "A phone", keep: "bearer", onDigits: () => undefined, ...more });
  return { ...at, own, pair };
}

describe("a device without a secret", () => {
  test("gets one for a code, after the person has seen the same digits", async () => {
    verifies("P26");
    const { url, own, pair } = await stage();
    const begun = await own.devices.pair({ access: "work" });
    const shown: string[] = [];
    const paired = pair({ code: begun.code, onDigits: (digits) => shown.push(digits) });
    const claimed = await own.devices.pairing(begun.pairing, "open");
    expect(claimed).toMatchObject({ state: "claimed", name: "A phone", digits: shown[0] });
    await own.devices.answer(begun.pairing, "allow");
    const { secret, access } = await paired;
    expect(access).toBe("work");
    const phone = connect({ url, secret });
    onTestFinished(() => phone.close());
    expect(await phone.sessions()).toEqual([]);
    expect(await own.devices.list()).toContainEqual(
      expect.objectContaining({ name: "A phone", access: "work", connected: 1 }),
    );
  });

  test("in a browser leaves its secret to a cookie", async () => {
    const { own, port } = await stage();
    const { pairing, code } = await own.devices.pair();
    const headers = {
      Host: `127.0.0.1:${port}`,
      Origin: `http://127.0.0.1:${port}`,
      "Content-Type": "application/json",
    };
    const post = (path: string, body: object) =>
      rawRequest({ port }, { method: "POST", path, headers, body: JSON.stringify(body) });
    const { claim } = JSON.parse((await post("/api/pair", { code, name: "A browser" })).body);
    await own.devices.answer(pairing, "allow");
    const { status, headers: told, body } = await post("/api/pair/secret", { claim, keep: "cookie" });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      state: "paired",
      device: expect.any(String),
      name: "A browser",
      access: "answer",
    });
    const cookie = /^(keel_session=[\w-]{43}); HttpOnly; SameSite=Strict; Path=\//.exec(
      told["set-cookie"] ?? "",
    );
    const asked = { path: "/api/sessions", headers: { ...headers, Cookie: cookie?.[1] ?? "" } };
    expect((await rawRequest({ port }, asked)).status).toBe(200);
  });

  test("gets none when the person says no, and none for a wrong code", async () => {
    const { own, pair, devices } = await stage();
    const before = devices.list().length;
    const { pairing, code } = await own.devices.pair();
    const paired = pair({ code });
    await own.devices.pairing(pairing, "open");
    await own.devices.answer(pairing, "deny");
    await expect(paired).rejects.toMatchObject({ code: "code_refused" });
    await expect(pair({ code: "22222222" })).rejects.toMatchObject({ code: "code_refused" });
    expect(devices.list()).toHaveLength(before);
  });

  test("is heard only by this way, from the pages of this server, and in few words", async () => {
    const { port } = await stage();
    const headers = { Host: `127.0.0.1:${port}`, "Content-Type": "application/json" };
    const status = async (path: string, more: Partial<Parameters<typeof rawRequest>[1]> = {}) =>
      (await rawRequest({ port }, { method: "POST", path, body: "{}", headers, ...more })).status;
    const elsewhere = { ...headers, Origin: "https://evil.example" };
    expect(await status("/api/pair", { headers: elsewhere })).toBe(403);
    expect(await status("/api/pair", { headers: { ...headers, Host: "evil.example" } })).toBe(421);
    expect(await status("/api/pair", { headers: { ...headers, "Content-Type": "text/plain" } })).toBe(415);
    expect(await status("/api/pair")).toBe(400);
    expect(await status("/api/pair", { body: JSON.stringify({ code: "x".repeat(5_000), name: "" }) })).toBe(
      413,
    );
    for (const path of ["/api/pair", "/api/pair/secret", "/api/pairings", "/api/devices"])
      expect(await status(path, { method: "GET", body: undefined })).toBe(401);
    expect(await status("/api/pairings")).toBe(401);
  });
});

describe("a device that is removed", () => {
  test("is cut off at once, with a reason, and is not heard any more", async () => {
    const { port, own, devices, cwd } = await stage();
    const { device, secret } = await devices.add("A phone", "work");
    const headers = { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${secret}` };
    const socket = await rawSocket({ port }, { path: "/ws", headers });
    socket.send({ payload: '{"type":"hello","version":1}' });
    await socket.frame(({ payload }) => payload.includes("hello"));
    const handle = await own.open({ cwd, options: { model: "claude-haiku-4-5" } });
    const path = `/api/sessions/${handle.id}/events`;
    const stream = rawRequest({ port }, { path, headers });
    await expect
      .poll(() => own.devices.list())
      .toContainEqual(expect.objectContaining({ id: device.id, connected: 2 }));

    await own.devices.remove(device.id);
    // What it says between the goodbye and the end counts for nothing.
    const call = { type: "call", id: 1, operation: "delete", question: { session: handle.id } };
    socket.send({ payload: JSON.stringify(call) });
    expect(await socket.closed).toBe(4401);
    expect((await stream).body).not.toContain("event: ended");
    expect(await own.sessions()).toHaveLength(1);
    expect((await rawRequest({ port }, { path: "/api/sessions", headers })).status).toBe(401);
    await expect(own.devices.remove(device.id)).rejects.toMatchObject({ code: "device_unknown" });
  });

  test("is never the person's own", async () => {
    const { own } = await stage();
    await expect(own.devices.remove("own")).rejects.toMatchObject({ code: "device_unknown" });
  });
});

describe.each(accessLevels)("a device that may %s", (access: Access) => {
  test("does so by every route and every frame, and nothing more", async () => {
    const { port, devices } = await stage();
    const { secret } = await devices.add("A device", access);
    const headers = { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${secret}` };
    const socket = await rawSocket({ port }, { path: "/ws", headers });
    socket.send({ payload: '{"type":"hello","version":1}' });
    const refused = { byRoute: [] as string[], byFrame: [] as string[] };
    for (const [index, [name, row]] of Object.entries(operations).entries()) {
      // Of nothing that there is: who may ask is told so, and who may not is told that.
      const path = row.path.replaceAll(/\{\w+\}/g, "none");
      const typed = { ...headers, "Content-Type": "application/json" };
      const body = row.method === "GET" ? undefined : "{}";
      const { body: told } = await rawRequest({ port }, { method: row.method, path, headers: typed, body });
      if (told.includes("access_refused")) refused.byRoute.push(name);
      socket.send({ payload: JSON.stringify({ type: "call", id: index, operation: name, question: {} }) });
      const answer = await socket.frame(({ payload }) => payload.includes(`"id":${index},`));
      if (answer?.payload.includes("access_refused")) refused.byFrame.push(name);
    }
    const expected = Object.entries(operations).flatMap(([name, row]) =>
      mayDo(access, row.access) ? [] : [name],
    );
    expect(refused).toEqual({ byRoute: expected, byFrame: expected });
  });
});

test("an answer may be given with less than a command", async () => {
  const { port, devices, own, cwd } = await stage();
  const handle = await own.open({ cwd, options: { model: "claude-haiku-4-5" } });
  const { secret } = await devices.add("A phone", "answer");
  const headers = {
    Host: `127.0.0.1:${port}`,
    Authorization: `Bearer ${secret}`,
    "Content-Type": "application/json",
  };
  const path = `/api/sessions/${handle.id}/commands`;
  const submit = async (command: object) => {
    const body = JSON.stringify({ command });
    return (await rawRequest({ port }, { method: "POST", path, headers, body })).status;
  };
  const answer = {
    type: "answer",
    askId: "0198c0de-0000-7000-8000-000000000001",
    answer: { verdict: "deny" },
  };
  expect(await submit(answer)).toBe(200);
  for (const command of [{ type: "interrupt" }, { type: "close" }, { type: "input", content: [] }])
    expect(await submit(command)).toBe(403);
});

test("who may only watch changes nothing by the lines of the official SDK either", async () => {
  const { port, devices, own, cwd, model } = await stage();
  const handle = await own.open({ cwd, options: { model: "claude-haiku-4-5" } });
  const { secret } = await devices.add("A phone", "watch");
  const headers = { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${secret}` };
  const socket = await rawSocket({ port }, { path: `/ws/sdk/${handle.id}`, headers });
  onTestFinished(() => void socket.socket.destroy());
  const request = (id: string, asked: object) => ({
    payload: `${JSON.stringify({ type: "control_request", request_id: id, request: asked })}\n`,
  });
  socket.send(request("init", { subtype: "initialize" }));
  expect(await socket.frame(({ payload }) => payload.includes('"init"'))).toBeDefined();
  const before = (await own.history({ session: handle.id })).events.length;
  const changes = [
    { subtype: "set_permission_mode", mode: "acceptEdits" },
    { subtype: "set_model", model: "claude-opus-4-5" },
    { subtype: "interrupt" },
  ];
  for (const [index, change] of changes.entries()) socket.send(request(`c${index}`, change));
  const words = { type: "user", message: { role: "user", content: "Hi" }, parent_tool_use_id: null };
  socket.send({ payload: `${JSON.stringify(words)}\n` });
  for (const [index] of changes.entries()) {
    const told = await socket.frame(({ payload }) => payload.includes(`"c${index}"`));
    expect(String(told?.payload)).toContain('"error"');
  }
  socket.send(request("last", { subtype: "initialize" }));
  await socket.frame(({ payload }) => payload.includes('"last"'));
  expect((await own.history({ session: handle.id })).events).toHaveLength(before);
  expect(model.requests).toEqual([]);
});
