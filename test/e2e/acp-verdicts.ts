// The kits for the Agent Client Protocol wait a lot, mostly for what must not come: requirements are judged a few at a
// time, each with an agent and a home of its own, and each has its test afterwards.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll } from "vitest";
import { schemaCheck } from "../../keel/src/testing/acp/schema-check.ts";
import type { AcpKitOptions } from "../../keel/src/testing/acp/stage.ts";
import type { ModelServerOptions } from "../../keel/src/testing/model-server.ts";
import { atOnce } from "../support/at-once.ts";
import { command, openStage, type Stage } from "./stage.ts";

const limitMs = 300_000;

/** Longer than a test alone would need: others run beside it. */
export const limits = { answerMs: 20_000, quietMs: 400 };

/** Judges all before the tests of the file or the group; what comes back finds the verdict of one. */
export function judged<Id extends string, Verdict>(
  ids: readonly Id[],
  judge: (id: Id) => Promise<Verdict>,
): (id: Id) => Verdict {
  const verdicts = new Map<Id, Verdict>();
  beforeAll(async () => {
    await atOnce(5, ids, async (id) => verdicts.set(id, await judge(id)));
  }, limitMs);
  return (id) => {
    const verdict = verdicts.get(id);
    if (verdict === undefined) throw new Error(`${id} was not judged.`);
    return verdict;
  };
}

/** The schema as the protocol publishes it, made ready once for all requirements. */
export async function schemaOf(version: 1 | 2): Promise<Pick<AcpKitOptions, "schema" | "schemaCheck">> {
  const schemas = path.resolve(import.meta.dirname, "../../node_modules/@agentclientprotocol/sdk/schema");
  const schema = JSON.parse(await readFile(path.join(schemas, `v${version}/schema.json`), "utf8"));
  return { schema, schemaCheck: await schemaCheck(schema) };
}

/** The built command at a model that follows the script, for one requirement. */
export async function withKeel<T>(
  script: ModelServerOptions["script"],
  parameters: readonly string[],
  judge: (options: Pick<AcpKitOptions, "agent" | "folder" | "limits">) => Promise<T>,
): Promise<T> {
  const closing: (() => Promise<void>)[] = [];
  const stage: Stage = await openStage(script, {}, (close) => closing.push(close));
  try {
    return await judge({
      agent: { command, parameters: [...parameters], env: { PATH: process.env["PATH"], ...stage.env } },
      folder: stage.project,
      limits,
    });
  } finally {
    for (const close of closing) await close();
  }
}

export async function inNewFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "keel-acp-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
