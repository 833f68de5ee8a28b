// Our kit for the draft of version 2 on the built `keel acp --protocol 2`: each requirement is a test of its own. Beside
// it an agent that breaks rules on purpose: a kit that finds nothing proves nothing.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { checkAcpV2 } from "../../keel/src/testing/acp/kit.ts";
import { type AcpRequirementIdV2, acpRequirementsV2 } from "../../keel/src/testing/acp/requirements-v2.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { inNewFolder, judged, limits, schemaOf, withKeel } from "./acp-verdicts.ts";

const schema = await schemaOf(2);
const ids = Object.keys(acpRequirementsV2) as AcpRequirementIdV2[];
const long = replyWith({ chunkChars: 1, betweenMs: 20 }, "a".repeat(2_000));

/** What Keel does not announce, and what is about agents without a login. */
const notAnnounced: readonly AcpRequirementIdV2[] = ["ACP-PROMPTCAP-002", "ACP-AUTH-205"];

const plan = toolUse("TaskCreate", { subject: "Look", description: "Look at it" });
const run = toolUse("Bash", { command: "echo kit > kit.txt; cat kit.txt" });

test("the kit has the 106 requirements of version 2", () => {
  expect(new Set(ids).size).toBe(106);
});

describe("keel acp --protocol 2", () => {
  const verdictOf = judged(ids, (id) => {
    let asked = 0;
    const script = (_: unknown, { lastUser }: { lastUser: string }) => {
      if (lastUser.includes("a long one")) return long;
      return lastUser.includes("with tools") && asked++ === 0 ? reply(plan, run) : reply("Hello.");
    };
    return withKeel(script, ["acp", "--protocol", "2"], (stage) =>
      checkAcpV2(id, {
        ...stage,
        ...schema,
        longPrompt: "a long one",
        askPrompt: "one with tools",
        authMethod: "api-key",
        logout: "allowed",
      }),
    );
  });

  test.each(ids.map((id) => [id, acpRequirementsV2[id].says] as const))("%s: %s", (id) => {
    verifies("P3", "P58");
    const verdict = verdictOf(id);
    const state = notAnnounced.includes(id) ? "not-applicable" : "holds";
    expect(verdict, verdict.why).toMatchObject({ state });
  });
});

describe("an agent that breaks rules of version 2", () => {
  const broken = path.resolve(import.meta.dirname, "../fixtures/broken-acp2-agent.mjs");
  const optionsFor = (folder: string, rule: string) => ({
    agent: { command: process.execPath, parameters: [broken, rule] },
    folder,
    ...schema,
    ...(rule === "ACP-AUTH-205" ? {} : { authMethod: "key" }),
    logout: "allowed" as const,
    limits: { answerMs: 1_000, quietMs: 400 },
  });

  /** Those that are judged: the others only record. */
  const found = ids.filter((id) => acpRequirementsV2[id].tier !== "told");
  const verdictOf = judged(found, (id) => inNewFolder((folder) => checkAcpV2(id, optionsFor(folder, id))));

  test.each(found)("fails %s", (id) => {
    const verdict = verdictOf(id);
    expect(verdict, verdict.why).toMatchObject({ id, state: "fails", why: expect.any(String) });
  });

  const verdictOfNone = judged(ids, (id) =>
    inNewFolder((folder) => checkAcpV2(id, { ...optionsFor(folder, "none"), limits })),
  );

  test("and one that breaks none fails none", () => {
    const fails = ids.map(verdictOfNone).filter(({ state }) => state === "fails");
    expect(fails.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
  });
});
