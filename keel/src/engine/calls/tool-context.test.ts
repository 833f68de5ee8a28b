// What a tool has when it runs: its call, the session's files, a way to ask and a way to show how far it is.
import { expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { anyInput } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import { text } from "../../protocol/message.ts";
import { reply, toolUse } from "../../testing/reply.ts";

test("a tool knows its call and its session, asks, and shows how far it is while it runs", async () => {
  verifies("S4.2", "S4.6");
  const tool = defineTool({
    name: "Curious",
    description: "Asks.",
    input: anyInput,
    traits: { readOnly: true },
    claims: async () => [],
    async *run(_, context) {
      yield { kind: "text", text: `half of ${context.callId}` };
      const answer = await context.ask({
        kind: "question",
        title: "Which?",
        body: { kind: "text", text: "" },
        options: [],
      });
      return {
        content: [text(`for the model: ${answer.verdict} in ${context.session}`)],
        display: { kind: "text", text: "for a screen" },
      };
    },
  }) as Tool;
  const { say, all, session } = await openTestSession({
    tools: [tool],
    script: { replies: [reply(toolUse("Curious", {}, "c1")), reply("Done.")] },
  });
  await say("go");
  expect(all("tool.progress")).toMatchObject([{ callId: "c1", display: { text: "half of c1" } }]);
  expect(all("ask.opened")).toMatchObject([{ ask: { title: "Which?", callId: "c1", tool: "Curious" } }]);
  expect(all("tool.finished")).toMatchObject([{ display: { text: "for a screen" }, failed: false }]);
  const sent = JSON.stringify(session.state.history);
  expect(sent).toContain(`for the model: allow in ${session.id}`);
  expect(sent).not.toContain("for a screen");
});
