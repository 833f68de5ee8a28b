// Our kit for the Agent Client Protocol, version 1, on the built `keel acp`: each requirement is a test of its own. Beside
// it an agent that breaks rules on purpose: a kit that finds nothing proves nothing.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { checkAcp } from "../../keel/src/testing/acp/kit.ts";
import { type AcpRequirementId, acpRequirements } from "../../keel/src/testing/acp/requirements.ts";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { inNewFolder, judged, schemaOf, withKeel } from "./acp-verdicts.ts";

const schema = await schemaOf(1);
const ids = Object.keys(acpRequirements) as AcpRequirementId[];
const long = replyWith({ chunkChars: 1, betweenMs: 20 }, "a".repeat(2_000));

/** What Keel does not announce, and what is about agents without a login. */
const notAnnounced: readonly AcpRequirementId[] = ["ACP-PROMPTCAP-002", "ACP-AUTH-004", "ACP-AUTH-005"];

test("the kit has the 56 requirements of version 1", () => {
  expect(new Set(ids).size).toBe(56);
});

describe("keel acp", () => {
  const script = (_: unknown, { lastUser }: { lastUser: string }) =>
    lastUser.includes("a long one") ? long : reply("Hello.");
  const verdictOf = judged(ids, (id) =>
    withKeel(script, ["acp"], (stage) =>
      checkAcp(id, { ...stage, ...schema, longPrompt: "a long one", authMethod: "api-key" }),
    ),
  );

  test.each(ids.map((id) => [id, acpRequirements[id].says] as const))("%s: %s", (id) => {
    verifies("P3", "P58");
    const verdict = verdictOf(id);
    const state = notAnnounced.includes(id) ? "not-applicable" : "holds";
    expect(verdict, verdict.why).toMatchObject({ state });
  });
});

describe("an agent that breaks rules", () => {
  const broken = path.resolve(import.meta.dirname, "../fixtures/broken-acp-agent.mjs");

  /** Those that such an agent can break, each by its own fault. */
  const found = ids.filter((id) => acpRequirements[id].tier !== "told" && id !== "ACP-AUTH-005");
  const verdictOf = judged(found, (id) =>
    inNewFolder((folder) =>
      checkAcp(id, {
        agent: { command: process.execPath, parameters: [broken, id] },
        folder,
        ...schema,
        authMethod: "key",
        logout: "allowed",
        limits: { answerMs: 1_000, quietMs: 1_000 },
      }),
    ),
  );

  test.each(found)("fails %s", (id) => {
    expect(verdictOf(id)).toMatchObject({ id, state: "fails", why: expect.any(String) });
  });
});
