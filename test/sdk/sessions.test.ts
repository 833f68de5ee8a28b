// A session as an object, and when it ends: `send`, `stream`, `close`, `await using`, and `keepOpen`.
import { describe, expect, test } from "vitest";
import { query } from "../../keel/src/sdk/query/query.ts";
import { createSession, resumeSession, type SDKSession } from "../../keel/src/sdk/query/session.ts";
import { startup } from "../../keel/src/sdk/query/startup.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const answerOf = async (session: SDKSession): Promise<string> => {
  const messages = await all(session.stream());
  const last = messages.at(-1);
  return last?.type === "result" && last.subtype === "success" ? last.result : JSON.stringify(last);
};

describe("a session", () => {
  test("answers message after message, and goes on in another process under its id", async () => {
    verifies("S2.4");
    const { options, server } = await sdkStage({ replies: [reply("One."), reply("Two."), reply("Three.")] });
    const session = await createSession(options);
    await session.send("a");
    expect(await answerOf(session)).toBe("One.");
    await session.send({ type: "user", message: { role: "user", content: [{ type: "text", text: "b" }] } });
    expect(await answerOf(session)).toBe("Two.");
    await session.close();
    await using again = await resumeSession(session.sessionId, options);
    expect(again.sessionId).toBe(session.sessionId);
    await again.send("c");
    expect(await answerOf(again)).toBe("Three.");
    expect(JSON.stringify(server.requests[2]?.body)).toMatch(/One\..*Two\..*"c"/);
  });

  test("is closed by leaving its block, also by an error, and says so afterwards", async () => {
    const { options } = await sdkStage({ replies: [reply("One.")] });
    let left: SDKSession | undefined;
    const run = async (): Promise<void> => {
      await using session = await createSession(options);
      left = session;
      await session.send("a");
      await answerOf(session);
      throw new Error("of the program");
    };
    await expect(run()).rejects.toThrow("of the program");
    await expect(left?.send("b")).rejects.toMatchObject({ code: "session_closed" });
    const rest = left === undefined ? ["never opened"] : await all(left.stream());
    expect(rest).toEqual([]);
    await using again = await resumeSession(left?.sessionId ?? "", options);
    expect(again.sessionId).toBe(left?.sessionId);
  });

  test("that is open elsewhere, unknown, or not named is refused", async () => {
    const { options } = await sdkStage({ replies: [] });
    await using session = await createSession(options);
    await expect(resumeSession(session.sessionId, options)).rejects.toMatchObject({ code: "session_busy" });
    const unknown = resumeSession("11111111-1111-4111-8111-111111111111", options);
    await expect(unknown).rejects.toMatchObject({ code: "session_unknown" });
    await expect(resumeSession("", options)).rejects.toMatchObject({ code: "usage" });
  });

  test("can be interrupted and goes on", async () => {
    const slow = replyWith({ betweenMs: 20, chunkChars: 4 }, "slow ".repeat(50));
    const { options } = await sdkStage({ replies: [slow, reply("Next.")] });
    await using session = await createSession({ ...options, includePartialMessages: true });
    await session.send("a");
    for await (const message of session.stream()) {
      if (message.type === "stream_event" && message.event.type === "content_block_delta")
        await session.interrupt();
      if (message.type === "result") expect(message).toMatchObject({ terminal_reason: "aborted_streaming" });
    }
    await session.send("b");
    expect(await answerOf(session)).toBe("Next.");
  });
});

describe("the end of a query", () => {
  const background = reply(toolUse("Bash", { command: "sleep 0.5", run_in_background: true }));

  test("of a string waits for work in the background and for what the model says to its end", async () => {
    verifies("S2.2", "S2.35");
    const { options } = await sdkStage({ replies: [background, reply("It runs."), reply("It has ended.")] });
    const messages = await all(query({ prompt: "go", options }));
    const results = messages.filter(({ type }) => type === "result");
    expect(results).toMatchObject([
      { result: "It runs." },
      { result: "It has ended.", origin: { kind: "task-notification" } },
    ]);
  });

  test("that is kept open comes with close(), whatever was said before", async () => {
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const running = query({ prompt: "a", options: { ...options, keepOpen: true } });
    const seen: string[] = [];
    for await (const message of running) {
      if (message.type !== "result") continue;
      seen.push(message.subtype === "success" ? message.result : "");
      if (seen.length === 2) running.close();
      else
        await running.streamInput(
          (async function* () {
            yield { type: "user" as const, message: { role: "user" as const, content: "b" } };
          })(),
        );
    }
    expect(seen).toEqual(["One.", "Two."]);
  });

  test("of a warm one comes by itself, and it takes one prompt", async () => {
    const { options } = await sdkStage({ replies: [reply("One.")] });
    const warm = await startup({ options });
    expect((await all(warm.query("a"))).at(-1)).toMatchObject({ result: "One." });
    expect(() => warm.query("b")).toThrow(/one prompt/);
  });

  test("by `await using` closes it too", async () => {
    const { options } = await sdkStage({ replies: [reply("One.")] });
    let id = "";
    {
      await using running = query({ prompt: "a", options: { ...options, keepOpen: true } });
      for await (const message of running) {
        id = message.session_id ?? "";
        if (message.type === "result") break;
      }
    }
    await using again = await resumeSession(id, options);
    expect(again.sessionId).toBe(id);
  });
});
