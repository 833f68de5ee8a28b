// Commands in texts that a person calls are asked about like those of the model, where somebody can be asked.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { Query } from "../../keel/src/sdk/query/query-methods.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { all, logged, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const text = "State: !`touch made && echo from-the-command`.";

async function stageWith(options: Options = {}): Promise<SdkStage & { given: Options }> {
  const stage = await sdkStage({ replies: [], otherwise: reply("Read.") });
  const folder = path.join(stage.cwd, ".claude/commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "look.md"), text);
  return { ...stage, given: { ...stage.options, settingSources: ["project"], ...options } };
}

async function called(options: Options = {}) {
  const { given, ...stage } = await stageWith(options);
  const messages = await all(query({ prompt: "/look", options: given }));
  const session = messages[0]?.session_id ?? "";
  return {
    messages: JSON.stringify(messages),
    sent: stage.server.requests.map(({ body }) => JSON.stringify(body)).join("\n"),
    ran: existsSync(path.join(stage.cwd, "made")),
    asks: logged(stage.home, session).filter(({ type }) => type.startsWith("ask.")),
    stage,
  };
}

type Asked = { tool: string; input: Record<string, unknown>; reason: string | undefined };

const program = (asked: Asked[], answer: Awaited<ReturnType<NonNullable<Options["canUseTool"]>>>) => ({
  canUseTool: (async (tool, input, { decisionReason }) => {
    asked.push({ tool, input, reason: decisionReason });
    return answer;
  }) satisfies Options["canUseTool"],
});

describe("where a program answers", () => {
  test("a yes runs it, and its output is in the words", async () => {
    verifies("S4.66");
    const asked: Asked[] = [];
    const { sent, ran, asks } = await called(program(asked, { behavior: "allow" }));
    expect(asked).toEqual([
      {
        tool: "Bash",
        input: { command: "touch made && echo from-the-command" },
        reason: expect.any(String),
      },
    ]);
    expect(ran).toBe(true);
    expect(sent).toContain("State: from-the-command.");
    expect(asks.map(({ type }) => type)).toEqual(["ask.opened", "ask.closed"]);
  });

  test("a no is told to the model and to the person", async () => {
    const { sent, ran, messages } = await called(program([], { behavior: "deny", message: "not today" }));
    expect(ran).toBe(false);
    expect(sent).toContain("State: (not run: not today).");
    expect(messages).toContain("/look did not run");
  });

  test("a changed command is decided again, and is what runs", async () => {
    const changed = (command: string) =>
      called({
        ...program([], { behavior: "allow", updatedInput: { command } }),
        disallowedTools: ["Bash(touch other)"],
      });
    expect(await changed("echo something-else")).toMatchObject({
      ran: false,
      sent: expect.stringContaining("State: something-else."),
    });
    const { sent, stage } = await changed("touch other");
    expect(sent).toContain("(not run: ");
    expect(existsSync(path.join(stage.cwd, "other"))).toBe(false);
  });

  test("what rules allow or deny is not asked", async () => {
    const asked: Asked[] = [];
    const answers = program(asked, { behavior: "allow" });
    expect(await called({ ...answers, allowedTools: ["Bash"] })).toMatchObject({ ran: true, asks: [] });
    expect(await called({ ...answers, disallowedTools: ["Bash(touch:*)"] })).toMatchObject({
      ran: false,
      asks: [],
    });
    expect(asked).toEqual([]);
  });

  test("an interrupt while it asks ends it, and nothing is sent to the model", async () => {
    const { given, server, cwd } = await stageWith();
    const asking = Promise.withResolvers<void>();
    const messages: SDKMessage[] = [];
    async function* prompts() {
      yield { type: "user" as const, message: { role: "user" as const, content: "/look" } };
    }
    const running: Query = query({
      prompt: prompts(),
      options: {
        ...given,
        canUseTool: async () => {
          asking.resolve();
          return Promise.withResolvers<null>().promise;
        },
      },
    });
    void asking.promise.then(() => running.interrupt());
    for await (const message of running) messages.push(message);
    expect(server.requests).toEqual([]);
    expect(existsSync(path.join(cwd, "made"))).toBe(false);
    expect(JSON.stringify(messages)).toContain("interrupted");
  });
});

describe("where nobody answers", () => {
  test("it is refused without a question", async () => {
    const { ran, sent, asks } = await called();
    expect(ran).toBe(false);
    expect(sent).toContain("nobody can be asked");
    expect(asks).toEqual([]);
  });

  test("a hook for permissions can answer, and one before tools can deny what rules allow", async () => {
    const allow = async () => ({
      hookSpecificOutput: {
        hookEventName: "PermissionRequest" as const,
        decision: { behavior: "allow" as const },
      },
    });
    expect(await called({ hooks: { PermissionRequest: [{ hooks: [allow] }] } })).toMatchObject({ ran: true });
    const seen: unknown[] = [];
    const denied = await called({
      allowedTools: ["Bash"],
      hooks: {
        PreToolUse: [
          {
            matcher: "Bash",
            hooks: [
              async (input) => {
                seen.push(input);
                return { decision: "block", reason: "the hook objects" };
              },
            ],
          },
        ],
      },
    });
    expect(denied.ran).toBe(false);
    expect(denied.sent).toContain("(not run: the hook objects)");
    expect(seen).toMatchObject([
      { tool_name: "Bash", tool_input: { command: "touch made && echo from-the-command" } },
    ]);
  });
});
