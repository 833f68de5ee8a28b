import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { Clock } from "../ports/clock.ts";
import { defaultMcpLimits } from "./limits.ts";
import { Link, type LinkOptions } from "./link.ts";
import { LinkPool } from "./pool.ts";

/** A server in memory: it answers what a good one answers, and can be pulled away. */
class Server implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  closed = false;
  readonly stderr = null;
  readonly pid = null;
  readonly tools: string[];
  readonly #atUnknown: "answers" | "ends";

  constructor(tools: string[], atUnknown: "answers" | "ends" = "answers") {
    this.tools = tools;
    this.#atUnknown = atUnknown;
  }

  async start(): Promise<void> {
    // There at once.
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message) || !("id" in message)) return;
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "memory", version: "1" },
      },
      "tools/list": { tools: this.tools.map((name) => ({ name, inputSchema: { type: "object" } })) },
      "tools/call": { content: [{ type: "text", text: "went" }] },
    };
    const result = results[message.method];
    if (!result && this.#atUnknown === "ends") return this.close();
    const answer = result ? { result } : { error: { code: -32_601, message: "no such method" } };
    queueMicrotask(() => this.onmessage?.({ jsonrpc: "2.0", id: message.id, ...answer } as JSONRPCMessage));
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }
}

/** Sleeps take no time and are written down. */
function quickClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  let now = 0;
  return {
    slept,
    now: () => now,
    monotonicMs: () => now,
    async sleep(ms) {
      slept.push(ms);
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function linkTo(open: (attempt: number) => Server | Error) {
  const clock = quickClock();
  const servers: Server[] = [];
  let attempts = 0;
  const options: LinkOptions = {
    ...{ name: "memory", version: "0", revision: "legacy", probeMs: 100, clock, limits: defaultMcpLimits },
    draw: () => 0,
    requestContext: { roots: [], sampling: "off" },
    async open() {
      const found = open(++attempts);
      if (found instanceof Error) throw found;
      servers.push(found);
      return { transport: found, lastWords: () => "its last words" };
    },
  };
  return { wish: options, clock, servers, attempts: () => attempts };
}

async function until(condition: () => boolean): Promise<void> {
  for (let look = 0; look < 500 && !condition(); look++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(condition()).toBe(true);
}

const offered = ({ state }: Link): string[] =>
  state.status === "connected" ? state.offer.tools.map(({ name }) => name) : [];

describe("a link to a server", () => {
  test("that went away is found again, and its tools are listed anew", async () => {
    verifies("S4.63", "S0.4");
    const { wish, servers, clock } = linkTo((attempt) => new Server([`tool${attempt}`]));
    const link = new Link(wish);
    await link.settled;
    expect(offered(link)).toEqual(["tool1"]);
    await servers[0]?.close();
    expect(link.state.status).toBe("pending");
    await until(() => link.state.status === "connected");
    expect(offered(link)).toEqual(["tool2"]);
    expect(clock.slept).toContain(1_000);
    await link.close();
  });

  test("is given up after five tries with pauses that double", async () => {
    verifies("S4.63", "S4.64");
    const { wish, servers, clock, attempts } = linkTo((attempt) =>
      attempt === 1 ? new Server([]) : new Error("gone"),
    );
    const link = new Link(wish);
    await link.settled;
    await servers[0]?.close();
    await until(() => link.state.status === "failed");
    expect(attempts()).toBe(6);
    expect(clock.slept.filter((ms) => ms >= 1_000)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    await link.close();
  });

  test("that cannot be made says why, with the server's last words, and can be tried again", async () => {
    verifies("S4.64");
    const { wish } = linkTo((attempt) => (attempt === 1 ? new Error("not there") : new Server(["go"])));
    const link = new Link(wish);
    await link.settled;
    expect(link.state).toMatchObject({ status: "failed", error: expect.stringContaining("not there") });
    await link.reconnect();
    expect(offered(link)).toEqual(["go"]);
    await link.close();
  });

  test("lists again when the server says that something has changed", async () => {
    const { wish, servers } = linkTo(() => new Server(["one"]));
    const link = new Link(wish);
    await link.settled;
    servers[0]?.tools.push("two");
    servers[0]?.onmessage?.({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await until(() => offered(link).length === 2);
    await link.close();
  });

  test("to a program that ends at a question it does not know is made without the question", async () => {
    const { wish, attempts } = linkTo((attempt) =>
      attempt === 1 ? new Server([], "ends") : new Server(["go"]),
    );
    const open = wish.open;
    const link = new Link({
      ...wish,
      revision: "newest",
      async open() {
        const way = await open();
        const server = way.transport as Server;
        return { ...way, hasEnded: () => server.closed };
      },
    });
    await link.settled;
    expect(attempts()).toBe(2);
    expect(offered(link)).toEqual(["go"]);
    await link.close();
  });

  test("that is closed stays closed, and its server too", async () => {
    const { wish, servers } = linkTo(() => new Server(["one"]));
    const link = new Link(wish);
    await link.settled;
    await link.close();
    expect(servers.map(({ closed }) => closed)).toEqual([true]);
    const { signal } = new AbortController();
    const host = { ask: async () => ({ verdict: "deny" as const, by: "host" as const }) };
    const call = { tool: "one", input: {}, callId: "c", timeoutMs: 50, progress: () => undefined, host };
    await expect(link.call(call, signal)).rejects.toThrow("not connected");
  });
});

test("sessions that want the same server share it until the last one is done", async () => {
  const { wish, servers } = linkTo(() => new Server(["one"]));
  const pool = new LinkPool();
  const pins = { folder: undefined, server: "memory", identity: "x" };
  const [first, second] = [
    pool.lease({ key: { a: 1 }, link: wish, pins }),
    pool.lease({ key: { a: 1 }, link: wish, pins }),
  ];
  const alone = pool.lease({ key: undefined, link: wish, pins });
  expect(first.link).toBe(second.link);
  expect(alone.link).not.toBe(first.link);
  await Promise.all([first.link.settled, alone.link.settled]);
  await first.release();
  await first.release();
  expect(servers[0]?.closed).toBe(false);
  await second.release();
  await alone.release();
  expect(servers.map(({ closed }) => closed)).toEqual([true, true]);
});
