// Real connections over a proxy that cuts them, and a server that starts anew in between: afterwards every client has
// what the log has, once and in order, over WebSocket and over server-sent events.
import { Agent, get, type IncomingMessage } from "node:http";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHome } from "../keel/src/app/home.ts";
import { clientOver, type KeelClient, webPorts, webSocketWire } from "../keel/src/client/connect.ts";
import { httpLink } from "../keel/src/client/http-link.ts";
import type { LinkStatus, LinkTimers } from "../keel/src/client/link.ts";
import { wireLink } from "../keel/src/client/wire-link.ts";
import { Doorkeeper } from "../keel/src/hosts/server/admission.ts";
import { Devices } from "../keel/src/hosts/server/devices.ts";
import { deviceHandlers, Pairings } from "../keel/src/hosts/server/pairings.ts";
import { openWebDoor } from "../keel/src/hosts/server/web-door.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import type { AnswerTo } from "../keel/src/protocol/operation.ts";
import { reply } from "../keel/src/testing/reply.ts";
import { type CuttingProxy, cuttingProxy } from "./handle/cutting-proxy.ts";
import { asksNowAndThen, runHands } from "./handle/several-hands.ts";
import { type Stage, serve, stage } from "./handle/stage.ts";
import { randomOf } from "./store/random.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

/** Silence is found sooner, so that a test need not wait for it: both sides count this much faster. */
const hurry = 20;
const quickTimers: LinkTimers = {
  every(ms, tick) {
    const timer = setInterval(tick, ms / hurry);
    return () => clearInterval(timer);
  },
  now: () => performance.now() * hurry,
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const person = { access: "work" as const, name: "a test" };

type Vias = "websocket" | "sse";

/** A server that can be ended in order and started anew over the same home, behind the proxy. */
async function servedBehind(at: Stage, proxy: CuttingProxy) {
  const devices = await Devices.open(path.join(at.home.path, "server"), () => Date.now());
  const { secret } = await devices.add("a test", "work");
  let boots = 0;
  let running: { end(): Promise<void>; served: ReturnType<typeof serve> } | undefined;
  const start = async (home = at.home): Promise<void> => {
    const boot = `b${++boots}`;
    const pairings = new Pairings({
      add: (name, access) => devices.add(name, access),
      now: () => Date.now(),
    });
    const known = { devices, pairings, connected: () => 0, url: () => undefined };
    const served = serve({ ...at, home }, { boot, devices: deviceHandlers(known) });
    const hosts = new Set([`127.0.0.1:${proxy.port}`]);
    const door = openWebDoor({
      served,
      hello: { keel: "0", boot },
      devices,
      pairings,
      keeper: new Doorkeeper({
        devices,
        names: () => ({ hosts, origins: new Set() }),
        now: () => Date.now(),
      }),
      limits: { pingMs: 3_000 / hurry },
    });
    await new Promise<void>((resolve) => door.server.listen(0, "127.0.0.1", resolve));
    const address = door.server.address();
    proxy.target = address !== null && typeof address === "object" ? address.port : undefined;
    running = {
      served,
      async end() {
        proxy.target = undefined;
        await served.close();
        door.close();
      },
    };
  };
  await start();
  onTestFinished(() => running?.end());
  const begin = async (): Promise<void> => {
    const home = openHome({ cwd: at.cwd, env: at.env });
    onTestFinished(() => home.close());
    await start(home);
  };
  return {
    secret,
    served: () => {
      if (!running) throw new Error("it does not run");
      return running.served;
    },
    end: async () => running?.end(),
    begin,
    async restart() {
      await running?.end();
      await pause(20);
      await begin();
    },
  };
}

function clientBehind(proxy: CuttingProxy, secret: string, via: Vias): KeelClient {
  const url = `http://127.0.0.1:${proxy.port}`;
  const link =
    via === "sse"
      ? httpLink({ url, secret, fetch: (input, init) => fetch(input, init), timers: quickTimers })
      : wireLink({ open: (signal) => webSocketWire(url, secret, signal), timers: quickTimers });
  // Tries are not hurried: a server that ends takes the time that it takes, and a command waits for it so many tries.
  const client = clientOver(link, webPorts());
  onTestFinished(() => client.close());
  return client;
}

const isLost = ({ state }: LinkStatus): boolean => state === "lost";
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 4_000; tries++) {
    if (holds()) return;
    await pause(5);
  }
  throw new Error(`waited in vain: ${what}`);
}

