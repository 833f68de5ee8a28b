// What a tool has when it runs: its call, the session's files, a way to ask and a way to show how far it is.
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { anyInput } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Json } from "../../kernel/json.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import { text } from "../../protocol/message.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

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

test("a tool says that it is not for this session, that it may destroy, and in which form its data is", async () => {
  verifies("S4.1", "S4.4");
  const make = (name: string, more: object, data: Json = { count: 1 }): Tool =>
    defineTool({
      name,
      aliases: [`${name}Alias`],
      description: name,
      input: anyInput,
      ...more,
      async *run() {
        return { content: [text(`${name} ran`)], display: { kind: "text", text: "" }, data };
      },
    }) as Tool;
  const output = schemaOf(z.object({ count: z.number() }));
  const model = scriptedModel({
    replies: [
      reply(toolUse("Off", {}, "off"), toolUse("Wipe", {}, "wipe"), toolUse("PlainAlias", {}, "plain")),
      reply(toolUse("Liar", {}, "liar")),
      reply("Done."),
    ],
  });
  const { say, all } = await openTestSession({
    model,
    tools: [
      make("Off", { enabled: false }),
      make("Wipe", { traits: { destructive: true }, output }),
      make("Plain", {}),
      make("Liar", { output }, { count: "many" }),
    ],
  });
  await say("go");
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["Wipe", "Plain", "Liar"]);
  const ends = all("tool.finished").map(({ callId, failed, invalid }) => [callId, failed, invalid ?? false]);
  expect(ends).toEqual([
    ["off", true, true],
    ["wipe", false, false],
    ["plain", false, false],
    ["liar", true, false],
  ]);
  const reasons = all("ask.opened").map(({ ask }) => ask.reason?.includes("may destroy"));
  expect(reasons).toEqual([true, false, false]);
});
