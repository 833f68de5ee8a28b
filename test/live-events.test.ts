// Live events have schemas as durable ones do: whatever a session shows is what its schema says, and nothing beside it.
import { describe, expect, test } from "vitest";
import { type Envelope, envelopeSchema, isDurable } from "../keel/src/protocol/event/envelope.ts";
import { liveEventSchema } from "../keel/src/protocol/event/live.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../keel/src/testing/reply.ts";
import { openTestSession } from "./support/test-session.ts";
import { changeTool, lookTool } from "./support/test-tools.ts";
import { wordsStage } from "./support/words-stage.ts";

const hook = { type: "command", command: `printf '{"systemMessage":"seen"}'; sleep 1.5` };
const settings = { hooks: { PreToolUse: [{ hooks: [hook] }] }, permissions: { allow: ["Bash"] } };

/** One session in which everything is shown that can be: a reply that breaks off, a hook, a command, a tool. */
async function everythingShown(): Promise<Envelope[]> {
  const stage = await wordsStage({
    home: { ".keel/settings.json": JSON.stringify(settings) },
    script: {
      replies: [
        replyWith({ fault: { kind: "cut", afterEvents: 3 } }, "half a sentence that nobody will see"),
        reply(
          thinking("Let me look.", "sig"),
          "I look.",
          toolUse("Bash", { command: "echo one; sleep 0.3; echo two" }),
        ),
        reply("Done."),
      ],
    },
  });
  await stage.say("go");
  await stage.say("/cost");
  await stage.session.close("ended");
  return stage.events;
}

describe("live events", () => {
  test("of a whole session are all of a kind that has a schema, and fit it", async () => {
    const events = await everythingShown();
    const shown = new Set(events.filter((event) => !isDurable(event)).map(({ type }) => type));
    const known = liveEventSchema.def.options.flatMap((option) => option.shape.type.def.values);
    expect([...shown].sort()).toEqual([...known].sort());
    for (const event of events) expect(envelopeSchema.parse(event)).toEqual(event);
  });

  test("of scripted sessions that go wrong fit their schemas", async () => {
    const scripts = [
      [httpError(529), reply("Done.")],
      [httpError(400)],
      [reply(toolUse("Look", { at: "1" }), toolUse("Change", {}), toolUse("Nothing", {})), reply("Done.")],
      [reply({ type: "thinking", text: "", hidden: "secret" }, "Done.")],
      [replyWith({ fault: { kind: "reset" } }), reply("Done.")],
    ];
    for (const replies of scripts) {
      const { say, events } = await openTestSession({
        script: { replies },
        tools: [lookTool([]), changeTool([])],
      });
      await say("go");
      for (const event of events) expect(envelopeSchema.parse(event)).toEqual(event);
    }
  });

  test("that are none are refused", () => {
    const at = { at: 1, session: "s" };
    expect(envelopeSchema.safeParse({ ...at, type: "text.delta", requestId: "r", index: 0 }).success).toBe(
      false,
    );
    expect(envelopeSchema.safeParse({ ...at, type: "text.added", text: "" }).success).toBe(false);
    expect(envelopeSchema.safeParse({ type: "command.answered", name: "cost", text: "" }).success).toBe(
      false,
    );
  });
});
