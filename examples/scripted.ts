// A stage for the examples: a scripted model on this machine in place of a provider, and a folder that vanishes.
// A program of your own needs nothing of it: set ANTHROPIC_API_KEY, and what the guide shows runs as it stands.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ModelServer, type Script, startModelServer } from "keel/testing";

export type Stage = { readonly cwd: string; readonly server: ModelServer } & AsyncDisposable;

/** From now on the process is in the folder, and its environment names the scripted model. */
export async function stage(script: Script): Promise<Stage> {
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-example-")));
  const server = await startModelServer({ script });
  const back = process.cwd();
  process.chdir(cwd);
  Object.assign(process.env, {
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "scripted",
    KEEL_MODEL: "claude-sonnet-4-5",
    KEEL_HOME: path.join(cwd, ".home"),
  });
  return {
    cwd,
    server,
    async [Symbol.asyncDispose]() {
      await server.close();
      process.chdir(back);
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}
