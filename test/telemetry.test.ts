// Spans that are sent beside the work: to a collector that validates them, that is slow, down or refuses, and over kill -9.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { writeTrace } from "../keel/src/app/time/trace-session.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";
import { type SentSpan, testCollector, treeOf } from "./telemetry/collector.ts";

const patience = { timeout: 60 * 60_000 };
const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A turn with an agent, a command and a question; each turn has calls of its own. */
const script: Parameters<typeof scriptedHome>[0] = (_, { lastUser }) => {
  if (lastUser.includes("part one")) return reply("An agent's words.");
  if (!lastUser.includes("begin")) return reply("Done.");
  return reply(
    "",
    toolUse("Agent", { description: "a part", prompt: "part one", run_in_background: false }),
    toolUse("Bash", { command: "echo here", description: "says it" }),
  );
};

async function stageWith(settings: object, env: Record<string, string> = {}) {
  const stage = await scriptedHome(script, { settings, env });
  const run = async (words: string, which?: Parameters<typeof stage.home.open>[0]["which"]) => {
    const session = await stage.home.open({ ...stage.options, ...(which ? { which } : {}) });
    agree(session);
    await say(session, words);
    await session.idle();
    await session.close("ended");
    return session.id;
  };
  return { ...stage, run };
}

type Stage = Awaited<ReturnType<typeof stageWith>>;

