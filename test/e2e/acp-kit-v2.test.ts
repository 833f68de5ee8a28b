// Our kit for the draft of version 2 on the built `keel acp --protocol 2`: each requirement is a test of its own. Beside
// it an agent that breaks rules on purpose: a kit that finds nothing proves nothing.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { checkAcpV2 } from "../../keel/src/testing/acp/kit.ts";
import { type AcpRequirementIdV2, acpRequirementsV2 } from "../../keel/src/testing/acp/requirements-v2.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { command, openStage } from "./stage.ts";

const schema = JSON.parse(
  readFileSync(
    path.resolve(import.meta.dirname, "../../node_modules/@agentclientprotocol/sdk/schema/v2/schema.json"),
    "utf8",
  ),
);
const ids = Object.keys(acpRequirementsV2) as AcpRequirementIdV2[];
const long = replyWith({ chunkChars: 1, betweenMs: 20 }, "a".repeat(2_000));
const limits = { answerMs: 20_000, quietMs: 300 };

/** What Keel does not announce, and what is about agents without a login. */
const notAnnounced: readonly AcpRequirementIdV2[] = ["ACP-PROMPTCAP-002", "ACP-AUTH-205"];

const plan = toolUse("TaskCreate", { subject: "Look", description: "Look at it" });
const run = toolUse("Bash", { command: "echo kit > kit.txt; cat kit.txt" });

test("the kit has the 106 requirements of version 2", () => {
  expect(new Set(ids).size).toBe(106);
});

describe("keel acp --protocol 2", () => {
  test.each(ids.map((id) => [id, acpRequirementsV2[id].says] as const))("%s: %s", async (id) => {
    verifies("P3", "P58");
    let asked = 0;
    const stage = await openStage((_: unknown, { lastUser }) => {
      if (lastUser.includes("a long one")) return long;
      return lastUser.includes("with tools") && asked++ === 0 ? reply(plan, run) : reply("Hello.");
    });
    const verdict = await checkAcpV2(id, {
      agent: {
        command,
        parameters: ["acp", "--protocol", "2"],
        env: { PATH: process.env["PATH"], ...stage.env },
      },
      folder: stage.project,
      schema,
      longPrompt: "a long one",
      askPrompt: "one with tools",
      authMethod: "api-key",
      logout: "allowed",
      limits,
    });
    const state = notAnnounced.includes(id) ? "not-applicable" : "holds";
    expect(verdict, verdict.why).toMatchObject({ state });
  });
});

describe("an agent that breaks rules of version 2", () => {
  const broken = path.resolve(import.meta.dirname, "../fixtures/broken-acp2-agent.mjs");
  const optionsFor = (folder: string, rule: string) => ({
    agent: { command: process.execPath, parameters: [broken, rule] },
    folder,
    schema,
    ...(rule === "ACP-AUTH-205" ? {} : { authMethod: "key" }),
    logout: "allowed" as const,
    limits: { answerMs: 1_000, quietMs: 150 },
  });

  /** Those that are judged: the others only record. */
  const judged = ids.filter((id) => acpRequirementsV2[id].tier !== "told");

  test.each(judged)("fails %s", async (id) => {
    const stage = await openStage(() => reply("never asked"));
    const verdict = await checkAcpV2(id, optionsFor(stage.project, id));
    expect(verdict, verdict.why).toMatchObject({ id, state: "fails", why: expect.any(String) });
  });

  test("and one that breaks none fails none", { timeout: 180_000 }, async () => {
    const stage = await openStage(() => reply("never asked"));
    const options = { ...optionsFor(stage.project, "none"), limits };
    const found: string[] = [];
    const left = [...ids];
    // A few at once: most of it is waiting for what does not come.
    const judge = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const { state, why } = await checkAcpV2(id, options);
        if (state === "fails") found.push(`${id}: ${why}`);
      }
    };
    await Promise.all(Array.from({ length: 6 }, judge));
    expect(found).toEqual([]);
  });
});