describe.each(["websocket", "sse"] as const)("over %s", (via) => {
  test("connections cut at seeded places and a server that starts anew cost nobody an event", async () => {
    verifies("G43", "S3.7");
    const places = Math.ceil(countOf("server-cuts") / 2);
    const made = { reset: 0, goodbye: 0, silence: 0 };
    for (let done = 0, number = seed(); done < places; number++) {
      const random = randomOf(number);
      const at = await stage(asksNowAndThen);
      const proxy = await cuttingProxy(random);
      const server = await servedBehind(at, proxy);
      const open = { cwd: at.cwd, options: { model: "claude-haiku-4-5" } };
      const { session } = (await server.served().call("open", open, person)) as AnswerTo<"open">;
      const clients = [0, 1, 2].map(() => clientBehind(proxy, server.secret, via));
      proxy.cuts = 6;
      const restarting = pause(random.below(400)).then(() => server.restart());
      await runHands({
        random,
        session,
        clients,
        log: async () => {
          await restarting;
          return Array.fromAsync(at.home.sessions.read(session)) as Promise<Durable[]>;
        },
        isWorking: async () => {
          await restarting;
          const stands = await server.served().call("session", { session }, person);
          return (stands as AnswerTo<"session">).working;
        },
        pause: () => pause(random.below(10)),
        rest: () => pause(5),
        uuid: () => crypto.randomUUID(),
        restarts: 1,
      }).catch((thrown: unknown) => {
        throw new Error(
          `seed ${number}: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}`,
        );
      });
      for (const client of clients) client.close();
      for (const kind of ["reset", "goodbye", "silence"] as const) made[kind] += proxy.made[kind];
      // With the start anew.
      done += 1 + proxy.made.reset + proxy.made.goodbye + proxy.made.silence;
    }
    expect(made.reset + made.goodbye + made.silence).toBeGreaterThan(0);
  }, 3_600_000);

  test("a loss is seen at once, a silent one soon, and what is sent meanwhile arrives once", async () => {
    verifies("G43");
    const at = await stage({ replies: [reply("One."), reply("Two."), reply("Three.")] });
    const proxy = await cuttingProxy(randomOf(1));
    const server = await servedBehind(at, proxy);
    const client = clientBehind(proxy, server.secret, via);
    const seen: LinkStatus[] = [];
    client.onLink((status) => seen.push(status));
    const handle = await client.open({ cwd: at.cwd, options: { model: "claude-haiku-4-5" } });
    const stop = new AbortController();
    const heard: string[] = [];
    const following = (async () => {
      for (;;) {
        for await (const event of handle.events(heard.length, stop.signal))
          if ("seq" in event) heard.push(event.type);
        if (stop.signal.aborted) return;
        await pause(5);
      }
    })();
    await until("connected", () => client.link.state === "connected" && heard.length > 0);

    await server.end();
    await until("the loss", () => seen.some(isLost));
    const content = [{ type: "text" as const, text: "said while nobody heard it" }];
    // Nobody is there again until later: the input is held and sent then.
    const receipt = handle.submit({ type: "input", content });
    await pause(100);
    await server.begin();
    expect(await receipt).toMatchObject({ type: "accepted" });
    await until("the end of its turn", () => heard.filter((type) => type === "turn.finished").length === 1);
    expect(heard.filter((type) => type === "input.accepted")).toHaveLength(1);
    // A machine that is busy may take a pause of its own for silence, since time runs quicker here: it comes back.
    await until("connected again", () => client.link.state === "connected");
    stop.abort();
    await following;
  });
});

test("a connection that is kept alive is let go by a server that ends, so that its client finds the next one", async () => {
  verifies("G43");
  const at = await stage({ replies: [] });
  const proxy = await cuttingProxy(randomOf(1));
  const server = await servedBehind(at, proxy);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = async (): Promise<unknown> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get(
        `http://127.0.0.1:${proxy.port}/api/status`,
        { agent, headers: { authorization: `Bearer ${server.secret}` } },
        resolve,
      ).on("error", reject),
    );
    for await (const _ of answer);
    return [answer.statusCode, answer.headers.connection];
  };
  expect(await ask()).toEqual([200, "keep-alive"]);
  await server.served().close();
  expect(await ask()).toEqual([503, "close"]);
  await server.restart();
  expect(await ask()).toEqual([200, "keep-alive"]);
});
