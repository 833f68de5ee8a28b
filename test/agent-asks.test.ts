// What an agent may do and what it must ask, however deep it is: every hook fires, every question reaches the person, and
// every outcome is what it would be for the main agent. Its own kind can only make it stricter.
import { describe, expect, test } from "vitest";
import { parseRule } from "../keel/src/policy/rules.ts";
import type { AgentProfile } from "../keel/src/ports/agent-definition.ts";
import { type atEveryPoint, type HookContext, type Hooks, noHooks } from "../keel/src/ports/hooks.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import { type HookPoints, hookPoints } from "../keel/src/protocol/hook.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import type { PermissionMode } from "../keel/src/protocol/settings.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { type FamilyOptions, openFamily, rootId, worker } from "./agents/family.ts";
import { verifies } from "./support/verifies.ts";

/** By whom each level is started: a member of a team, or an agent whose end is waited for. */
const depths = {
  "the main agent": [],
  "an agent": ["agent"],
  "a member of a team": ["member"],
  "an agent of a member": ["member", "agent"],
  "an agent of an agent of a member": ["member", "agent", "agent"],
} as const satisfies Record<string, readonly ("agent" | "member")[]>;
type Depth = keyof typeof depths;
const below = (Object.keys(depths) as Depth[]).slice(1);

const write = (id: string, name = "a.txt") =>
  toolUse("Write", { file_path: `/project/${name}`, content: "x" }, id);
const read = (id: string) => toolUse("Read", { file_path: "/project/missing.txt" }, id);

type Scenario = Pick<FamilyOptions, "rules" | "answer" | "asks" | "settings"> & {
  /** What it calls, one reply after the other. */
  readonly calls: readonly ReturnType<typeof toolUse>[][];
  readonly hooks?: Partial<Pick<Hooks, "beforeTool" | "permission">>;
  readonly target?: Partial<AgentProfile>;
  /** Of whoever starts it. */
  readonly above?: Partial<AgentProfile>;
};

/** The one who is that deep makes the calls; the others only start the next. */
async function play(depth: Depth, scenario: Scenario) {
  const path = depths[depth];
  const fired: { what: string; context: HookContext }[] = [];
  const isOurs = (tool: unknown): boolean => tool === "Write" || tool === "Read";
  const toolsOf = (facts: unknown): string[] =>
    [facts].flat().flatMap((each) => {
      const { tool, title } = (each ?? {}) as { tool?: string; title?: string };
      return [tool ?? title ?? ""].filter(isOurs);
    });
  const heard = Object.fromEntries(
    (Object.keys(hookPoints) as (keyof HookPoints)[]).map((point) => {
      const own = (scenario.hooks as Partial<Hooks> | undefined)?.[point];
      const method = async (facts: never, context: HookContext) => {
        const tools = toolsOf(facts);
        for (const tool of tools) fired.push({ what: `${hookPoints[point].event} ${tool}`, context });
        const opinion = tools.length > 0 && own ? own : noHooks[point];
        return (opinion as (facts: never, context: HookContext) => Promise<unknown>)(facts, context);
      };
      return [point, method];
    }),
  ) as ReturnType<typeof atEveryPoint>;
  const counts = new Map<number, number>();
  const answerOf = ({ messages }: ModelRequest): Reply => {
    const first = textOf(messages[0]?.content ?? []);
    const level = Number(/Be at level (\d)/.exec(first)?.[1] ?? 0);
    const at = counts.get(level) ?? 0;
    counts.set(level, at + 1);
    const next = path[level];
    if (next === undefined) return reply(...(scenario.calls[at] ?? ["Finished."]));
    if (next === "member" && at === 0) return reply(toolUse("TeamCreate", { team_name: "crew" }, "create"));
    if (at > (next === "member" ? 1 : 0)) return reply("Fine.");
    const kind = level + 1 === path.length ? "target" : level + 2 === path.length ? "above" : "worker";
    const order = { description: "work", prompt: `Be at level ${level + 1}.`, subagent_type: kind };
    const how = next === "member" ? { name: "ann" } : { run_in_background: false };
    return reply(toolUse("Agent", { ...order, ...how }, `start-${level}`));
  };
  const clock = instantClock();
  const model = scriptedModel(answerOf, { clock, law: "none" });
  const { target, above, calls: _, hooks: __, ...options } = scenario;
  const family = await openFamily({
    ...options,
    model,
    clock,
    hooks: { ...heard, watchTools: true },
    definitions: [worker, { ...worker, ...above, name: "above" }, { ...worker, ...target, name: "target" }],
  });
  await family.say("Go.");
  await family.settle();
  const asks = family.events.flatMap((event) =>
    event.type === "ask.opened" && isOurs(event.ask.tool) ? [event.ask] : [],
  );
  return {
    /** What must be the same at each depth. */
    trace: {
      fired: fired.map(({ what }) => what),
      asks: asks.map(({ title, kind, reason, body, options: offered }) => ({
        title,
        kind,
        reason,
        body,
        offered,
      })),
      answers: family.events.flatMap((event) =>
        event.type === "ask.closed" && asks.some(({ id }) => id === event.askId) ? [event.by] : [],
      ),
      outcomes: family.events.flatMap((event) =>
        event.type === "tool.finished" &&
        scenario.calls.flat().some((call) => "id" in call && call.id === event.callId)
          ? [{ said: textOf(event.content), failed: event.failed, denied: event.denied }]
          : [],
      ),
    },
    fired,
    asks,
    /** What the one that started the first heard of it. */
    leader: JSON.stringify(model.requests.filter(({ session }) => session === rootId).at(-1)?.messages ?? []),
    level: path.length,
  };
}

