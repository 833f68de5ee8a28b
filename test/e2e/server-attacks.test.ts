// What strangers, other pages and broken clients try against the built server: every row of the corpus, and floods.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { deflateRawSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { pairDevice } from "../../keel/src/client/connect.ts";
import { plainRoutes, socketRoutes } from "../../keel/src/hosts/server/routes.ts";
import { isDurable } from "../../keel/src/protocol/event/envelope.ts";
import { operations } from "../../keel/src/protocol/operation.ts";
import { openOperations } from "../../keel/src/protocol/pairing.ts";
import { watches } from "../../keel/src/protocol/workspace-operations.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { fillIn, type HttpRow, ourPath, type RowFills, readHttpRows } from "../corpus/http-rows.ts";
import { countOf } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { headOf, knock, type RawAnswer, rawRequest, readAnswer } from "../support/raw-http.ts";
import {
  frameHead,
  type HeardFrame,
  type RawFrame,
  type RawWebSocket,
  rawSocket,
} from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";
import { keel } from "./command.ts";
import { type DoorServer, startDoorServer } from "./door-stage.ts";

let server: DoorServer;
let fills: RowFills;
let slow: Promise<RawAnswer>;

beforeAll(async () => {
  server = await startDoorServer();
  const { port, secret, client, cwd } = server;
  // Takes ten seconds, beside everything else.
  slow = trickle(headOf({ method: "POST", path: "/api/sessions", headers: own() }));
  const options = { model: "claude-haiku-4-5" };
  const session = await client.open({ cwd, options });
  const other = await client.open({ cwd, options });
  spawnSync("git", ["init", "--quiet", cwd]);
  const workspace = await client.workspaces.createWorkspace({ cwd });
  const worker = async (kind: "diff" | "terminal") =>
    (await client.workspaces.createWorker({ workspace: workspace.id, worker: { kind } })).id;
  fills = {
    PORT: String(port),
    TOKEN: secret,
    TOKEN_PREFIX: secret.slice(0, 20),
    START_CODE: server.startCode,
    COOKIE: await cookie(),
    SID: session.id,
    OTHER_SID: other.id,
    PTY: await worker("terminal"),
    WORKER: await worker("diff"),
  };
});
afterAll(() => server.close());

const host = (): { Host: string } => ({ Host: `127.0.0.1:${server.port}` });
const own = () => ({ ...host(), Authorization: `Bearer ${server.secret}` });

