// The adapter for the harness interface of the AI SDK, driven by that package's own agent: its sandbox is this machine, as
// processes in a folder of the test.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import type { HarnessV1NetworkSandboxSession, HarnessV1SandboxProvider } from "@ai-sdk/harness";
import { HarnessAgent } from "@ai-sdk/harness/agent";
import { expect, test } from "vitest";
import { keelHarness } from "../../examples/ai-sdk/keel-harness.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { command, openStage, type Stage } from "./stage.ts";

type Started = Parameters<HarnessV1NetworkSandboxSession["spawn"]>[0];

/** What the agent calls a sandbox: here nothing but a folder. */
function folderAsSandbox({ project }: Stage): HarnessV1SandboxProvider {
  const at = (name: string): string => path.resolve(project, name);
  const start = ({ command: line, workingDirectory = project, env }: Started) =>
    spawn("sh", ["-c", line], {
      cwd: at(workingDirectory),
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const ended = (child: ReturnType<typeof start>) =>
    new Promise<{ exitCode: number }>((resolve) =>
      child.on("close", (code) => resolve({ exitCode: code ?? 1 })),
    );
  const web = (stream: Readable) => Readable.toWeb(stream) as ReadableStream<Uint8Array>;
  const none = async (): Promise<never> => {
    throw new Error("not here");
  };
  const write = async ({
    path: name,
    content,
  }: {
    path: string;
    content: string | Uint8Array;
  }): Promise<void> => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  };
  const session: HarnessV1NetworkSandboxSession = {
    id: "folder",
    description: "a folder",
    defaultWorkingDirectory: project,
    ports: [],
    getPortUrl: none,
    getPortEndpoint: none,
    stop: async () => undefined,
    destroy: async () => undefined,
    restricted: () => session,
    readFile: none,
    readBinaryFile: async ({ path: name }) => (existsSync(at(name)) ? readFileSync(at(name)) : null),
    readTextFile: async ({ path: name }) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : null),
    writeFile: none,
    writeBinaryFile: write,
    writeTextFile: write,
    async spawn(options) {
      const child = start(options);
      const end = ended(child);
      return {
        stdout: web(child.stdout),
        stderr: web(child.stderr),
        wait: () => end,
        kill: async () => void child.kill(),
      };
    },
    async run(options) {
      const child = start(options);
      const said = { stdout: "", stderr: "" };
      child.stdout.on("data", (bytes) => (said.stdout += bytes));
      child.stderr.on("data", (bytes) => (said.stderr += bytes));
      return { ...(await ended(child)), ...said };
    },
  };
  return {
    specificationVersion: "harness-sandbox-v1",
    providerId: "folder",
    createSession: async () => session,
    resumeSession: async () => session,
  };
}

test("an agent of the AI SDK runs Keel: its answer, its calls, its usage, and a second turn in the same session", async () => {
  verifies("P55");
  const stage = await openStage({
    replies: [
      reply(toolUse("Write", { file_path: "note.txt", content: "tea\n" })),
      reply('Written, it\'s "done".'),
      reply(toolUse("Bash", { command: "echo no > refused.txt" })),
      reply("That was refused."),
    ],
  });
  const agent = new HarnessAgent({
    harness: keelHarness({ command, env: { ...stage.env, ANTHROPIC_API_KEY: "none" } }),
    sandbox: folderAsSandbox(stage),
    permissionMode: "allow-edits",
  });
  const session = await agent.createSession();
  const first = await agent.generate({ session, prompt: "Write 'tea' into note.txt; --help" });
  expect(first.text).toContain('Written, it\'s "done".');
  expect(first.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual([
    ["Write", { file_path: "note.txt", content: "tea\n" }],
  ]);
  expect(first.totalUsage.inputTokens).toBeGreaterThan(0);
  const second = await agent.generate({ session, prompt: "And run it" });
  expect(second.text).toContain("That was refused.");
  // The second turn knows the first, and nobody could be asked.
  const last = JSON.stringify(stage.server.requests.at(-1)?.body);
  expect(last).toContain("Write 'tea' into note.txt; --help");
  expect(last).toContain("is_error");
  expect(stage.sessions()).toHaveLength(1);
  await session.destroy();
});