const no = async () => ({ verdict: "deny" as const, reason: "not by this hook" });
const yes = async () => ({ verdict: "allow" as const });
const deny = [parseRule("Write(//project/a.txt)") ?? []].flat();

const scenarios: Readonly<Record<string, Scenario>> = {
  "a call that nothing allows yet, and the person does": { calls: [[write("t1")]] },
  "one that the person refuses": {
    calls: [[write("t1")]],
    answer: () => ({ verdict: "deny", reason: "Leave it." }),
  },
  "one that the person changes": {
    calls: [[write("t1")]],
    answer: () => ({ verdict: "allow", input: { file_path: "/project/b.txt", content: "y" } }),
  },
  "one that is allowed for the rest of the session, and another": {
    calls: [[write("t1")], [write("t2", "b.txt")]],
    answer: () => ({ verdict: "allow", rules: ["Write"] }),
  },
  "one that a rule denies": { calls: [[write("t1")]], rules: { allow: [], ask: [], deny } },
  "one that a hook denies before": {
    calls: [[write("t1")]],
    hooks: { beforeTool: async () => ({ decision: { verdict: "deny", reason: "not now" }, context: [] }) },
  },
  "one that a hook wants asked about": {
    calls: [[write("t1")]],
    settings: { permissionMode: "acceptEdits" },
    hooks: { beforeTool: async () => ({ decision: { verdict: "ask", reason: "look at it" }, context: [] }) },
  },
  "one that a hook answers with yes": {
    calls: [[write("t1")]],
    answer: () => undefined,
    hooks: { permission: yes },
  },
  "one that a hook answers with no": {
    calls: [[write("t1")]],
    answer: () => undefined,
    hooks: { permission: no },
  },
  // A hook that takes its time is heard before anybody says no for want of a person.
  "one where nobody can be asked but a hook": {
    calls: [[write("t1")]],
    asks: "refused",
    answer: () => ({ verdict: "deny", reason: "nobody is here" }),
    hooks: { permission: () => new Promise((resolve) => setImmediate(() => resolve({ verdict: "allow" }))) },
  },
  "one that the mode allows": { calls: [[write("t1")]], settings: { permissionMode: "acceptEdits" } },
  "one that the mode refuses": { calls: [[write("t1")]], settings: { permissionMode: "dontAsk" } },
  "one while only plans are made": { calls: [[write("t1")]], settings: { permissionMode: "plan" } },
  "one that fails, and two in one reply": { calls: [[read("t1")], [write("t2"), write("t3", "b.txt")]] },
};