const marksIn = ({ env }: Stage): string[] => {
  const folder = path.join(env.KEEL_HOME, "telemetry");
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** What `keel trace` makes of the log. */
async function spansOfLog({ options, home }: Stage, id: string): Promise<SentSpan[]> {
  const wish = { id, version: "0", names: undefined };
  const text = await writeTrace({ ...options, sessions: home.sessions }, wish, "otlp");
  return JSON.parse(text).resourceSpans[0].scopeSpans[0].spans;
}

const byId = (spans: Iterable<SentSpan>): SentSpan[] =>
  [...spans].sort((one, other) => one.spanId.localeCompare(other.spanId));

const expectOnce = (times: ReadonlyMap<string, number>): void =>
  expect([...times].filter(([, count]) => count !== 1)).toEqual([]);

describe("a session whose spans are sent", () => {
  test("has them at the collector as its log says them, each once, and nothing of what was said", async () => {
    verifies("P31");
    const collector = await testCollector();
    const stage = await stageWith({
      telemetry: { endpoint: collector.url, headers: { "x-key": "collector-key" } },
    });
    const id = await stage.run("begin hunter2");
    await stage.run("again", { kind: "resume", from: { session: id } });
    expect(collector.problems).toEqual([]);
    expect(byId(collector.spans.values())).toEqual(byId(await spansOfLog(stage, id)));
    expectOnce(collector.times);
    expect(treeOf([...collector.spans.values()])).toMatch(
      /^invoke_agent keel\n {2}chat \S+\n {4}execute_tool Agent\n(?: {6}ask .*\n)* {6}invoke_agent \S+\n {8}chat /,
    );
    expect(collector.headers.every((headers) => headers["x-key"] === "collector-key")).toBe(true);
    expect(collector.bodies.join("\n")).not.toMatch(/hunter2|an agent's words|echo here|keel-home-/i);
    // All was taken: nothing is left for another time.
    expect(marksIn(stage)).toEqual([]);
  });

  test("is sent nowhere by variables of other programs, and by them where it is wanted", async () => {
    const collector = await testCollector();
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
    };
    const unasked = await stageWith({}, variables);
    await unasked.run("begin");
    expect(collector.requests).toBe(0);
    expect(existsSync(path.join(unasked.env.KEEL_HOME, "telemetry"))).toBe(false);
    const asked = await stageWith({}, { ...variables, KEEL_ENABLE_TELEMETRY: "1" });
    await asked.run("begin");
    expect(collector.spans.size).toBeGreaterThan(4);
    expect(collector.headers[0]?.["x-key"]).toBe("a key");
  });

  test("of a project that names a collector is sent nowhere", async () => {
    const collector = await testCollector();
    const stage = await stageWith({});
    const folder = path.join(stage.cwd, ".keel");
    mkdirSync(folder);
    const telemetry = { endpoint: collector.url };
    const env = { KEEL_ENABLE_TELEMETRY: "1", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify({ telemetry, env }));
    await stage.run("begin");
    expect(collector.requests).toBe(0);
  });

  test.each([
    ["is down", "down"],
    ["answers 429", 429],
    ["answers 500", 500],
    ["does not answer", "silent"],
  ] as const)("works on where the collector %s, and the next one sends it", patience, async (_, how) => {
    const collector = await testCollector();
    const stage = await stageWith({ telemetry: { endpoint: collector.url } });
    let isWell = false;
    collector.answer = (request, response) => {
      if (isWell) return "take";
      if (how === "down") request.socket.destroy();
      else if (how !== "silent") response.writeHead(how).end();
      return "done";
    };
    const id = await stage.run("begin");
    expect(collector.spans.size).toBe(0);
    expect(marksIn(stage)).toEqual([`${id}.json`]);
    isWell = true;
    const next = await stage.home.open(stage.options);
    await expect.poll(() => collector.spans.size, { timeout: 20_000 }).toBeGreaterThan(4);
    await next.close("ended");
    expect(byId(collector.spans.values())).toEqual(byId(await spansOfLog(stage, id)));
    expectOnce(collector.times);
    expect(marksIn(stage)).toEqual([]);
  });

  test("says how many spans a collector refuses for good", async () => {
    const collector = await testCollector();
    const stage = await stageWith({ telemetry: { endpoint: collector.url } });
    collector.answer = (_, response) => {
      response.writeHead(400).end();
      return "done";
    };
    const session = await stage.home.open(stage.options);
    agree(session);
    const said: string[] = [];
    session.onEvent((event) => event.type === "notice.raised" && said.push(event.text));
    await say(session, "begin");
    await session.idle();
    await expect.poll(() => said.join("\n"), { timeout: 20_000 }).toMatch(/\d+ spans were not taken.*400/);
    await session.close("ended");
    expect(marksIn(stage)).toEqual([]);
  });
});

describe("a trace over processes", () => {
  test("goes through a turn to servers of hooks and tools, and to agents, whoever began it", async () => {
    verifies("P31");
    const collector = await testCollector();
    const heard: Record<string, string | undefined> = {};
    const hooks = createServer((request, response) => {
      heard["hook"] = request.headers["traceparent"]?.toString();
      response.end("{}");
    });
    await new Promise<void>((resolve) => hooks.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void hooks.close());
    const address = hooks.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/hook`;
    const server = path.join(import.meta.dirname, "telemetry/mcp-server.ts");
    const settings = {
      hooks: { PreToolUse: [{ matcher: "mcp__.*", hooks: [{ type: "http", url }] }] },
      mcpServers: { told: { command: process.execPath, args: [server] } },
      mcp: { startMs: 30_000 },
    };
    const ask: Parameters<typeof scriptedHome>[0] = (_, { lastUser }) =>
      lastUser.includes("begin") ? reply("", toolUse("mcp__told__trace", {})) : reply("Done.");
    const answerOf = async (more: object, env: Record<string, string>, trace?: string) => {
      const stage = await scriptedHome(ask, { settings: { ...settings, ...more }, env });
      const session = await stage.home.open(stage.options);
      agree(session);
      let said = "";
      session.onEvent((event) => {
        if (event.type === "tool.finished") said = JSON.stringify(event.content);
      });
      const content = [{ type: "text" as const, text: "begin" }];
      await session.submit({ type: "input", content, ...(trace === undefined ? {} : { trace }) });
      await session.idle();
      await session.close("ended");
      return /00-[0-9a-f]{32}-[0-9a-f]{16}-01/.exec(said)?.[0];
    };
    // Where nobody follows it, nobody hears of one.
    expect(await answerOf({}, {})).toBeUndefined();
    expect(heard["hook"]).toBeUndefined();
    // Where only the caller does, it is handed on as it came.
    expect(await answerOf({}, { TRACEPARENT: caller })).toBe(caller);
    expect(heard["hook"]).toBe(caller);
    // Where spans are sent the call and the turn stand between.
    const told = await answerOf({ telemetry: { endpoint: collector.url } }, {}, caller);
    const spans = [...collector.spans.values()];
    const find = (name: string): SentSpan | undefined => spans.find((span) => span.name.startsWith(name));
    const traceId = caller.slice(3, 35);
    expect(spans.every((span) => span.traceId === traceId)).toBe(true);
    expect(find("invoke_agent")?.parentSpanId).toBe(caller.slice(36, 52));
    expect(told).toBe(`00-${traceId}-${find("execute_tool")?.spanId}-01`);
    expect(heard["hook"]).toBe(`00-${traceId}-${find("invoke_agent")?.spanId}-01`);
  });
});

describe("kill -9 at any moment", () => {
  test("loses no span and gives none a second id; what was open has an error", patience, async () => {
    verifies("P31");
    const collector = await testCollector();
    const stage = await stageWith({
      telemetry: { endpoint: collector.url },
      permissions: { allow: ["Bash", "Agent"] },
    });
    const chance = countingIds({ seed: seed() + 31 });
    const child = path.join(import.meta.dirname, "telemetry/child.ts");
    const start = (id: string, words: string) =>
      spawn(process.execPath, [child, id, words], {
        cwd: stage.cwd,
        env: stage.env,
        stdio: ["ignore", "pipe", "inherit"],
      });
    const ids: string[] = [];
    const count = countOf("telemetry-kills");
    for (let kill = 0; kill < count; kill++) {
      // Some are killed once more when they go on.
      const id = kill % 3 === 2 ? (ids.at(-1) ?? "") : crypto.randomUUID();
      if (kill % 3 !== 2) ids.push(id);
      const process = start(id, kill % 3 === 2 ? "" : `begin ${kill}`);
      await once(process.stdout, "data");
      await pause(Math.floor(chance.random() * 900));
      process.kill("SIGKILL");
      if (process.exitCode === null) await once(process, "exit");
    }
    // Whoever starts next sends what is left; a session that is gone on with then ends what was lost.
    await settled(stage, ids, collector.spans);
    expect(collector.problems).toEqual([]);
    const logged = new Map<string, SentSpan>();
    for (const id of ids) for (const span of await spansOfLog(stage, id)) logged.set(span.spanId, span);
    // All that ended by itself is there as the log has it.
    for (const [id, span] of logged) {
      const sent = collector.spans.get(id);
      if (sent?.status && "message" in sent.status && sent.status.message === "lost") continue;
      expect(sent).toEqual(span);
    }
    // Nothing else is there but what a kill has left open.
    for (const [id, span] of collector.spans)
      if (!logged.has(id)) expect(span.status).toEqual({ code: 2, message: "lost" });
    const again = [...collector.times.values()].filter((times) => times > 1).length;
    // Only what was taken in the moment of a kill comes twice, under its id.
    expect(again).toBeLessThanOrEqual(count * 20);
    const open = [...collector.spans.values()].filter(
      ({ parentSpanId }) => parentSpanId !== undefined && !collector.spans.has(parentSpanId),
    );
    expect(open).toEqual([]);
  });
});

/** Until two starts have found nothing more to send. */
async function settled(stage: Stage, ids: readonly string[], spans: ReadonlyMap<string, unknown>) {
  for (let quiet = 0; quiet < 2; ) {
    const before = spans.size;
    const session = await stage.home.open(stage.options);
    await pause(400);
    await session.close("ended");
    quiet = spans.size === before ? quiet + 1 : 0;
  }
  expect(ids.length).toBeGreaterThan(0);
}
