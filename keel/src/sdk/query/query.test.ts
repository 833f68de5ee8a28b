import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { all, sdkStage } from "../../../../test/support/sdk-stage.ts";
import { sketch } from "../../../../test/support/told.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { reply, replyWith, toolUse } from "../../testing/reply.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import { getSessionMessages } from "../stored/session-functions.ts";
import { AbortError } from "./conversation.ts";
import { query } from "./query.ts";
import type { Query } from "./query-methods.ts";
import { startup } from "./startup.ts";

const said = (content: string, more: Partial<UserMessage> = {}): UserMessage => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
async function* of(...messages: UserMessage[]): AsyncGenerator<UserMessage> {
  yield* messages;
}
const results = (messages: readonly SDKSentMessage[]) => messages.filter(({ type }) => type === "result");
const types = (messages: readonly SDKSentMessage[]): string[] => messages.map(({ type }) => type);
const first = "11111111-1111-4111-8111-111111111111";
const work = { description: "look", prompt: "look", subagent_type: "finder", run_in_background: false };
const read = toolUse("Read", { file_path: "a.txt" }, "call_read");

describe("a query", () => {
  test("of a string gives the turn and ends by itself", async () => {
    verifies("S2.1", "S2.2");
    const { options } = await sdkStage({ replies: [reply("Hi.")] });
    const messages = await all(query({ prompt: "hello", options }));
    expect(types(messages)).toEqual(["system", "assistant", "result"]);
    expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "Hi.", is_error: false });
  });

  test("tells what an agent says and does below the call that started it, and its own without a parent", async () => {
    verifies("S2.21");
    const { options, cwd } = await sdkStage({
      replies: [reply(toolUse("Agent", work, "call_agent")), reply("Found.")],
      rules: [
        { when: { systemContains: "You are the finder." }, times: 1, reply: reply("Looking.", read) },
        { when: { systemContains: "You are the finder." }, times: 1, reply: reply("It says one.") },
      ],
    });
    writeFileSync(path.join(cwd, "a.txt"), "one\n");
    const agents = { finder: { description: "Finds.", prompt: "You are the finder." } };
    const messages = await all(
      query({ prompt: "go", options: { ...options, agents, forwardSubagentText: true } }),
    );
    const parents = messages.flatMap((message) =>
      message.type === "assistant" || message.type === "user"
        ? [[sketch([message])[0], message.parent_tool_use_id]]
        : [],
    );
    const below = parents.filter(([, parent]) => parent === "call_agent").map(([words]) => words);
    expect(below).toEqual(
      expect.arrayContaining([
        'assistant "Looking."',
        expect.stringMatching(/^assistant Read /),
        'assistant "It says one."',
      ]),
    );
    const own = parents.filter(([, parent]) => parent === null).map(([words]) => String(words));
    expect(own[0]).toMatch(/^assistant Agent /);
    expect(own.at(-1)).toBe('assistant "Found."');
    expect(below.length + own.length).toBe(parents.length);
  });

  test("of a stream is a session: a result per turn, and ids live from queued to completed", async () => {
    verifies("S2.3", "S2.35");
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const query_ = query({
      prompt: of(said("a", { uuid: first }), said("b", { priority: "later" })),
      options,
    });
    const messages: SDKSentMessage[] = await all(query_);
    expect(results(messages)).toMatchObject([{ result: "One." }, { result: "Two." }]);
    const life = messages.flatMap((message) => (message.type === "command_lifecycle" ? [message] : []));
    expect(life.map(({ state }) => state)).toEqual(["queued", "started", "completed"]);
    expect(life[0]?.command_uuid).toBe(first);
  });

  test("takes what asks for no answer along with the next message", async () => {
    const { options, server } = await sdkStage({ replies: [reply("One.")] });
    const prompt = of(said("background", { shouldQuery: false }), said("question"));
    const messages = await all(query({ prompt, options }));
    expect(results(messages)).toMatchObject([{ num_turns: 0 }, { num_turns: 1, result: "One." }]);
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(server.requests[0]?.body)).toMatch(/background.*question/);
  });

  test("a message that cannot wait ends the running turn", async () => {
    const slow = replyWith({ delayMs: 50, chunkChars: 5 }, "slow ".repeat(50));
    const { options } = await sdkStage({ replies: [slow, reply("Now.")] });
    const running = query({
      prompt: "go",
      options: { ...options, includePartialMessages: true, keepOpen: true },
    });
    const messages: SDKSentMessage[] = [];
    let pushed = false;
    for await (const message of running) {
      messages.push(message);
      if (message.type === "stream_event" && message.event.type === "content_block_delta" && !pushed) {
        pushed = true;
        await running.streamInput(of(said("stop that", { priority: "now" })));
      }
      if (results(messages).length === 2) running.close();
    }
    expect(results(messages)).toMatchObject([{ terminal_reason: "aborted_streaming" }, { result: "Now." }]);
  });

  test("that is aborted throws, and one that was aborted before never starts", async () => {
    verifies("S2.5");
    const { options, server } = await sdkStage({ replies: [], otherwise: reply("Hi.") });
    const abortController = new AbortController();
    abortController.abort();
    await expect(all(query({ prompt: "hello", options: { ...options, abortController } }))).rejects.toThrow(
      AbortError,
    );
    expect(server.requests).toEqual([]);
  });

  test("tells what kept it from starting where the program looks for it", async () => {
    const { options } = await sdkStage({ replies: [] });
    const broken = query({ prompt: "x", options: { ...options, env: {} } });
    await expect(all(broken)).rejects.toMatchObject({ code: "no_model" });
    const unknown = all(query({ prompt: "x", options: { ...options, resume: first } }));
    await expect(unknown).rejects.toMatchObject({ code: "session_unknown" });
  });

  test("left early closes its session: another can take it up", async () => {
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    for await (const _ of query({ prompt: "a", options: { ...options, sessionId: first } })) break;
    const messages = await all(query({ prompt: "b", options: { ...options, resume: first } }));
    expect(messages.at(-1)).toMatchObject({ type: "result" });
  });
});