describe.each(Object.entries(scenarios))("%s", (_, scenario) => {
  test.each(below)("is the same for %s as for the main agent", async (depth) => {
    verifies("S2.34");
    const [main, deep] = [await play("the main agent", scenario), await play(depth, scenario)];
    expect(main.trace.outcomes).toHaveLength(scenario.calls.flat().length);
    expect(deep.trace).toEqual(main.trace);
    // The person is told who asks, and nobody asks the model above.
    expect(deep.asks.map(({ origin }) => origin?.depth)).toEqual(deep.asks.map(() => deep.level));
    for (const { title } of deep.asks) expect(deep.leader).not.toContain(title);
    // Hooks are those of the session, and know in which agent it is.
    expect(main.fired.every(({ context }) => context.agent === undefined)).toBe(true);
    expect(deep.fired.map(({ context }) => [context.session, context.agent?.kind])).toEqual(
      deep.fired.map(() => [rootId, "target"]),
    );
  });
});

describe("its own kind", () => {
  type Row = [string, Pick<Scenario, "target" | "above"> & { readonly mode: PermissionMode }, string];
  const rows: Row[] = [
    [
      "asks, where the one above would not have to",
      { mode: "bypassPermissions", target: { permissionMode: "default" } },
      "asked",
    ],
    [
      "may edit, where the one above may do anything",
      { mode: "bypassPermissions", target: { permissionMode: "acceptEdits" } },
      "ran",
    ],
    ["says nothing of it: as the one above", { mode: "bypassPermissions" }, "ran"],
    [
      "wants more than the one above may",
      { mode: "default", target: { permissionMode: "bypassPermissions" } },
      "asked",
    ],
    [
      "wants to edit, where the one above asks",
      { mode: "default", target: { permissionMode: "acceptEdits" } },
      "asked",
    ],
    ["never asks", { mode: "default", target: { permissionMode: "dontAsk" } }, "refused"],
    ["only plans", { mode: "bypassPermissions", target: { permissionMode: "plan" } }, "refused"],
    ["has no such tool", { mode: "bypassPermissions", target: { tools: ["Read"] } }, "no tool"],
    ["does without it", { mode: "bypassPermissions", target: { disallowedTools: ["Write"] } }, "no tool"],
  ];
  const outcomeOf = ({ trace: { asks, outcomes } }: Awaited<ReturnType<typeof play>>): string => {
    const [{ said, failed } = { said: "", failed: true }] = outcomes;
    if (said.startsWith("There is no tool")) return "no tool";
    return asks.length > 0 ? "asked" : failed ? "refused" : "ran";
  };

  test.each(rows)("%s", async (_, { mode, ...about }, expected) => {
    verifies("S2.34");
    const played = below.map(async (depth) => {
      const settings = { permissionMode: mode };
      const done = await play(depth, {
        ...about,
        settings,
        calls: [[write("t1")]],
        answer: () => ({ verdict: "deny" }),
      });
      return [depth, outcomeOf(done)];
    });
    expect(await Promise.all(played)).toEqual(below.map((depth) => [depth, expected]));
  });

  test("is not lifted by what it starts in its turn", async () => {
    for (const depth of ["an agent of a member", "an agent of an agent of a member"] as const) {
      const done = await play(depth, {
        calls: [[write("t1")]],
        settings: { permissionMode: "bypassPermissions" },
        above: { permissionMode: "default" },
        target: { permissionMode: "bypassPermissions" },
        answer: () => ({ verdict: "deny" }),
      });
      expect([depth, outcomeOf(done)]).toEqual([depth, "asked"]);
    }
  });
});
