// Our kit for the Agent Client Protocol, version 1, on the built `keel acp`: each requirement is a test of its own. Beside
// it an agent that breaks rules on purpose: a kit that finds nothing proves nothing.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { checkAcp } from "../../keel/src/testing/acp/kit.ts";
import { type AcpRequirementId, acpRequirements } from "../../keel/src/testing/acp/requirements.ts";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { command, openStage } from "./stage.ts";

const schema = JSON.parse(
  readFileSync(
    path.resolve(import.meta.dirname, "../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"),
    "utf8",
  ),
);
const ids = Object.keys(acpRequirements) as AcpRequirementId[];
const long = replyWith({ chunkChars: 1, betweenMs: 20 }, "a".repeat(2_000));
const limits = { answerMs: 20_000, quietMs: 300 };

/** What Keel does not announce, and what is about agents without a login. */
const notAnnounced: readonly AcpRequirementId[] = ["ACP-PROMPTCAP-002", "ACP-AUTH-004", "ACP-AUTH-005"];

test("the kit has the 56 requirements of version 1", () => {
  expect(new Set(ids).size).toBe(56);
});

describe("keel acp", () => {
  test.each(ids.map((id) => [id, acpRequirements[id].says] as const))("%s: %s", async (id) => {
    verifies("P3", "P58");
    const stage = await openStage((_: unknown, { lastUser }) =>
      lastUser.includes("a long one") ? long : reply("Hello."),
    );
    const verdict = await checkAcp(id, {
      agent: { command, parameters: ["acp"], env: { PATH: process.env["PATH"], ...stage.env } },
      folder: stage.project,
      schema,
      longPrompt: "a long one",
      authMethod: "api-key",
      limits,
    });
    const state = notAnnounced.includes(id) ? "not-applicable" : "holds";
    expect(verdict, verdict.why).toMatchObject({ state });
  });
});

describe("an agent that breaks rules", () => {
  const broken = path.resolve(import.meta.dirname, "../fixtures/broken-acp-agent.mjs");

  /** Those that such an agent can break, each by its own fault. */
  const found = ids.filter((id) => acpRequirements[id].tier !== "told" && id !== "ACP-AUTH-005");

  test.each(found)("fails %s", async (id) => {
    const stage = await openStage(() => reply("never asked"));
    const verdict = await checkAcp(id, {
      agent: { command: process.execPath, parameters: [broken, id] },
      folder: stage.project,
      schema,
      authMethod: "key",
      logout: "allowed",
      limits: { answerMs: 1_000, quietMs: 200 },
    });
    expect(verdict).toMatchObject({ id, state: "fails", why: expect.any(String) });
  });
});
