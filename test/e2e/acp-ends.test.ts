// How turns and processes of `keel acp` end: cancelled in each phase, with bad messages, with an editor that is gone.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { byPosition, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { verifies } from "../support/verifies.ts";
import { type Editor, openEditor, saidIn } from "./acp-stage.ts";
import { openStage, type Stage, until } from "./stage.ts";

const slow = replyWith({ chunkChars: 1, betweenMs: 20 }, "a".repeat(2_000));
const stalled = replyWith({ fault: { kind: "stall", afterEvents: 0, with: "silence" } }, "never");
const stubborn = "trap '' TERM INT; echo started; sleep 60 & wait; sleep 60";

type Phase = {
  readonly replies: readonly Reply[];
  readonly permit?: "never";
  begun(stage: Stage, editor: Editor, sessionId: string): boolean;
};

const phases: Record<string, Phase> = {
  "while the model writes": {
    replies: [slow],
    begun: (_, editor, sessionId) => saidIn(editor.updates(sessionId)).length > 3,
  },
  "while a tool runs that does not want to end": {
    replies: [reply(toolUse("Bash", { command: stubborn, timeout: 60_000 }))],
    begun: (_, editor, sessionId) => JSON.stringify(editor.updates(sessionId)).includes("started"),
  },
  "while somebody is asked": {
    replies: [reply(toolUse("Bash", { command: "touch made.txt" }))],
    permit: "never",
    begun: (_, editor) => editor.asked.length === 1,
  },
  "while the model is silent": {
    replies: [stalled],
    begun: (stage) => stage.server.requests.length === 1,
  },
};

describe("cancel", () => {
  test.each(Object.entries(phases))(
    "%s: what is told comes before, and the next prompt works",
    async (_, phase) => {
      verifies("P3");
      const stage = await openStage({ replies: [...phase.replies, reply("Next.")] });
      const editor = await openEditor(stage, {
        ...(phase.permit === "never" ? { permit: () => new Promise(() => undefined) } : {}),
      });
      const { sessionId } = await editor.begin();
      const said = editor.say(sessionId, "begin");
      await until("the phase", () => phase.begun(stage, editor, sessionId));
      await editor.agent.notify("session/cancel", { sessionId });
      expect(await said).toEqual({ stopReason: "cancelled" });
      const told = editor.updates(sessionId).length;
      expect(await editor.say(sessionId, "next")).toEqual({ stopReason: "end_turn" });
      const after = editor.updates(sessionId).slice(told);
      expect(saidIn(after)).toBe("Next.");
      expect(after.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"))).toEqual([]);
    },
  );

  test("of a session that has nothing to do, or is none, says nothing", async () => {
    const stage = await openStage(byPosition([reply("Next.")]));
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.agent.notify("session/cancel", { sessionId });
    await editor.agent.notify("session/cancel", { sessionId: "none" });
    expect(await editor.say(sessionId, "next")).toEqual({ stopReason: "end_turn" });
  });

  test("closing a session while it works answers its prompt as cancelled", async () => {
    const stage = await openStage({ replies: [slow] });
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    const said = editor.say(sessionId, "begin");
    await until("its words", () => saidIn(editor.updates(sessionId)).length > 3);
    expect(await editor.agent.request("session/close", { sessionId })).toEqual({});
    expect(await said).toEqual({ stopReason: "cancelled" });
  });
});

describe("an editor that is gone", () => {
  test.each(Object.entries(phases))("%s: the process ends, and nothing of it is left", async (_, phase) => {
    const stage = await openStage({ replies: [...phase.replies] });
    const editor = await openEditor(stage, {
      ...(phase.permit === "never" ? { permit: () => new Promise(() => undefined) } : {}),
    });
    const { sessionId } = await editor.begin();
    const said = editor.say(sessionId, "begin").catch(() => "gone");
    await until("the phase", () => phase.begun(stage, editor, sessionId));
    expect(await editor.leave()).toBe(0);
    expect(await said).toBe("gone");
    await until("the end of its commands", () => runningIn(stage.project).length === 0);
  });
});

describe("bad messages", () => {
  test("are answered by the protocol's errors, and the connection goes on", async () => {
    const stage = await openStage(byPosition([reply("Still here.")]));
    const editor = await openEditor(stage);
    const { stdin } = editor.running.child;
    const answered = (code: number): boolean =>
      editor.heard.some((message) => "error" in message && message.error.code === code);
    stdin?.write("this is no JSON\n");
    await until("the answer to no JSON", () => answered(-32700));
    stdin?.write("[]\n");
    await until("the answer to a batch", () => answered(-32600));
    await expect(editor.agent.request("no/such", {})).rejects.toMatchObject({ code: -32601 });
    await expect(editor.agent.request("_own/method", {})).rejects.toMatchObject({ code: -32601 });
    await expect(
      editor.agent.request<unknown>("session/new", { mcpServers: [] } as never),
    ).rejects.toMatchObject({ code: -32602 });
    for (const page of [{ cwd: 5 }, { cursor: {} }, [], "all"])
      await expect(editor.agent.request<unknown>("session/list", page as never)).rejects.toMatchObject({
        code: -32602,
      });
    expect(await editor.agent.request("session/list", { cwd: null, cursor: null })).toEqual({ sessions: [] });
    await expect(editor.begin("relative/folder")).rejects.toMatchObject({ code: -32602 });
    const { sessionId } = await editor.begin();
    await expect(editor.agent.request("session/prompt", { sessionId, prompt: [] })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(
      editor.agent.request("session/prompt", {
        sessionId,
        prompt: [{ type: "audio", mimeType: "audio/wav", data: "" }],
      }),
    ).rejects.toMatchObject({ code: -32602 });
    await expect(
      editor.agent.request("session/set_config_option", { sessionId, configId: "model", value: "none" }),
    ).rejects.toMatchObject({ code: -32602 });
    await expect(editor.agent.request("authenticate", { methodId: "none" })).rejects.toMatchObject({
      code: -32602,
    });
    expect(await editor.agent.request("authenticate", { methodId: "api-key" })).toEqual({});
    expect(await editor.say(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  });

  test("an unknown version is answered with the one that is spoken", async () => {
    const stage = await openStage(byPosition([]));
    const editor = await openEditor(stage);
    const answer = await editor.agent.request("initialize", { protocolVersion: 65_535 });
    expect(answer.protocolVersion).toBe(1);
  });

  test("where no key is, a new session says that one is needed", async () => {
    const stage = await openStage(byPosition([]));
    const editor = await openEditor(stage, { env: { ANTHROPIC_BASE_URL: "" } });
    await expect(editor.begin()).rejects.toMatchObject({ code: -32_000 });
  });
});

/** Processes whose folder is this one. */
function runningIn(folder: string): string[] {
  const { stdout } = spawnSync("sh", ["-c", "for p in /proc/[0-9]*; do echo $p $(readlink $p/cwd); done"]);
  return String(stdout)
    .split("\n")
    .filter((line) => line.endsWith(` ${folder}`));
}
