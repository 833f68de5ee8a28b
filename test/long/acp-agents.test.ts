// Agents of other people that speak the Agent Client Protocol, from the registry, as workers of the server: each as it is
// published, with the obedient model as its only provider. Needs a registry of npm; one agent: `-t NAME`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { entry, follow, restarted } from "../handle/follow-worker.ts";
import { serve, stage } from "../handle/stage.ts";
import { install, type Packages, sdkVersion } from "../others/install.ts";
import { obey } from "../others/obedient-model.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";

type Foreign = {
  readonly name: string;
  readonly packages: Packages;
  /** Under `node_modules`, run by Node. */
  readonly program: string;
  readonly args: readonly string[];
  /** Where the scripted model listens, as it wants to be told. */
  env(url: string): Record<string, string>;
  /** A call of its own tool that runs a command. */
  run(command: string): string;
  /** A package that only some platforms have. */
  readonly needs?: string;
};

const binary = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;

const agents: readonly Foreign[] = [
  {
    name: "claude-agent-acp",
    packages: { "@agentclientprotocol/claude-agent-acp": "0.99.1" },
    program: "@agentclientprotocol/claude-agent-acp/dist/index.js",
    args: [],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "test-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    }),
    run: (command) => `call: Bash ${JSON.stringify({ command, description: "as told" })}`,
    needs: binary,
  },
  {
    name: "qwen-code",
    packages: { "@qwen-code/qwen-code": "0.24.4" },
    program: "@qwen-code/qwen-code/cli.js",
    // Its own way to ask is by a mode: one of them lets a model decide.
    args: ["--acp", "--auth-type", "openai", "--approval-mode", "default"],
    env: (url) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: "test-key",
      OPENAI_MODEL: "scripted",
      QWEN_TELEMETRY_ENABLED: "false",
    }),
    run: (command) =>
      `call: run_shell_command ${JSON.stringify({ command, description: "as told", is_background: false })}`,
  },
];

let place = "";
beforeAll(async () => {
  place = await realpath(await mkdtemp(path.join(tmpdir(), "keel-agents-")));
});
afterAll(() => rm(place, { recursive: true, force: true }));

describe.each(agents)("$name", (agent) => {
  const folder = (): string => path.join(place, agent.name);
  beforeAll(() => install(folder(), { packages: agent.packages, sdk: sdkVersion }));

  async function opened() {
    const model = await startModelServer({ script: obey, law: "none", check: "none" });
    const at = await stage({ replies: [] });
    const home = at.env["KEEL_HOME"] ?? "";
    mkdirSync(home, { recursive: true });
    const own = {
      command: process.execPath,
      args: [path.join(folder(), "node_modules", agent.program), ...agent.args],
      env: agent.env(model.url),
    };
    writeFileSync(path.join(home, "settings.json"), JSON.stringify({ acpAgents: { foreign: own } }));
    const served = serve(at);
    const { handlers } = served.workspaces;
    const made = await handlers.createWorkspace({
      cwd: at.cwd,
      workers: [{ kind: "agent", engine: "acp", command: ["foreign"] }],
    });
    const worker = made.workers[0]?.id ?? "";
    const heard = follow(served, worker);
    let turns = 0;
    const say = async (content: string, during?: () => Promise<void>): Promise<void> => {
      await handlers.tellWorker({ worker, content });
      await during?.();
      turns += 1;
      await heard.until(`the end of ${content}`, () => heard.turns() === turns);
    };
    return { at, model, served, handlers, worker, say, ...heard };
  }

  test("a conversation, its questions, a cancel, and its history over a restart", {
    timeout: 600_000,
  }, async () => {
    verifies("P4");
    if (agent.needs !== undefined && !existsSync(path.join(folder(), "node_modules", agent.needs)))
      return notRunHere(agent.name, `the registry has no ${agent.needs}`);
    const { at, model, served, handlers, worker, say, until, of, text, openAsk } = await opened();
    try {
      await say("say: hello there");
      expect(text()).toContain("hello there");
      const ends = () => of("turn.finished").map(({ reason }) => reason);
      expect(ends()).toEqual(["completed"]);

      const answer = (verdict: "allow" | "deny") => async (): Promise<void> => {
        await until("the question", () => openAsk() !== undefined);
        expect(await entry(served)).toMatchObject({ activity: "asking", asks: 1 });
        expect(JSON.stringify(openAsk()?.body)).toContain(`touch ${verdict}.txt`);
        expect(existsSync(path.join(at.cwd, `${verdict}.txt`))).toBe(false);
        await handlers.answerWorker({ worker, ask: openAsk()?.id ?? "", verdict });
      };
      await say(agent.run("touch allow.txt"), answer("allow"));
      expect(existsSync(path.join(at.cwd, "allow.txt"))).toBe(true);
      await say(agent.run("touch deny.txt"), answer("deny"));
      expect(existsSync(path.join(at.cwd, "deny.txt"))).toBe(false);

      await say("wait: 2000", async () => {
        await until("its first words", () => of("text.delta").some((event) => event.text.includes("This")));
        await handlers.interruptWorker({ worker });
      });
      expect(ends().at(-1)).toBe("interrupted");
      await say("say: still here");
      expect(text()).toContain("still here");

      const said = text();
      const again = await restarted(at, served);
      const after = follow(again, worker);
      await after.until("what was said", () => after.text() === said);
      await again.workspaces.handlers.tellWorker({ worker, content: "say: after the restart" });
      await after.until("the next", () => after.text().endsWith("after the restart"));
      // It knows what was said: the model is sent it again.
      const body = JSON.stringify(model.requests.at(-1)?.body);
      expect(body.includes("hello there")).toBe(true);
      expect(readFileSync(path.join(at.cwd, "allow.txt"), "utf8")).toBe("");
    } finally {
      await model.close();
    }
  });
});
