// A folder, a home and a scripted model for tests of the SDK: everything real but the model's mind.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished, vi } from "vitest";
import type { Options } from "../keel/src/sdk/options.ts";
import { type ModelServer, startModelServer } from "../keel/src/testing/model-server.ts";
import type { Script } from "../keel/src/testing/script.ts";

export type SdkStage = {
  readonly cwd: string;
  readonly home: string;
  readonly server: ModelServer;
  readonly options: Options & { readonly cwd: string };
};

/** The home is also the process's own while the test runs: the session functions know no other. */
export async function sdkStage(script: Script): Promise<SdkStage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-sdk-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  const home = path.join(folder, "home");
  mkdirSync(cwd);
  vi.stubEnv("KEEL_HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    KEEL_HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test-key",
  };
  return { cwd, home, server, options: { cwd, env, model: "claude-sonnet-4-5", settingSources: [] } };
}

export async function all<T>(messages: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(messages);
}
