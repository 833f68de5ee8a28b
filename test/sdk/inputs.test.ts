// What becomes of every message that a program sends: said without a wish for an answer, cancelled, sent twice, kept.
import { describe, expect, test } from "vitest";
import type { SDKSentMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { UserMessage } from "../../keel/src/sdk/messages/read-content.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { createSession, resumeSession } from "../../keel/src/sdk/query/session.ts";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";

const said = (content: string, more: Partial<UserMessage> = {}): UserMessage => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
async function* of(...messages: UserMessage[]): AsyncGenerator<UserMessage> {
  yield* messages;
}
const results = (messages: readonly SDKSentMessage[]) => messages.filter(({ type }) => type === "result");
const id = "11111111-1111-4111-8111-111111111111";

describe("a message that asks for no answer", () => {
  test("is in the log before anything else is said, and goes with the next prompt of a later process", async () => {
    const { options, server } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const session = await createSession(options);
    await session.send("first");
    await all(session.stream());
    await session.send(said("FOR LATER", { shouldQuery: false }));
    expect(await all(session.stream())).toMatchObject([{ subtype: "init" }, { num_turns: 0 }]);
    await session.close();

    await using again = await resumeSession(session.sessionId, options);
    await again.send("second");
    await all(again.stream());
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/One\..*FOR LATER.*second/);
  });

  test("alone starts no turn, and the query ends", async () => {
    const { options, server } = await sdkStage({ replies: [] });
    const prompt = of(said("only this", { shouldQuery: false, uuid: id }));
    const messages = await all(query({ prompt, options }));
    expect(results(messages)).toMatchObject([{ num_turns: 0, is_error: false }]);
    expect(server.requests).toEqual([]);
  });

  test("is part of what hooks see of the prompt that takes it along", async () => {
    const { options } = await sdkStage({ replies: [reply("One.")] });
    const seen: string[] = [];
    const hooks = {
      UserPromptSubmit: [
        {
          hooks: [
            async (input: { hook_event_name: string; prompt?: string }) => {
              seen.push(input.prompt ?? "");
              return {};
            },
          ],
        },
      ],
    };
    const prompt = of(said("before", { shouldQuery: false }), said("after"));
    await all(query({ prompt, options: { ...options, hooks } }));
    expect(seen).toEqual(["before\nafter"]);
  });
});

describe("a message that is cancelled", () => {
  test("before its turn has a result all the same, and the session goes on", async () => {
    const { options } = await sdkStage({ replies: [reply("Now.")] });
    const entered = Promise.withResolvers<void>();
    const slow = async (_: unknown, __: unknown, { signal }: { signal: AbortSignal }) => {
      entered.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return {};
    };
    let calls = 0;
    const hook = async (...given: Parameters<typeof slow>) => (calls++ === 0 ? slow(...given) : {});
    const running = query({
      prompt: of(said("first", { uuid: id })),
      options: { ...options, keepOpen: true, hooks: { UserPromptSubmit: [{ hooks: [hook] }] } },
    });
    const messages: SDKSentMessage[] = [];
    const reading = (async () => {
      for await (const message of running) {
        messages.push(message);
        if (results(messages).length === 1 && message.type === "result")
          await running.streamInput(of(said("second")));
        if (results(messages).length === 2) running.close();
      }
    })();
    await entered.promise;
    await running.interrupt();
    await reading;
    expect(results(messages)).toMatchObject([
      {
        subtype: "error_during_execution",
        terminal_reason: "aborted_streaming",
        is_error: true,
        num_turns: 0,
      },
      { subtype: "success", result: "Now." },
    ]);
    const life = messages.flatMap((message) => (message.type === "command_lifecycle" ? [message.state] : []));
    expect(life).toEqual(["queued", "cancelled"]);
  });

  test("while another runs is told by its life alone: the running turn has the only result", async () => {
    const slow = replyWith({ betweenMs: 30, chunkChars: 5 }, "slow ".repeat(50));
    const { options } = await sdkStage({ replies: [slow], otherwise: reply("Next.") });
    const running = query({
      prompt: "go",
      options: { ...options, includePartialMessages: true, keepOpen: true },
    });
    const messages: SDKSentMessage[] = [];
    let cancelled: string[] | undefined;
    let sent = false;
    for await (const message of running) {
      messages.push(message);
      if (message.type === "stream_event" && !sent) {
        sent = true;
        await running.streamInput(of(said("queued", { uuid: id, priority: "later" })));
        ({ cancelled } = await running.interrupt({ cancelQueued: true }));
      }
      if (message.type === "result") running.close();
    }
    expect(cancelled).toEqual([id]);
    expect(results(messages)).toHaveLength(1);
    const life = messages.flatMap((message) => (message.type === "command_lifecycle" ? [message.state] : []));
    expect(life).toEqual(["queued", "cancelled"]);
  });
});

test("a message that is sent twice under one id is answered once", async () => {
  const { options, server } = await sdkStage({ replies: [reply("Once.")], otherwise: reply("Twice.") });
  const prompt = of(said("x", { uuid: id }), said("x", { uuid: id }));
  const messages = await all(query({ prompt, options }));
  expect(results(messages)).toHaveLength(1);
  expect(server.requests).toHaveLength(1);
});
