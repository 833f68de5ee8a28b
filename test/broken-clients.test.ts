// Clients that are slow, gone or deaf, with the bounds of a door made small: what they cost, and that others pay nothing.
import { describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../keel/src/client/connect.ts";
import { doorLimits } from "../keel/src/hosts/server/limits.ts";
import { isDurable } from "../keel/src/protocol/event/envelope.ts";
import { pingMs } from "../keel/src/protocol/wire.ts";
import { reply } from "../keel/src/testing/reply.ts";
import { type DoorStage, openDoor } from "./doors/stage.ts";
import { headOf, knock, rawRequest, readAnswer } from "./support/raw-http.ts";
import { type RawWebSocket, rawSocket } from "./support/raw-socket.ts";
import { verifies } from "./support/verifies.ts";

const headers = ({ port, secret }: DoorStage) => ({
  Host: `127.0.0.1:${port}`,
  Authorization: `Bearer ${secret}`,
});

async function greeted(at: DoorStage): Promise<RawWebSocket> {
  const socket = await rawSocket(at, { path: "/ws", headers: headers(at) });
  onTestFinished(() => void socket.socket.destroy());
  socket.send({ payload: '{"type":"hello","version":1}' });
  await socket.frame(({ payload }) => payload.includes("hello"));
  return socket;
}

test("a silent death is found within ten seconds", () => {
  expect(doorLimits.pingMs).toBe(pingMs);
  expect(doorLimits.pingMs * doorLimits.maxMissed).toBeLessThanOrEqual(10_000);
});

describe("a client that is gone without a word", () => {
  test("is found by pings, and one that answers them stays", async () => {
    const at = await openDoor({}, { limits: { pingMs: 200 } });
    const gone = await greeted(at);
    const there = await rawSocket(at, { path: "/ws", headers: headers(at) });
    onTestFinished(() => void there.socket.destroy());
    there.socket.on("data", () => there.send({ opcode: 10 }));
    expect(at.door.clients()).toBe(2);
    // It never answers a ping: as good as dead, whatever the system says of the connection.
    expect(await gone.closed).toBeUndefined();
    expect(gone.heard.filter(({ opcode }) => opcode === 9).length).toBeGreaterThan(0);
    await expect.poll(() => at.door.clients()).toBe(1);
    expect(there.socket.closed).toBe(false);
  });

  test("finds out by itself when the server is: its own pings are answered", async () => {
    const at = await openDoor();
    const socket = await greeted(at);
    socket.send({ payload: '{"type":"ping","at":4}' });
    expect(await socket.frame(({ payload }) => payload.includes('{"type":"pong","at":4}'))).toBeDefined();
  });
});

test("a call whose question is none fails under its number, and the next one is answered", async () => {
  const at = await openDoor();
  const client = connect({ url: at.url, secret: at.secret });
  onTestFinished(() => client.close());
  const wrong: unknown = "an id alone";
  await expect(client.history(wrong as Parameters<typeof client.history>[0])).rejects.toMatchObject({
    code: "usage",
  });
  expect(await client.sessions()).toEqual(expect.anything());
  expect(client.link.state).toBe("connected");
});

describe("a client that is slow to speak", () => {
  const limits = { headMs: 200, requestMs: 400, lookMs: 20 };

  test("is not waited for in its head", async () => {
    const at = await openDoor({}, { limits });
    const socket = knock(at);
    socket.write("GET /api/sessions HTTP/1.1\r\nHost: ");
    expect((await readAnswer(socket)).status).toBe(408);
  });

  test("is not waited for in its body, secret or not", async () => {
    const at = await openDoor({}, { limits });
    const socket = knock(at);
    const typed = { ...headers(at), "Content-Type": "application/json", "Content-Length": "1000" };
    socket.write(headOf({ method: "POST", path: "/api/sessions", headers: typed }));
    socket.write('{"cwd":');
    expect([408, undefined]).toContain((await readAnswer(socket)).status);
    expect(socket.destroyed).toBe(true);
  });

  test("in words that nobody wants is told so at once, and dropped", async () => {
    const at = await openDoor({}, { limits });
    const socket = knock(at);
    const head = {
      Host: `127.0.0.1:${at.port}`,
      "Content-Type": "application/json",
      "Content-Length": "1000",
    };
    socket.write(headOf({ method: "POST", path: "/api/sessions", headers: head }));
    expect((await readAnswer(socket)).status).toBe(401);
  });
});

test("those who say nothing make room for one another, and never for whoever was let in", async () => {
  const at = await openDoor({}, { limits: { strangers: 5 } });
  const inside = await greeted(at);
  const silent = Array.from({ length: 20 }, () => knock(at));
  onTestFinished(() => {
    for (const socket of silent) socket.destroy();
  });
  await expect.poll(() => silent.filter(({ destroyed }) => destroyed).length).toBe(15);
  expect(silent.slice(-5).some(({ destroyed }) => destroyed)).toBe(false);
  expect((await rawRequest(at, { path: "/api/status", headers: headers(at) })).status).toBe(200);
  inside.send({ payload: '{"type":"call","id":1,"operation":"status"}' });
  expect(await inside.frame(({ payload }) => payload.includes('"id":1'))).toBeDefined();
});

describe("a client that does not read", () => {
  /** A session with events of a megabyte each, and somebody who reads them. */
  async function stage() {
    const limits = { waitingBytes: 256 * 1024, drainMs: 300 };
    const at = await openDoor({}, { limits, script: { replies: [], otherwise: reply("Yes.") } });
    const reader = connect({ url: at.url, secret: at.secret });
    onTestFinished(() => reader.close());
    const handle = await reader.open({ cwd: at.cwd, options: { model: "claude-haiku-4-5" } });
    const said = "All work and no play makes a dull page. ".repeat(25_000);
    const submit = () => handle.submit({ type: "input", content: [{ type: "text", text: said }] });
    for (let count = 0; count < 6; count += 1) await submit();
    return { at, handle, submit };
  }
  const follow = (id: number, session: string, after = 0) => ({
    payload: JSON.stringify({ type: "follow", id, session, after }),
  });

  test("is cut off with a reason, and comes back by its cursor; others hear every event once", async () => {
    verifies("G43");
    const { at, handle, submit } = await stage();
    const deaf = await greeted(at);
    deaf.socket.pause();
    deaf.send(...Array.from({ length: 100 }, (_, id) => follow(id, handle.id)));
    await expect.poll(() => at.door.clients(), { timeout: 20_000 }).toBe(1);

    await submit();
    const heard: number[] = [];
    let inputs = 0;
    for await (const event of handle.events()) {
      if (isDurable(event) && !event.origin) heard.push(event.seq);
      if (event.type === "input.accepted") inputs += 1;
      if (inputs === 7 && event.type === "turn.finished") break;
    }
    const last = heard.length;
    expect(heard).toEqual(Array.from({ length: last }, (_, index) => index + 1));

    const back = await greeted(at);
    back.send(follow(1, handle.id, last - 1));
    const next = await back.frame(({ payload }) => payload.includes('"seq"'));
    expect(JSON.parse(String(next?.payload)).event.seq).toBe(last);
  });

  test("is not written for beyond a bound, however much it asks for", async () => {
    const { at, handle } = await stage();
    const deaf = await greeted(at);
    deaf.socket.pause();
    deaf.send(...Array.from({ length: 100 }, (_, id) => follow(id, handle.id)));
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, ...at.sockets.map(({ writableLength }) => writableLength));
    }, 5);
    await expect.poll(() => at.door.clients(), { timeout: 20_000 }).toBe(1);
    clearInterval(look);
    // Up to the bound, then one event that must arrive; it asked for a hundred at once.
    expect(most).toBeGreaterThan(256 * 1024);
    expect(most).toBeLessThan(3 * 1024 * 1024);
  });
});
