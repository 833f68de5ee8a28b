// A stage for the examples: a scripted model on this machine in place of a provider, and folders that vanish.
// Leave it out in a program of your own: with ANTHROPIC_API_KEY set, the options below are not needed.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Options } from "keel";
import { type ModelServer, type Script, startModelServer } from "keel/testing";

export type Stage = {
  readonly options: Options & { cwd: string };
  readonly server: ModelServer;
} & AsyncDisposable;

export async function stage(script: Script): Promise<Stage> {
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-example-")));
  const server = await startModelServer({ script });
  // The functions that list sessions look where the process looks.
  process.env["KEEL_HOME"] = path.join(cwd, ".home");
  const env = { ...process.env, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "scripted" };
  return {
    server,
    options: { cwd, env, model: "claude-sonnet-4-5", settingSources: [] },
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}
