// What is shown, what is approved and what runs are the same bytes, and an approval is used once.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { seed } from "../../../test/support/budget.ts";
import { openTestSession } from "../../../test/support/test-session.ts";
import { changeTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { canonicalJson } from "../kernel/json.ts";
import { schemaOf } from "../kernel/schema.ts";
import { fingerprint, hiddenCharacters } from "../kernel/text.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import type { Ask } from "../protocol/ask.ts";
import { text } from "../protocol/message.ts";
import { reply, toolUse } from "../testing/reply.ts";

/** Runs nothing: it notes what it would run. */
const noting = (ran: string[]): Tool =>
  defineTool({
    name: "Bash",
    description: "Notes a command.",
    input: schemaOf(z.object({ command: z.string() })),
    claims: async ({ command }) => [{ action: "execute", target: command }],
    async *run({ command }) {
      ran.push(command);
      return { content: [text("done")], display: { kind: "text", text: "done" } };
    },
  }) as Tool;

const signs = fc.oneof(
  fc.constantFrom(..."rm -rf;&|$(`'\"\\\n\t\r\0\v\f\x1b\x7f "),
  fc.constantFrom(
    "\u202e",
    "\u2066",
    "\u200b",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\u3164",
    "\u{e0041}",
    "é",
    "𝒜",
  ),
  fc.constantFrom(" ".repeat(40), "\t".repeat(20), "\u001b[2K\u001b[1A", "ls #"),
);

test("what is shown hides nothing, what runs is what was approved, to the last sign", async () => {
  verifies("G31");
  await fc.assert(
    fc.asyncProperty(fc.array(signs, { minLength: 1, maxLength: 30 }), async (pieces) => {
      const command = pieces.join("");
      const ran: string[] = [];
      const asked: Ask[] = [];
      const { say } = await openTestSession({
        tools: [noting(ran)],
        script: { replies: [reply(toolUse("Bash", { command }, "c1")), reply("Done.")] },
        answer: (ask) => {
          asked.push(ask);
          return { verdict: "allow" };
        },
      });
      await say("go");
      const [ask] = asked;
      if (ran.length === 0 && !ask) return;
      expect(ran).toEqual([command]);
      // Whatever was allowed without a question had nothing that hides.
      if (!ask) return expect(hiddenCharacters(command)).toEqual([]);
      const shown = ask.body.kind === "terminal" ? ask.body.command : "";
      expect(hiddenCharacters(shown)).toEqual([]);
      expect(shown).not.toMatch(/[ \t]{16}/);
      const claims = [{ action: "execute", target: command }];
      expect(ask.id).toBe(`c1:permission:${fingerprint(canonicalJson([{ command }, claims]))}`);
    }),
    { numRuns: 300, seed: seed() },
  );
});

describe("an approval", () => {
  test("is for one call: the same call is asked about again", async () => {
    verifies("G31");
    const trace: string[] = [];
    const { say, all } = await openTestSession({
      tools: [changeTool(trace)],
      script: {
        replies: [
          reply(toolUse("Change", { at: "1" }, "c1")),
          reply(toolUse("Change", { at: "1" }, "c2")),
          reply("Done."),
        ],
      },
      answer: () => ({ verdict: "allow", option: "once" }),
    });
    await say("go");
    expect(all("ask.opened")).toHaveLength(2);
    expect(new Set(all("ask.opened").map(({ ask }) => ask.id)).size).toBe(2);
  });

  test("that comes twice, late, for another question or for none has a clear reply and no effect", async () => {
    verifies("G31");
    const trace: string[] = [];
    const { session, say, all } = await openTestSession({
      tools: [changeTool(trace)],
      script: {
        replies: [reply(toolUse("Change", { at: "1" }, "c1")), reply("Done."), reply("Again done.")],
      },
      answer: () => ({ verdict: "deny", option: "no" }),
    });
    await say("go");
    const askId = all("ask.opened")[0]?.ask.id ?? "";
    const answer = (id: string) =>
      session.submit({ type: "answer", askId: id, answer: { verdict: "allow" }, by: "host" });
    expect(await answer(askId)).toEqual({
      type: "late",
      askId,
      why: expect.stringMatching(/closed|unknown/),
    });
    expect(await answer("c1:permission:another")).toMatchObject({ type: "late", why: "unknown" });
    await say("more");
    expect(await answer(askId)).toMatchObject({ type: "late" });
    expect(trace).toEqual([]);
    expect(all("ask.closed")).toHaveLength(1);
  });
});