/** What a browser has, once it was paired. */
async function cookie(): Promise<string> {
  const { pairing, code } = await server.client.devices.pair({ access: "work" });
  const post = (path: string, body: object) =>
    rawRequest(server, {
      method: "POST",
      path,
      headers: { ...host(), "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  const { claim } = JSON.parse((await post("/api/pair", { code, name: "A browser" })).body);
  await server.client.devices.answer(pairing, "allow");
  const { headers } = await post("/api/pair/secret", { claim, keep: "cookie" });
  return /^keel_session=[\w-]+/.exec(headers["set-cookie"] ?? "")?.[0] ?? "";
}

/** A byte now and then, as slowly as a server might put up with. */
async function trickle(text: string): Promise<RawAnswer> {
  const socket = knock(server);
  const answer = readAnswer(socket);
  let isOver = false;
  void answer.then(() => {
    isOver = true;
  });
  for (const sign of text) {
    if (isOver) break;
    socket.write(sign);
    await pause(250);
  }
  return answer;
}

/** All that a request could have changed. */
async function state(): Promise<unknown> {
  const sessions = await server.client.sessions();
  const events = await Promise.all(
    sessions.map(async ({ id }) => (await server.client.history({ session: id })).events.length),
  );
  const devices = (await server.client.devices.list()).map(({ id }) => id);
  const workspaces = (await server.client.workspaces.list()).map(({ id }) => id);
  return {
    sessions: sessions.map(({ id }) => id),
    events,
    devices,
    workspaces,
    asked: server.model.requests.length,
  };
}

const rows = readHttpRows();
const of = (transport: HttpRow["transport"]): HttpRow[] => rows.filter((row) => row.transport === transport);

test("the corpus of requests is here", () => {
  expect(of("http").length).toBeGreaterThanOrEqual(57);
  expect(of("ws").length).toBeGreaterThanOrEqual(19);
});

const isSlow = ({ delivery }: HttpRow): boolean => delivery === "slowloris";

describe("a request", () => {
  test.each(of("http").filter((row) => !isSlow(row)))("$id, $class: $why", expectRefused);
});

async function expectRefused(row: HttpRow): Promise<void> {
  verifies("G41");
  const before = await state();
  const grew = await growthMb(() => send(row));
  if (row.expect.sideEffect === false) expect(await state()).toEqual(before);
  if (row.maxRssGrowthMb !== undefined) expect(grew).toBeLessThan(row.maxRssGrowthMb);
  expect((await rawRequest(server, { path: "/api/status", headers: own() })).status).toBe(200);
}

async function growthMb(work: () => Promise<void>): Promise<number> {
  const before = server.rssMb();
  await work();
  return server.rssMb() - before;
}

async function send(row: HttpRow): Promise<void> {
  if (row.target !== undefined) return expectUnreachable();
  if (row.startArgs !== undefined) return expectNoStart(row.startArgs);
  if (isSlow(row)) return expectAnswer(row, await slow);
  if (row.expandRoutes) return expectNoOpenRoute(row);
  const body = bodyOf(row);
  const path = fillIn(ourPath(row), fills);
  // A raw path is the rule here: nothing normalises it.
  expectAnswer(row, await rawRequest(server, { method: row.method, path, headers: filled(row), body }));
}

function expectAnswer({ expect: wanted }: HttpRow, { status, headers }: RawAnswer): void {
  if (wanted.status) expect(wanted.status).toContain(status);
  for (const [name, value] of Object.entries(wanted.hasHeader ?? {}))
    expect(headers[name.toLowerCase()]).toContain(value);
  for (const name of wanted.noHeader ?? []) expect(headers[name.toLowerCase()]).toBeUndefined();
  if (wanted.cookie !== undefined) expect(headers["set-cookie"]).toContain(wanted.cookie);
  if (wanted.urlTokenRemoved) expect(headers["location"]).toBe("/");
}

const filled = ({ headers = {} }: HttpRow): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? fillIn(value, fills) : value.map((one) => fillIn(one, fills)),
    ]),
  );

function bodyOf({ body, gen }: HttpRow): string | Uint8Array | undefined {
  if (gen?.gzipBomb !== undefined) {
    // A gigabyte of zeros in a megabyte, in pieces: they may follow one another.
    const piece = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    return Buffer.concat(Array.from({ length: gen.gzipBomb / (64 * 1024 * 1024) }, () => piece));
  }
  if (gen?.repeat !== undefined)
    return (gen.wrap?.[0] ?? "") + gen.repeat.repeat(gen.count ?? 0) + (gen.wrap?.[1] ?? "");
  return body ?? undefined;
}

async function expectUnreachable(): Promise<void> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const other = addresses.find(({ internal, family }) => !internal && family === "IPv4");
  if (!other) return notRunHere("another address of this machine", "it has none");
  expect(
    (await rawRequest({ port: server.port, host: other.address }, { path: "/" })).status,
  ).toBeUndefined();
}

async function expectNoStart(args: readonly string[]): Promise<void> {
  const env = { ...server.env, KEEL_HOME: `${server.folder}/another` };
  const { code, stderr } = await keel(["serve", "--port", "0", ...args], { cwd: server.cwd, env });
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining("--tls-cert") });
}

/** Every route and socket of the tables, by every method that anything has. */
async function expectNoOpenRoute(row: HttpRow): Promise<void> {
  const tables = [operations, openOperations, plainRoutes, watches, socketRoutes];
  const paths = tables.flatMap((table) => Object.values(table).map(({ path }) => path));
  expect(paths.length).toBeGreaterThan(25);
  const open = new Set(Object.values(openOperations).map(({ method, path }) => `${method} ${path}`));
  for (const path of new Set([...paths, "/api/nowhere", "/ws/nowhere", "/nowhere"]))
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]) {
      if (open.has(`${method} ${path}`)) continue;
      const asked = path.replaceAll(/\{\w+\}/g, fills["SID"] ?? "");
      const { status } = await rawRequest(server, { method, path: asked, headers: filled(row) });
      expect({ method, path, status }).toEqual({ method, path, status: 401 });
    }
}