describe("the options", () => {
  test("choose tools: a list, none, all", async () => {
    verifies("S2.8");
    const { options, server } = await sdkStage({ replies: [], otherwise: reply("ok") });
    const offered = async (tools: string[] | { type: "preset"; preset: string }): Promise<string[]> => {
      await all(query({ prompt: "x", options: { ...options, tools } }));
      const list = server.requests.at(-1)?.body["tools"] ?? [];
      return (list as { name: string }[]).map(({ name }) => name);
    };
    expect(await offered(["Read", "Bash"])).toEqual(["Bash", "Read"]);
    expect(await offered([])).toEqual([]);
    expect(await offered({ type: "preset", preset: "claude_code" })).toContain("Edit");
  });

  test("of effort, title and prompt arrive", async () => {
    const { options, server } = await sdkStage({ replies: [reply("ok")] });
    const more = { effort: "low", title: "A title", systemPrompt: ["one", "two"] } as const;
    const messages = await all(
      query({ prompt: "x", options: { ...options, ...more, systemPrompt: ["one", "two"] } }),
    );
    expect(messages.at(-1)).toMatchObject({ subtype: "success" });
    expect(JSON.stringify(server.requests[0]?.body["system"])).toMatch(/one.*two/);
  });

  test("say that nobody is to be asked", async () => {
    const { options, cwd } = await sdkStage({
      replies: [reply(toolUse("Write", { file_path: "x.txt", content: "x" })), reply("ok")],
    });
    const canUseTool = async () => ({ behavior: "allow" as const });
    const messages = await all(
      query({ prompt: "x", options: { ...options, canUseTool, permissionPrompts: "none" } }),
    );
    expect(messages).toContainEqual(expect.objectContaining({ subtype: "permission_denied" }));
    expect(existsSync(path.join(cwd, "x.txt"))).toBe(false);
  });

  test("continue goes on with the newest session of the folder", async () => {
    verifies("S2.9");
    const { options, server } = await sdkStage({ replies: [reply("One."), reply("Two."), reply("Three.")] });
    await all(query({ prompt: "older", options }));
    const newest = await all(query({ prompt: "newer", options }));
    const continued = await all(query({ prompt: "more", options: { ...options, continue: true } }));
    expect(continued.at(-1)?.session_id).toBe(newest.at(-1)?.session_id);
    const sent = JSON.stringify(server.requests[2]?.body["messages"]);
    expect(sent).toMatch(/newer.*Two\..*more/);
    expect(sent).not.toContain("older");
  });

  test("open further folders: what is in them is read and edited as in the session's own", async () => {
    verifies("S2.6");
    const { options, cwd } = await sdkStage({
      replies: [reply(toolUse("Read", { file_path: "../beside/b.txt" })), reply("ok")],
      otherwise: reply("ok"),
    });
    const beside = path.join(path.dirname(cwd), "beside");
    mkdirSync(beside);
    writeFileSync(path.join(beside, "b.txt"), "found\n");
    const open = { ...options, additionalDirectories: [beside] };
    const messages = await all(query({ prompt: "read", options: open }));
    expect(JSON.stringify(messages)).toContain("found");
    const closed = await sdkStage({
      replies: [reply(toolUse("Read", { file_path: path.join(beside, "b.txt") })), reply("ok")],
    });
    expect(JSON.stringify(await all(query({ prompt: "read", options: closed.options })))).not.toContain(
      "found",
    );
  });

  test("contradict each other loudly", async () => {
    const { options } = await sdkStage({ replies: [] });
    const both = query({ prompt: "x", options: { ...options, resume: first, continue: true } });
    await expect(all(both)).rejects.toMatchObject({ code: "usage" });
  });

  describe("an earlier message is gone on from", () => {
    const threeTurns = async () => {
      const said = await sdkStage({
        replies: [reply("One."), reply("Two."), reply("Three."), reply("Four.")],
      });
      const messages = await all(query({ prompt: "a", options: { ...said.options, sessionId: first } }));
      const more = await all(query({ prompt: "b", options: { ...said.options, resume: first } }));
      const uuid = messages.find(({ type }) => type === "assistant")?.uuid ?? "";
      return { ...said, at: { resume: first, resumeSessionAt: uuid }, spent: costOf(more) };
    };
    const costOf = (messages: SDKSentMessage[]): number =>
      messages.flatMap((message) => (message.type === "result" ? [message.total_cost_usd] : [])).at(-1) ?? 0;
    const words = ({ body }: { body: unknown }): string => JSON.stringify((body as JsonObject)["messages"]);

    test("branch on resume, seed 002: in the same session, with its bill", async () => {
      verifies("S2.12", "S2.61");
      const { options, server, at, spent, cwd } = await threeTurns();
      const third = await all(query({ prompt: "c", options: { ...options, ...at } }));
      expect(third.at(-1)?.session_id).toBe(first);
      expect(costOf(third)).toBeGreaterThan(spent);
      const asked = words(server.requests[2] ?? { body: {} });
      expect(asked).toContain("One.");
      expect(asked).not.toContain("Two.");
      // Whoever goes on later goes on from there too.
      await all(query({ prompt: "d", options: { ...options, resume: first } }));
      const later = words(server.requests[3] ?? { body: {} });
      expect(later).toContain("Three.");
      expect(later).not.toContain("Two.");
      const kept = JSON.stringify(await getSessionMessages(first, { dir: cwd }));
      expect(kept).toContain("Three.");
      expect(kept).not.toContain("Two.");
    });

    test("in a copy where one is wanted", async () => {
      const { options, server, at } = await threeTurns();
      const copied = await all(query({ prompt: "c", options: { ...options, ...at, forkSession: true } }));
      expect(copied.at(-1)?.session_id).not.toBe(first);
      expect(words(server.requests[2] ?? { body: {} })).not.toContain("Two.");
      await all(query({ prompt: "d", options: { ...options, resume: first } }));
      expect(words(server.requests[3] ?? { body: {} })).toContain("Two.");
    });

    test("and not where there is none of that name", async () => {
      const { options, server, at } = await threeTurns();
      const nowhere = { ...options, ...at, resumeSessionAt: "00000000-0000-4000-8000-00000000dead" };
      await expect(all(query({ prompt: "c", options: nowhere }))).rejects.toThrow("has no message");
      await all(query({ prompt: "d", options: { ...options, resume: first } }));
      expect(words(server.requests[2] ?? { body: {} })).toContain("Two.");
    });
  });
});

