// The request law over random conversations: whatever comes late, leaves, is loaded, reminded of, interrupted, resumed,
// forked or shortened, every request extends the one before it, and the provider's cache is read as far as it can be.
import { expect, test } from "vitest";
import type { Briefing } from "../keel/src/ports/briefing.ts";
import { defineTool } from "../keel/src/ports/define-tool.ts";
import type { Memory } from "../keel/src/ports/memory.ts";
import type { BoxTool, Tool, Toolbox } from "../keel/src/ports/tool.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { text } from "../keel/src/protocol/message.ts";
import { memoryStore } from "../keel/src/store/memory/memory.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { skillTool } from "../keel/src/tools/skill.ts";
import { toolSearchTool } from "../keel/src/tools/tool-search.ts";
import { foldCacheHealth, noCacheHealth } from "../keel/src/view/cache-health.ts";
import { countOf, seed } from "./support/budget.ts";
import { openTestSession, type TestSession } from "./support/test-session.ts";
import { anyInput } from "./support/test-tools.ts";
import { verifies } from "./support/verifies.ts";

test("over random conversations no request breaks the prefix of the one before it without a declared boundary", {
  timeout: 1_800_000,
}, async () => {
  verifies("P14", "P38");
  const sums = { read: 0, possible: 0, requests: 0 };
  const seen = new Set<string>();
  const first = seed();
  for (let number = 0; number < countOf("context-law"); number++) {
    const run = await converse(first + number);
    const about = `seed ${first + number}: ${run.steps.join(" ")}`;
    expect(run.breaks, about).toEqual([]);
    for (const session of run.logs) {
      const health = session.reduce(foldCacheHealth, noCacheHealth);
      const unexplained = health.breaks.filter(({ cause }) => cause.kind === "unexplained");
      expect(
        unexplained.filter(({ seq }) => !changedModel(session, seq)),
        about,
      ).toEqual([]);
      sums.requests += health.requests;
    }
    sums.read += run.read;
    sums.possible += run.possible;
    for (const step of run.steps) seen.add(step);
  }
  // Every kind of step was taken, and what the cache could give was read.
  expect([...seen].sort()).toEqual([...stepNames].sort());
  expect(sums.requests).toBeGreaterThan(countOf("context-law"));
  expect(sums.read / sums.possible).toBeGreaterThan(0.95);
});

const stepNames = [
  "say",
  "work",
  "late-tool",
  "tool-leaves",
  "search",
  "skill",
  "interrupt",
  "resume",
  "fork",
  "compact",
  "model",
  "plan",
  "nested",
] as const;
type StepName = (typeof stepNames)[number];