const hello: RawFrame = { payload: '{"type":"hello","version":1}' };
const says =
  (text: string) =>
  (frame: HeardFrame): boolean =>
    frame.opcode === 1 && frame.payload.includes(text);

describe("a socket", () => {
  test.each(of("ws"))("$id, $class: $why", async (row) => {
    verifies("G41");
    const before = await state();
    const bystander = await greeted();
    if (row.stopReading) return expectUnblocked(row);
    const grew = await growthMb(() => speak(row));
    if (row.expect.sideEffect === false) expect(await state()).toEqual(before);
    if (row.maxRssGrowthMb !== undefined) expect(grew).toBeLessThan(row.maxRssGrowthMb);
    // Who was there before is served as before.
    bystander.send({ payload: '{"type":"call","id":7,"operation":"status"}' });
    expect(await bystander.frame(says('"id":7'))).toBeDefined();
  });
});

// Behind what was done meanwhile, and before floods take its place.
describe("a request that comes byte by byte", () => {
  test.each(of("http").filter(isSlow))("$id, $class: $why", expectRefused);
});

async function greeted(headers: Record<string, string> = own()): Promise<RawWebSocket> {
  const socket = await rawSocket(server, { path: "/ws", headers });
  onTestFinished(() => void socket.socket.destroy());
  socket.send(hello);
  expect(await socket.frame(says('"hello"'))).toBeDefined();
  return socket;
}

async function speak(row: HttpRow): Promise<void> {
  const { expect: wanted, frames = [] } = row;
  const path = fillIn(ourPath(row), fills);
  const socket = await rawSocket(server, { path, headers: filled(row) as Record<string, string> });
  onTestFinished(() => void socket.socket.destroy());
  if (wanted.status) expect(wanted.status).toContain(socket.answer.status);
  if (wanted.upgraded === false) return expect(socket.answer.status).not.toBe(101);
  expect(socket.answer.status).toBe(101);
  socket.send(hello);
  expect(await socket.frame(says('"hello"'))).toBeDefined();
  for (const frame of frames) for (const raw of framesOf(frame, row)) socket.send(raw);
  if (wanted.close) return expect(wanted.close).toContain(await socket.closed);
  if (wanted.rateLimited) return expect(await socket.closed).toBe(1008);
  if (wanted.error !== undefined) await expectError(row, socket);
}

/** An agent prints 200 MB while one of two who follow it does not read. */
async function expectUnblocked({ maxRssGrowthMb = 0 }: HttpRow): Promise<void> {
  const print = (bytes: number) =>
    reply(toolUse("Bash", { command: `yes ${"x".repeat(99)} | head -c ${bytes}` }));
  const script = [print(1_000), reply("Warm."), print(200_000_000), reply("Printed.")];
  const printing = await startDoorServer({ script: (turn) => script[turn] ?? reply("Nothing is left.") });
  onTestFinished(() => printing.close());
  const options = { model: "claude-haiku-4-5", allowedTools: ["Bash"] };
  const handle = await printing.client.open({ cwd: printing.cwd, options });
  const seqs: number[] = [];
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, printing.rssMb());
  }, 20);
  onTestFinished(() => clearInterval(look));
  const turn = async (): Promise<void> => {
    await handle.submit({ type: "input", content: [{ type: "text", text: "Print" }] });
    for await (const event of handle.events(seqs.at(-1) ?? 0)) {
      if (isDurable(event) && !event.origin) seqs.push(event.seq);
      if (event.type === "turn.finished") return;
    }
  };
  await turn();
  const deaf = await rawSocket(printing, {
    path: "/ws",
    headers: { Host: `127.0.0.1:${printing.port}`, Authorization: `Bearer ${printing.secret}` },
  });
  onTestFinished(() => void deaf.socket.destroy());
  const follow = (after: number) => ({
    payload: JSON.stringify({ type: "follow", id: 1, session: handle.id, after }),
  });
  deaf.send(hello, follow(0));
  await deaf.frame(says('"turn.finished"'));
  deaf.socket.pause();
  const before = printing.rssMb();
  most = before;
  await turn();
  // The agent went on to its end, and the other one heard every event once.
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(most - before).toBeLessThan(maxRssGrowthMb);
  // It reads again, and has everything that lasts, once; or it was cut off, and goes on from its last event.
  const last = seqs.length;
  deaf.socket.resume();
  const read = (frame: HeardFrame): number => JSON.parse(String(frame.payload)).event?.seq ?? 0;
  const told = (frames: readonly HeardFrame[]) => frames.filter(says('"seq"')).map(read);
  await deaf.frame((frame) => says('"seq"')(frame) && read(frame) === last);
  const heard = told(deaf.heard);
  expect(heard).toEqual(heard.map((_, index) => index + 1));
  expect(heard).toHaveLength(last);
}

