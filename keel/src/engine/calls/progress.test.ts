// A call that says nothing still tells how long it has been running.
import { expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { anyInput } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import { text } from "../../protocol/message.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { reply, toolUse } from "../../testing/reply.ts";

test("a silent call tells its time each second, ever less often, and nothing after its end", async () => {
  verifies("S0.51", "S2.26");
  const clock = fakeClock();
  const silent = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "Silent",
    description: "Says nothing.",
    input: anyInput,
    async *run() {
      begun.resolve();
      await silent.promise;
      return { content: [text("done")], display: { kind: "text", text: "" } };
    },
  }) as Tool;
  const { say, all } = await openTestSession({
    clock,
    tools: [tool],
    script: { replies: [reply(toolUse("Silent", {}, "s")), reply("Done.")] },
  });
  const told = () => all("tool.progress").map(({ elapsedMs }) => elapsedMs);
  const done = say("go");
  await begun.promise;
  await clock.advance(3_500);
  expect(told()).toEqual([1_000, 2_000, 3_000]);
  expect(all("tool.progress")[0]).toMatchObject({ callId: "s", tool: "Silent" });
  expect(all("tool.progress")[0]).not.toHaveProperty("display");
  await clock.advance(3_600_000);
  expect(told().length).toBeLessThan(200);
  expect((told().at(-1) ?? 0) - (told().at(-2) ?? 0)).toBe(30_000);
  silent.resolve();
  await done;
  const before = told().length;
  await clock.advance(60_000);
  expect(told()).toHaveLength(before);
});
