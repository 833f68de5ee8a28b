// A folder, a home and a scripted model for tests of the SDK: everything real but the model's mind.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished, vi } from "vitest";
import { type DurableEvent, durableEventSchema } from "../../keel/src/protocol/event/durable.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import type { Script } from "../../keel/src/testing/script.ts";

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
  // A boundary is on disk before the request that it explains; what is kept in memory shows itself.
  const law = requestLaw({ log: (session) => logged(home, session) });
  const server = await startModelServer({ script, law });
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

/** What the requests of a session cost, those beside its conversation included. */
export function chargesIn(events: readonly DurableEvent[]): { count: number; sumUsd: number } {
  const charges = events.flatMap((event) =>
    event.type === "model.finished" || event.type === "model.consulted" ? [event.costUsd ?? 0] : [],
  );
  return { count: charges.length, sumUsd: charges.reduce((sum, cost) => sum + cost, 0) };
}

/** The events of a session as they stand in its log. */
export function logged(home: string, session: string): DurableEvent[] {
  const files = existsSync(home) ? readdirSync(home, { recursive: true, encoding: "utf8" }) : [];
  const file = files.find((name) => name.endsWith(`${session}.jsonl`));
  if (file === undefined) return [];
  const text = readFileSync(path.join(home, file), "utf8");
  // The next line may be written at this very moment.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter(Boolean).flatMap((line) => {
    const event = durableEventSchema.safeParse(JSON.parse(line));
    return event.success ? [event.data] : [];
  });
}

/** Messages, and what the iterator threw after them. */
export async function heard<T>(messages: AsyncIterable<T>): Promise<{ messages: T[]; thrown?: Error }> {
  const heardOf: T[] = [];
  try {
    for await (const message of messages) heardOf.push(message);
  } catch (thrown) {
    return { messages: heardOf, thrown: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
  return { messages: heardOf };
}

export async function all<T>(messages: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(messages);
}
