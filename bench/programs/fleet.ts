/**
 * Many live sessions in one process, each with tools, hooks and an agent; then turns of some of them, without and with a
 * hostile session among them: a command that prints lines of 10 MB without end, a tool that floods its watchers, and a
 * reply of many pieces.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import type { Session } from "../../keel/src/engine/session.ts";
import { schemaOf } from "../../keel/src/kernel/schema.ts";
import { defineTool } from "../../keel/src/ports/define-tool.ts";
import type { Model, ModelEvent, ModelRequest } from "../../keel/src/ports/model.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import { type Block, text, textOf } from "../../keel/src/protocol/message.ts";
import { openFleet } from "../open-fleet.ts";
import { runProgram } from "../program.ts";

type Options = {
  home: string;
  cwd: string;
  sessions: number;
  turns: number;
  /** What the hostile sessions do; all of it when left out. */
  evil?: string[];
};

const legs = 5;

await runProgram(async ({ home, cwd, sessions, turns, evil }: Options) => {
  await writeFile(path.join(cwd, "a.txt"), "alpha\nbeta\n");
  const fleet = openFleet({ home, cwd, model: fleetModel(cwd) });
  const idleBytes = process.memoryUsage().rss;
  const open: Session[] = [];
  // As many at once as a busy server would start.
  await inLanes(sessions, 50, async (index) => {
    const session = await fleet.open();
    await say(session, `full turn with SECRET-${index}.`);
    open.push(session);
  });
  const leaks = await leaksIn(open, fleet.logs);
  const some = open.slice(0, Math.min(open.length, 20));
  await timedTurns(some, Math.ceil(turns / 4)); // Until everything is warm.
  const without: number[] = [];
  const withHostile: number[] = [];
  let flooded = 0;
  // In turns, so that whatever else the machine does falls on both sides.
  for (let leg = 0; leg < legs; leg++) {
    without.push(...(await timedTurns(some, Math.ceil(turns / legs))));
    const hostile = await openHostile(evil, () => fleet.open({ tools: [floodTool()] }));
    withHostile.push(...(await timedTurns(some, Math.ceil(turns / legs))));
    flooded += await hostile.stop();
  }
  await inLanes(open.length, 50, async (index) => open[index]?.close("ended"));
  return { idleBytes, without, withHostile, leaks, flooded };
});

async function say(session: Session, words: string): Promise<void> {
  await session.submit({ type: "input", content: [text(words)] });
  await session.run();
  const last = session.state.history.at(-1);
  if (session.fault || last?.role !== "assistant")
    throw new Error(`A turn did not end well: ${session.fault?.message}`);
}

/** How long turns take, several sessions at a time. */
async function timedTurns(sessions: readonly Session[], turns: number): Promise<number[]> {
  const times: number[] = [];
  await inLanes(turns, 4, async (index) => {
    const session = sessions[index % sessions.length];
    if (!session) return;
    const startedAt = performance.now();
    await say(session, "short turn");
    times.push(performance.now() - startedAt);
  });
  return times;
}

async function inLanes(count: number, lanes: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
}

/** Secrets that stand in a log of another session. */
async function leaksIn(
  sessions: readonly Session[],
  logs: (id: string) => Promise<string[]>,
): Promise<number> {
  let leaks = 0;
  await inLanes(sessions.length, 20, async (index) => {
    const session = sessions[index];
    const own = /SECRET-\d+/.exec(JSON.stringify(session?.state.history.at(0)))?.[0];
    const all = await logs(session?.id ?? "");
    if (all.length < 2) throw new Error("A session had no agent.");
    for (const log of all) for (const [found] of log.matchAll(/SECRET-\d+/g)) if (found !== own) leaks++;
  });
  return leaks;
}

async function openHostile(
  kinds: readonly string[] = ["print", "flood", "talk"],
  open: () => Promise<Session>,
): Promise<{ stop(): Promise<number> }> {
  let events = 0;
  const evil = await Promise.all(
    kinds.map(async (kind) => {
      const words = `${kind} without end`;
      const session = await open();
      session.onEvent(() => {
        events++;
      });
      await session.submit({ type: "input", content: [text(words)] });
      return session;
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return {
    async stop() {
      await Promise.all(evil.map((session) => session.close("stopped")));
      return events;
    },
  };
}

function floodTool(): Tool {
  return defineTool({
    name: "Flood",
    description: "Floods.",
    input: schemaOf(z.object({})),
    async *run(_, __, signal) {
      while (!signal.aborted) yield { kind: "text", text: "x".repeat(1_000) };
      return { content: [text("done")], display: { kind: "text", text: "done" } };
    },
  }) as Tool;
}

/** Looks at what it is asked. A worker reads a file and reports; the main one reads, gives work, and answers. */
function fleetModel(cwd: string): Model {
  const read = call("Read", { file_path: path.join(cwd, "a.txt") });
  const endless = "while :; do head -c 10000000 /dev/zero | tr '\\0' x; echo; done";
  const repliesTo = (request: ModelRequest): Block[] | "endless" => {
    // What Keel itself tells stands behind what was said.
    const answered = request.messages.findLastIndex(({ role }) => role === "assistant");
    const newest = request.messages.slice(answered + 1).flatMap(({ content }) => content);
    if (newest.some(({ type }) => type === "tool_result")) return [text("Done.")];
    const words = textOf(newest);
    if (request.system.join().includes("worker")) return [read()];
    if (words.includes("full turn"))
      return [
        read(),
        call("Agent", {
          description: "look",
          prompt: words,
          subagent_type: "worker",
          run_in_background: false,
        })(),
      ];
    if (words.includes("print without end")) return [call("Bash", { command: endless, timeout: 600_000 })()];
    if (words.includes("flood without end")) return [call("Flood", {})()];
    return words.includes("talk without end") ? "endless" : [read()];
  };
  return {
    info: (id) => ({
      id,
      name: id,
      provider: "bench",
      windowTokens: 1_000_000,
      maxOutputTokens: 32_000,
      prices: null,
      abilities: { tools: true, images: true, thinking: "none", cache: false },
    }),
    stream: (request, signal) => streamOf(repliesTo(request), signal),
  };
}

function call(name: string, input: Record<string, string | number | boolean>): () => Block {
  return () => ({ type: "tool_use", id: `call_${randomUUID()}`, name, input });
}

async function* streamOf(content: Block[] | "endless", signal: AbortSignal): AsyncGenerator<ModelEvent> {
  // As from a network: never in the same breath.
  await new Promise((resolve) => setImmediate(resolve));
  yield { type: "start", model: "fleet" };
  if (content === "endless") {
    yield { type: "block.start", index: 0, block: text("") };
    while (!signal.aborted) {
      for (let piece = 0; piece < 50; piece++) yield { type: "text", index: 0, text: "word ".repeat(10) };
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error("stopped");
  }
  for (const [index, block] of content.entries()) {
    yield { type: "block.start", index, block };
    yield { type: "block.end", index, block };
  }
  const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const stop = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end";
  yield { type: "end", stop, usage, content };
}
