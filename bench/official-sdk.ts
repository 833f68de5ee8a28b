/** The official SDK beside Keel, where `KEEL_OFFICIAL_SDK` names a copy of it with its own executable. */
import { createInterface } from "node:readline";
import { runSpawned, type SpawnedRun } from "./spawned.ts";
import type { Bench } from "./suites/suite.ts";

const prompt = "Read the file.";

export type OfficialWish = {
  readonly cwd: string;
  readonly toolTurns: number;
  readonly call?: { readonly name: string; readonly input: object };
};

/** Undefined where none is named. Its executable asks for nothing but the model: whatever else it would send is off. */
export function officialSdk({
  programs,
  folder,
}: Bench): ((wish: OfficialWish) => Promise<SpawnedRun>) | undefined {
  const sdk = process.env["KEEL_OFFICIAL_SDK"];
  if (!sdk) return undefined;
  return async ({ cwd, toolTurns, call }) =>
    runSpawned({
      command: process.execPath,
      parameters: [programs.pathOf("programs/official-query"), JSON.stringify({ sdk, prompt })],
      env: {
        HOME: await folder(),
        ANTHROPIC_BASE_URL: "{URL}",
        ANTHROPIC_API_KEY: "bench",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
      },
      cwd,
      toolTurns,
      ...(call ? { call } : {}),
      async drive(child) {
        let readyAt: number | undefined;
        if (!child.stdout) return undefined;
        for await (const line of createInterface(child.stdout))
          if (line === "ready") readyAt = performance.now();
        return readyAt;
      },
    });
}
