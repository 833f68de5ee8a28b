// The same hooks fire at the same points, in the same order, whoever drives the session. The rows are scenarios, the
// columns are modes: `keel -p`, the runner, the SDK, a turn that a background task has begun, and a sub-agent.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { type HookEvent, hookEvents } from "../../keel/src/protocol/hook.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { elsewhere, frames, type Scenario, scenarios } from "../hooks/scenarios.ts";
import { heard, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";
import { keel, launcher } from "./command.ts";
import { until } from "./stage.ts";

type Mode = {
  /** What the model says before the scenario begins, and after it has ended. */
  readonly before: Scenario["replies"];
  readonly after?: Scenario["replies"];
  /** A point that has another name here, or none. */
  readonly names?: Readonly<Partial<Record<HookEvent, HookEvent | "none">>>;
  drive(stage: SdkStage, scenario: Scenario): Promise<void>;
  /** The part of what was written down that belongs to the scenario. */
  cut(fired: readonly Fired[]): readonly Fired[];
};

/** What a hook was told: where it is, and in which agent, if it is in one. */
type Fired = { readonly hook_event_name: HookEvent; readonly agent_id?: string };
const nameOf = ({ hook_event_name }: Fired): HookEvent => hook_event_name;

/** A new column is a new entry. */
const modes: Readonly<Record<string, Mode>> = {
  "-p": { before: [], drive: inCommand, cut: withoutFrame },
  runner: { before: [], drive: inRunner, cut: withoutFrame },
  SDK: { before: [], drive: inProgram, cut: withoutFrame },
  background: {
    before: [reply(toolUse("Bash", { command: "sh wait.sh", run_in_background: true })), reply("It runs.")],
    drive: inProgram,
    // The turn that started the task comes first.
    cut: (fired) => withoutFrame(fired).slice(withoutFrame(fired).map(nameOf).indexOf("Stop") + 1),
  },
  "a sub-agent": {
    before: [reply(toolUse("Agent", { description: "work", prompt: "Do it.", run_in_background: false }))],
    after: [reply("The agent is done.")],
    drive: inProgram,
    // An agent is no session of its own for hooks.
    names: { UserPromptSubmit: "SubagentStart", Stop: "SubagentStop", SessionStart: "none" },
    cut: ofAgent,
  },
};

/** The scenario is a part of what its parent passes: between the start of the agent and the end of the call. */
function ofAgent(fired: readonly Fired[]): readonly Fired[] {
  const ofParent = ["PostToolUse or PostToolUseFailure", "PostToolBatch", "Stop", "SessionEnd"];
  const own = fired.slice(fired.map(nameOf).indexOf("SubagentStart"), -ofParent.length);
  // All of them know that they are in the agent, and nobody else is told so.
  expect(new Set(own.map(({ agent_id }) => agent_id))).toEqual(new Set([expect.any(String)]));
  expect(fired.filter(({ agent_id }) => agent_id !== undefined)).toEqual(own);
  return own;
}

/** Whether it throws depends on whose turn fails: that of an agent is a result among others. */
async function inProgram({ options }: SdkStage): Promise<void> {
  await heard(query({ prompt: "go", options: { ...options, settingSources: ["user"] } }));
}

async function inCommand({ cwd, home, server }: SdkStage, { ends }: Scenario): Promise<void> {
  const env = { HOME: path.dirname(cwd), KEEL_HOME: home, ANTHROPIC_BASE_URL: server.url };
  const ended = await keel(["-p", "go", "--model", "claude-sonnet-4-5"], {
    cwd,
    env: { ...env, ANTHROPIC_API_KEY: "test-key" },
  });
  expect(ended.code).toBe(ends === "well" ? 0 : 1);
}

/** A host that says no to whatever it is asked, and goes when the turn is over. */
async function inRunner({ cwd, home, server }: SdkStage): Promise<void> {
  const env = { HOME: path.dirname(cwd), KEEL_HOME: home, ANTHROPIC_BASE_URL: server.url };
  const child = spawn(launcher, ["runner", "--cwd", cwd, "--model", "claude-sonnet-4-5"], {
    cwd,
    env: { PATH: process.env["PATH"], ...env, ANTHROPIC_API_KEY: "test-key" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const send = (line: object): void => void child.stdin.write(`${JSON.stringify(line)}\n`);
  send({ type: "message", content: "go" });
  for await (const line of createInterface(child.stdout)) {
    const event = JSON.parse(line) as { type: string; requestId?: string };
    if (event.type === "tool_approval_request") {
      await until("its hook", () => readFileSync(path.join(cwd, "hooks.log"), "utf8").includes(asking));
      send({ type: "tool_approval_response", requestId: event.requestId, approved: false });
    }
    if (event.type === "turn_complete") child.stdin.end();
  }
  expect(await ended).toBe(0);
}

const asking = '"PermissionRequest"';

/** Every run begins and ends with the session; what is between is the scenario's. */
function withoutFrame(fired: readonly Fired[]): readonly Fired[] {
  expect([fired[0], fired.at(-1)]).toMatchObject([
    { hook_event_name: "SessionStart" },
    { hook_event_name: "SessionEnd" },
  ]);
  return fired.slice(1, -1);
}

/** Every point has a command that writes its name down. */
async function run(mode: Mode, scenario: Scenario): Promise<readonly HookEvent[]> {
  const stage = await sdkStage({ replies: [...mode.before, ...scenario.replies, ...(mode.after ?? [])] });
  const log = path.join(stage.cwd, "hooks.log");
  const stopped = path.join(stage.cwd, "stopped");
  // Whatever waits in the background ends when the first turn has.
  const command = `cat > line-$$; grep -q '"Stop"' line-$$ && touch ${stopped}; cat line-$$ >> ${log}`;
  const entry = { type: "command", command };
  writeFileSync(path.join(stage.cwd, "wait.sh"), `until [ -e ${stopped} ]; do sleep 0.05; done; sleep 0.3`);
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(path.join(stage.cwd, "secret.txt"), "x");
  const hooks = Object.fromEntries(hookEvents.map((event) => [event, [{ hooks: [entry] }]]));
  const permissions = { allow: ["Write", "Bash(sh wait.sh)"], deny: ["Read(secret.txt)"] };
  writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ hooks, permissions }));
  await mode.drive(stage, scenario);
  const lines = readFileSync(log, "utf8").trim().split("\n");
  return mode.cut(lines.map((line): Fired => JSON.parse(line))).map(nameOf);
}

/** A notification is told beside everything else, and nobody waits for it. */
function expectPoints(fired: readonly HookEvent[], points: readonly HookEvent[]): void {
  const isAwaited = (event: HookEvent): boolean => event !== "Notification";
  expect(fired.filter(isAwaited)).toEqual(points.filter(isAwaited));
  expect(fired.length).toBe(points.length);
}

describe.each(Object.entries(modes))("hooks in %s", (_, mode) => {
  test.each(scenarios)("fire at the points of $name", async (scenario) => {
    verifies("S2.36", "S0.43");
    const named = (point: HookEvent): HookEvent[] => {
      const name = mode.names?.[point] ?? point;
      return name === "none" ? [] : [name];
    };
    const points = scenario.points.flatMap(named);
    expectPoints(await run(mode, scenario), points);
  });
});

test("every point is in a scenario, or is tested elsewhere", () => {
  const passed = new Set([...frames, ...scenarios.flatMap(({ points }) => points)]);
  const tests = elsewhere
    .map((file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"))
    .join();
  expect(hookEvents.filter((event) => !passed.has(event) && !tests.includes(`"${event}"`))).toEqual([]);
});
