// How a query ends whose last result is a failure, as the interface has it (seen with SDK 0.3.325): the result is told,
// then the iterator throws, with the result's text. In this process and in one of its own.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { UserMessage } from "../../keel/src/sdk/messages/read-content.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import type { Prompt } from "../../keel/src/sdk/query/conversation.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { createSession } from "../../keel/src/sdk/query/session.ts";
import { httpError, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { all, heard, sdkStage } from "../support/sdk-stage.ts";

const refused = httpError(401);
const refusal = "The provider refused the key: scripted error 401";
const thrownWith = (text: string) => ({
  code: "result_failed",
  message: `Claude Code returned an error result: ${text}`,
});
const list = reply(toolUse("Bash", { command: "ls" }));

const said = (content: string): UserMessage => ({ type: "user", message: { role: "user", content } });

/** The next is said when the one before has its result. */
function oneByOne(...words: string[]): {
  prompt: AsyncIterable<UserMessage>;
  hear(message: SDKMessage): void;
} {
  let answered = Promise.withResolvers<void>();
  async function* prompt(): AsyncGenerator<UserMessage> {
    for (const word of words) {
      yield said(word);
      await answered.promise;
      answered = Promise.withResolvers();
    }
  }
  return { prompt: prompt(), hear: ({ type }) => type === "result" && answered.resolve() };
}

const resultsIn = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) => (message.type === "result" ? [message] : []));

describe.each(["none", "process"] as const)("isolation %s", (isolation) => {
  async function ask(script: Script, prompt: Prompt, more: Partial<Options> = {}) {
    const { options } = await sdkStage(script);
    return query({ prompt, options: { ...options, isolation, ...more } });
  }

  test.each<[string, Script, Partial<Options>, string, RegExp]>([
    ["a refused key", { replies: [refused] }, {}, "success", /^The provider refused the key/],
    [
      "the limit of turns",
      { replies: [list] },
      { maxTurns: 1 },
      "error_max_turns",
      /^Reached maximum number of turns \(1\)$/,
    ],
    [
      "the budget",
      { replies: [list] },
      { maxBudgetUsd: 0.000_01 },
      "error_max_budget_usd",
      /^Reached maximum budget/,
    ],
    [
      "no structured answer",
      { replies: [], otherwise: reply("words") },
      { outputFormat: { type: "json_schema", schema: { type: "object" } } },
      "error_max_structured_output_retries",
      /structured/,
    ],
  ])("%s: the result, then it throws with its text", async (_, script, options, subtype, text) => {
    const { messages, thrown } = await heard(await ask(script, "go", options));
    const last = messages.at(-1);
    expect(last).toMatchObject({ type: "result", subtype, is_error: true });
    const [result] = resultsIn(messages);
    const words = result?.subtype === "success" ? result.result : result?.errors.join("; ");
    expect(words).toMatch(text);
    expect(thrown).toMatchObject(thrownWith(words ?? ""));
  });

  test("a streamed prompt whose last result failed throws, at the end of the prompt", async () => {
    const { prompt, hear } = oneByOne("one", "two");
    const running = await ask({ replies: [reply("good"), refused] }, prompt);
    const messages: SDKMessage[] = [];
    const reading = (async () => {
      for await (const message of running) {
        messages.push(message);
        hear(message);
      }
    })();
    await expect(reading).rejects.toMatchObject(thrownWith(refusal));
    expect(resultsIn(messages).map(({ is_error }) => is_error)).toEqual([false, true]);
  });

  test("a failure that another result follows is over", async () => {
    const { prompt, hear } = oneByOne("one", "two");
    const running = await ask({ replies: [refused, reply("good")] }, prompt);
    const messages: SDKMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      hear(message);
    }
    expect(resultsIn(messages).map(({ is_error }) => is_error)).toEqual([true, false]);
  });

  test("who closes the query is thrown nothing", async () => {
    async function* open(): AsyncGenerator<UserMessage> {
      yield said("one");
      await pause(60_000, undefined, { ref: false });
    }
    const running = await ask({ replies: [refused] }, open());
    const messages: SDKMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      if (message.type === "result") running.close();
    }
    expect(resultsIn(messages)).toMatchObject([{ is_error: true }]);
  });

  test("an interrupted turn that is the last throws too", async () => {
    const slow = replyWith({ betweenMs: 300 }, "one two three four five six seven eight nine ten");
    const running = await ask({ replies: [slow] }, "go", { includePartialMessages: true });
    let thrown: unknown;
    let interrupted: Promise<unknown> | undefined;
    const messages: SDKMessage[] = [];
    try {
      for await (const message of running) {
        messages.push(message);
        if (message.type === "stream_event") interrupted ??= running.interrupt();
      }
    } catch (caught) {
      thrown = caught;
    }
    await interrupted;
    expect(resultsIn(messages)).toMatchObject([{ subtype: "error_during_execution" }]);
    expect(thrown).toMatchObject(thrownWith("Interrupted"));
  });

  test("a session that nobody knows", async () => {
    const resume = "99999999-9999-4999-8999-999999999999";
    const { messages, thrown } = await heard(await ask({ replies: [] }, "go", { resume }));
    expect(messages).toMatchObject([{ type: "result", subtype: "error_during_execution" }]);
    expect(thrown?.message).toBe(
      `Claude Code returned an error result: No conversation found with session ID: ${resume}`,
    );
  });
});

test("a session object ends its stream with the result: it goes on", async () => {
  const { options } = await sdkStage({ replies: [refused, reply("good")] });
  await using session = await createSession(options);
  for (const failed of [true, false]) {
    await session.send("go");
    expect(resultsIn(await all(session.stream()))).toMatchObject([{ is_error: failed }]);
  }
});