/** What the corpus calls an error is a frame that says so, and that nothing was done. */
async function expectError({ class: kind, expect: wanted }: HttpRow, socket: RawWebSocket): Promise<void> {
  const told = await socket.frame((frame) => says('"error"')(frame) || says('"id":1')(frame));
  const said = JSON.parse(String(told?.payload ?? "{}"));
  if (wanted.error === "bad_json") expect(said).toMatchObject({ type: "error", code: "bad_json" });
  // An answer to what was not asked comes too late, and runs nothing.
  else if (kind === "ws-approve") expect(said).toMatchObject({ type: "done", answer: { type: "late" } });
  else expect(said.type === "error" || said.type === "failed").toBe(true);
  socket.send({ payload: '{"type":"ping","at":5}' });
  expect(await socket.frame(says('"pong"'))).toBeDefined();
}

function framesOf(
  { text, binaryB64, rawTextB64, gen }: NonNullable<HttpRow["frames"]>[number],
  row: HttpRow,
): RawFrame[] {
  if (binaryB64 !== undefined) return [{ opcode: 2, payload: Buffer.from(binaryB64, "base64") }];
  if (rawTextB64 !== undefined) return [{ payload: Buffer.from(rawTextB64, "base64") }];
  if (gen?.frames !== undefined)
    return Array.from({ length: gen.frames }, () => ({ payload: '{"type":"ping","at":1}' }));
  if (gen?.repeat !== undefined) return [{ payload: gen.repeat.repeat(gen.count ?? 0) }];
  if (row.class === "ws-approve") {
    const command = { type: "answer", askId: "guess", answer: { verdict: "allow" } };
    const question = { session: fills["SID"], command };
    return [{ payload: JSON.stringify({ type: "call", id: 1, operation: "submit", question }) }];
  }
  if (text?.includes('"resize"')) {
    const question = { worker: fills["PTY"], columns: -1, rows: 1e9 };
    return [{ payload: JSON.stringify({ type: "call", id: 1, operation: "resizeTerminal", question }) }];
  }
  return [{ payload: fillIn(text ?? "", fills) }];
}