describe("the methods", () => {
  const open = async (script: Parameters<typeof sdkStage>[0], more = {}) => {
    const stage = await sdkStage(script);
    const running: Query = query({ prompt: "go", options: { ...stage.options, keepOpen: true, ...more } });
    return { ...stage, running };
  };
  const untilResult = async (running: Query): Promise<SDKSentMessage[]> => {
    const messages: SDKSentMessage[] = [];
    for (;;) {
      const { value, done } = await running.next();
      if (done) return messages;
      messages.push(value);
      if (value.type === "result") return messages;
    }
  };

  test("change mode, model and thinking from the next request on", async () => {
    verifies("S2.43", "S2.45");
    const { running, server, cwd } = await open({
      replies: [reply("One."), reply(toolUse("Write", { file_path: "x.txt", content: "x" })), reply("Two.")],
    });
    await untilResult(running);
    await running.setPermissionMode("acceptEdits");
    await running.setModel("claude-haiku-4-5");
    await running.setMaxThinkingTokens(2_000);
    await running.streamInput(of(said("more")));
    await untilResult(running);
    expect(readFileSync(path.join(cwd, "x.txt"), "utf8")).toBe("x");
    expect(server.requests[1]?.body).toMatchObject({
      model: "claude-haiku-4-5",
      thinking: { type: "enabled", budget_tokens: 2_000 },
    });
    await expect(running.setPermissionMode("bypassPermissions")).rejects.toMatchObject({
      code: "mode_refused",
    });
    running.close();
  });

  test("tell what the session is", async () => {
    verifies("S2.44");
    const { running } = await open({ replies: [reply("One.")] });
    await untilResult(running);
    expect(await running.supportedCommands()).toContainEqual(expect.objectContaining({ name: "compact" }));
    expect((await running.supportedModels()).map(({ value }) => value)).toContain("haiku");
    expect(await running.accountInfo()).toMatchObject({ apiKeySource: "ANTHROPIC_API_KEY" });
    expect(await running.mcpServerStatus()).toEqual([]);
    expect((await running.getContextUsage()).totalTokens).toBeGreaterThan(0);
    running.close();
  });

  test("rewind files, and say what would change", async () => {
    verifies("S2.43");
    const { options, cwd } = await sdkStage({
      replies: [reply(toolUse("Write", { file_path: "a.txt", content: "new" })), reply("ok")],
    });
    writeFileSync(path.join(cwd, "b.txt"), "b");
    const more = { enableFileCheckpointing: true, permissionMode: "acceptEdits", keepOpen: true } as const;
    const running = query({ prompt: of(said("go", { uuid: first })), options: { ...options, ...more } });
    await untilResult(running);
    expect(await running.rewindFiles(first, { dryRun: true })).toMatchObject({ canRewind: true });
    await running.rewindFiles(first);
    expect(existsSync(path.join(cwd, "a.txt"))).toBe(false);
    running.close();
  });

  test("a warm start waits with everything ready and takes one prompt", async () => {
    const { options } = await sdkStage({ replies: [reply("Warm.")] });
    const warm = await startup({ options });
    expect((await all(warm.query("hello"))).at(-1)).toMatchObject({ result: "Warm." });
    expect(() => warm.query("again")).toThrow("one prompt");
  });
});