async function converse(number: number) {
  const random = generator(number);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const clock = instantClock();
  const store = memoryStore({ clock });
  const ids = countingIds({ prefix: number % 200 });
  const box = lateTools();
  let plan: Reply[] = [];
  let interrupt: (() => Promise<void>) | undefined;
  let nested = 0;
  const model = scriptedModel(() => plan.shift() ?? reply("Done."), { clock, cache: "simulated" });
  const work = defineTool({
    name: "Work",
    description: "Works on something. ".repeat(60),
    input: anyInput,
    claims: async () => [],
    async *run() {
      await interrupt?.();
      return { content: [text("worked ".repeat(200))], display: { kind: "text", text: "" } };
    },
  }) as Tool;
  const library = {
    skills: async () => [{ name: "greet", description: "Greets people." }],
    readSkill: async () => ({ ok: true as const, text: "Say hello. ".repeat(100) }),
  };
  const briefing: Briefing = {
    start: async () => ({
      content: [text("Instructions of the project. ".repeat(50))],
      files: [{ path: "/project/AGENTS.md", source: "project" }],
    }),
    near: async () => ({
      content: nested > 0 ? [text("Instructions of a folder.")] : [],
      files: [{ path: `/project/${nested}`, source: "project" }],
    }),
  };
  const memory: Memory = {
    place: "/memory",
    index: async () => "- [a](a.md) (project): a note",
    recall: async () => [],
    remember: async () => ({ ok: true }),
  };
  const tools = [
    work,
    toolSearchTool as Tool,
    skillTool(library) as Tool,
    deferredTool("Rare"),
    deferredTool("Seldom"),
  ];
  const open = async (id: string, kind: "new" | "resume"): Promise<TestSession> => {
    const log = kind === "new" ? await store.create(id, { cwd: "/project" }) : await store.open(id);
    return openTestSession({
      log,
      model,
      tools,
      toolbox: box,
      briefing,
      memory,
      clock,
      ids,
      settings: { permissionMode: "bypassPermissions" },
      bypass: "allowed",
      system: ["You are a test. ".repeat(400)],
    });
  };
  const newId = (count: number): string =>
    `00000000-0000-4000-8000-${String(number % 1e6).padStart(6, "0")}${String(count).padStart(6, "0")}`;
  let count = 0;
  let id = newId(count++);
  let session = await open(id, "new");
  const steps: StepName[] = [];
  const all: string[] = [id];

  for (let step = 0; step < 12; step++) {
    const name = step === 0 ? "say" : pick(stepNames);
    steps.push(name);
    plan = [];
    switch (name) {
      case "say":
        await session.say("words ".repeat(1 + Math.floor(random() * 50)));
        break;
      case "work":
        plan = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
          reply("Now.", toolUse("Work", {}), toolUse("Work", {})),
        );
        await session.say("work");
        break;
      case "late-tool":
        box.add(`mcp__s__t${step}`);
        await session.say("go on");
        break;
      case "tool-leaves":
        box.remove();
        await session.say("go on");
        break;
      case "search":
        plan = [
          reply(toolUse("ToolSearch", { query: pick(["select:Rare", "select:Seldom", "mcp late tool"]) })),
        ];
        await session.say("search");
        break;
      case "skill":
        plan = [reply(toolUse("Skill", { skill: "greet" }))];
        await session.say("greet");
        break;
      case "interrupt": {
        plan = [reply(toolUse("Work", {}), toolUse("Work", {}))];
        const { session: running } = session;
        interrupt = async () => void running.submit({ type: "interrupt" });
        await session.say("work and be stopped");
        interrupt = undefined;
        break;
      }
      case "resume":
        await session.session.close("ended");
        session = await open(id, "resume");
        await session.say("again");
        break;
      case "fork": {
        await session.session.close("ended");
        const copy = newId(count++);
        await store.fork(id, { id: copy });
        id = copy;
        all.push(id);
        session = await open(id, "resume");
        await session.say("in a copy");
        break;
      }
      case "compact":
        plan = [reply("NOTES ".repeat(50))];
        await session.session.submit({ type: "compact" });
        await session.session.run();
        await session.say("after the notes");
        break;
      case "model":
        await session.session.submit({ type: "set", patch: { model: pick(["test-model", "other-model"]) } });
        await session.say("with another");
        break;
      case "plan":
        await session.session.submit({
          type: "set",
          patch: { permissionMode: pick(["plan", "bypassPermissions"]) },
        });
        await session.say("plan");
        break;
      case "nested":
        nested += 1;
        await session.say("look there");
        break;
    }
  }
  await session.session.close("ended");
  const logs = all.map((each) => store.events(each));
  return {
    breaks: model.law?.breaks.map(({ sentence }) => sentence) ?? ["no law"],
    steps,
    logs,
    ...readIn(logs),
  };
}

/** A model that comes back finds what it left only as far as a provider looks back. */
function changedModel(log: readonly Durable[], seq: number): boolean {
  const sent = log.filter((event) => event.type === "model.started" && event.seq <= seq);
  const [before, now] = sent.slice(-2).map((event) => (event.type === "model.started" ? event.model : ""));
  return before !== now;
}

/** What was read, and what the request before it, of the same model and without a boundary between, had left. */
function readIn(logs: readonly Durable[][]): { read: number; possible: number } {
  let [read, possible] = [0, 0];
  for (const log of logs) {
    let kept = 0;
    let model = "";
    for (const event of log) {
      if (
        event.type === "prompt.fixed" ||
        event.type === "context.compacted" ||
        event.type === "context.cleared" ||
        event.type === "context.returned"
      )
        kept = 0;
      if (event.type === "settings.changed" && event.patch.thinking) kept = 0;
      if (event.type !== "model.finished") continue;
      const { inputTokens, cacheReadTokens, cacheWriteTokens } = event.usage;
      if (kept > 1_100 && event.model === model) {
        possible += kept;
        read += Math.min(kept, cacheReadTokens);
      }
      kept = cacheReadTokens + cacheWriteTokens;
      model = event.model;
      expect(inputTokens).toBeGreaterThanOrEqual(0);
    }
  }
  return { read, possible };
}

function deferredTool(name: string): Tool {
  return defineTool({
    name,
    description: `A tool that is needed ${name === "Rare" ? "rarely" : "seldom"}.`,
    input: anyInput,
    deferred: true,
    claims: async () => [],
    async *run() {
      return { content: [text("done")], display: { kind: "text", text: "" } };
    },
  }) as Tool;
}

function lateTools(): Toolbox & { add(name: string): void; remove(): void } {
  let tools: BoxTool[] = [];
  const known = new Set<string>();
  return {
    tools: () => tools,
    knows: (name) => known.has(name),
    ready: async () => undefined,
    add(name) {
      known.add(name);
      tools = [...tools, { ...deferredTool(name), deferred: false }];
    },
    remove() {
      tools = tools.slice(1);
    },
  };
}

function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