describe("a flood", () => {
  test("of connections that say nothing is bounded, and who has the secret gets in all the while", async () => {
    verifies("G41");
    const count = countOf("server-attacks");
    const before = server.rssMb();
    const bystander = await greeted();
    const silent = new Set<ReturnType<typeof knock>>();
    onTestFinished(() => {
      for (const socket of silent) socket.destroy();
    });
    let most = 0;
    for (let made = 0; made < count; made += 100) {
      const opened = Array.from({ length: Math.min(100, count - made) }, () => knock(server));
      await Promise.all(
        opened.map(
          (socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve)),
        ),
      );
      for (const socket of opened) silent.add(socket);
      most = Math.max(most, readdirSync(`/proc/${server.pid}/fd`).length);
      expect((await rawRequest(server, { path: "/api/status", headers: own() })).status).toBe(200);
    }
    // What is not let in yet has 256 places; the rest is the server's own.
    expect(most).toBeLessThan(256 + 200);
    expect(server.rssMb() - before).toBeLessThan(64);
    const late = await greeted();
    for (const [index, socket] of [bystander, late].entries()) {
      socket.send({ payload: `{"type":"call","id":${index},"operation":"status"}` });
      expect(await socket.frame(says(`"id":${index}`))).toBeDefined();
    }
  });

  test("of upgrades without a secret opens nothing", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const offered = index % 2 === 0 ? {} : { "Sec-WebSocket-Protocol": `keel.v1, keel.wrong-${index}` };
        return (await rawSocket(server, { path: "/ws", headers: { ...host(), ...offered } })).answer.status;
      }),
    );
    expect(answers.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect(answers.slice(0, 1)).toEqual([401]);
  });

  test("of sockets of one device leaves room for the others", async () => {
    const { secret } = await lookOnly();
    const headers = { ...host(), Authorization: `Bearer ${secret}` };
    const sockets = await Promise.all(
      Array.from({ length: 60 }, () => rawSocket(server, { path: "/ws", headers })),
    );
    onTestFinished(() => {
      for (const { socket } of sockets) socket.destroy();
    });
    const statuses = sockets.map(({ answer }) => answer.status);
    expect(statuses.filter((status) => status === 101)).toHaveLength(50);
    expect(statuses.filter((status) => status === 503)).toHaveLength(10);
    await greeted();
  });

  test("of pieces of one message is cut, however small they are", async () => {
    const socket = await greeted();
    const before = server.rssMb();
    socket.send({ payload: "{", isLast: false });
    for (let sent = 0; sent < 20_000 && !socket.socket.destroyed; sent += 1_000) {
      socket.send(...Array.from({ length: 1_000 }, () => ({ opcode: 0, payload: "", isLast: false })));
      await pause(0);
    }
    expect(await socket.closed).toBe(1008);
    expect(server.rssMb() - before).toBeLessThan(64);
  });
});

describe("a frame", () => {
  test("that says it is too large is refused before it has come", async () => {
    const socket = await greeted();
    socket.socket.write(frameHead({ length: 17 * 1024 * 1024 }));
    expect(await socket.closed).toBe(1009);
  });

  test("of who may only look is small", async () => {
    const { device, secret } = await lookOnly();
    const socket = await greeted({ ...host(), Authorization: `Bearer ${secret}` });
    socket.send({ payload: "x".repeat(257 * 1024) });
    expect(await socket.closed).toBe(1009);
    await server.client.devices.remove(device);
  });

  test("that is compressed is no frame: what is small on the way is not large here", async () => {
    const headers = { ...own(), "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits" };
    const socket = await rawSocket(server, { path: "/ws", headers });
    expect(socket.answer.headers["sec-websocket-extensions"]).toBeUndefined();
    const compressed = 0x40;
    socket.send({ payload: deflateRawSync(Buffer.alloc(1024 * 1024)), reserved: compressed });
    expect(await socket.closed).toBe(1002);
  });

  test("that is not masked is none", async () => {
    const socket = await greeted();
    socket.socket.write(Buffer.from([0x81, 2, 0x7b, 0x7d]));
    expect(await socket.closed).toBe(1002);
  });
});

async function lookOnly(): Promise<{ device: string; secret: string }> {
  const { pairing, code, url = "" } = await server.client.devices.pair({ access: "watch" });
  const paired = pairDevice({ url, code, name: "A phone", keep: "bearer", onDigits: () => undefined });
  await server.client.devices.pairing(pairing, "open");
  await server.client.devices.answer(pairing, "allow");
  const { device, secret = "" } = await paired;
  return { device, secret };
}

test("no secret stands in a file of the home but its own, nor in what the server printed", async () => {
  verifies("G44");
  const { secret } = await lookOnly();
  const known = [server.secret, secret, (fills["COOKIE"] ?? "").replace("keel_session=", "")];
  const files = readdirSync(server.home, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  expect(files.length).toBeGreaterThan(3);
  const holding = files.flatMap((entry) => {
    const file = path.join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8");
    return known.some((one) => text.includes(one)) ? [path.relative(server.home, file)] : [];
  });
  expect(holding).toEqual(["server/secret"]);
  for (const one of known) expect(server.said()).not.toContain(one);
});
