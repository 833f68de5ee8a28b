// `keel acp` with the protocol's own library as the editor: conversations, tools, permissions, choices, sessions.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { byPosition, httpError, reply, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { examplesOf } from "../docs/examples.ts";
import { verifies } from "../support/verifies.ts";
import { kindsIn, openEditor, pick, saidIn } from "./acp-stage.ts";
import { openStage } from "./stage.ts";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("a conversation", () => {
  test("says what it can, begins a session, answers, and goes on with what was said", async () => {
    verifies("P3");
    const stage = await openStage(byPosition([reply(thinking("Hm."), "One."), reply("Two.")]));
    const editor = await openEditor(stage);
    expect(editor.initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "keel" },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, audio: false } },
    });
    const { sessionId } = await editor.begin();
    expect(await editor.say(sessionId, "first")).toEqual({ stopReason: "end_turn" });
    expect(await editor.say(sessionId, "second")).toEqual({ stopReason: "end_turn" });
    const updates = editor.updates(sessionId);
    expect(saidIn(updates)).toBe("One.Two.");
    expect(kindsIn(updates)).toEqual(
      expect.arrayContaining(["available_commands_update", "agent_thought_chunk", "usage_update"]),
    );
    expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("One.");
    expect(await editor.leave()).toBe(0);
  });

  test("lists every command after the response of the new session, and runs one that needs no turn", async () => {
    const stage = await openStage(byPosition([]));
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    expect(await editor.say(sessionId, "/cost")).toEqual({ stopReason: "end_turn" });
    const [commands] = editor.updates(sessionId);
    expect(commands).toMatchObject({ sessionUpdate: "available_commands_update" });
    expect(JSON.stringify(commands)).toContain('"name":"compact"');
    expect(saidIn(editor.updates(sessionId))).toMatch(/\$0/);
    expect(stage.server.requests).toHaveLength(0);
  });

  test("takes pictures, embedded files and links, which are read as a person's mentions are", async () => {
    const stage = await openStage(byPosition([reply("Seen.")]));
    const file = path.join(stage.project, "a file.txt");
    writeFileSync(file, "the linked words\n");
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "Look at" },
        { type: "resource_link", name: "a file", uri: pathToFileURL(file).href },
        { type: "image", mimeType: "image/png", data: pixel },
        { type: "resource", resource: { uri: "file:///b.ts", text: "the embedded words" } },
      ],
    });
    const sent = JSON.stringify(stage.server.requests[0]?.body["messages"]);
    for (const part of ["Look at", "the linked words", pixel, "file:///b.ts", "the embedded words"])
      expect(sent).toContain(part);
  });

  test("two sessions at once keep apart", async () => {
    const stage = await openStage((_: unknown, asked) =>
      reply(`You said ${/first|other/.exec(asked.lastUser)?.[0]}`),
    );
    const editor = await openEditor(stage);
    const [left, right] = await Promise.all([editor.begin(), editor.begin()]);
    await Promise.all([
      editor.say(left.sessionId, "to the first"),
      editor.say(right.sessionId, "to the other"),
    ]);
    expect(saidIn(editor.updates(left.sessionId))).toBe("You said first");
    expect(saidIn(editor.updates(right.sessionId))).toBe("You said other");
  });

  test("a model that refuses is the protocol's error, and the next prompt works", async () => {
    const stage = await openStage({
      replies: [httpError(400, { message: "no such thing" }), reply("Again.")],
    });
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await expect(editor.say(sessionId, "first")).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining("no such thing"),
    });
    expect(await editor.say(sessionId, "second")).toEqual({ stopReason: "end_turn" });
  });
});

describe("tools", () => {
  test("a command is told with its kind, its words and its output, and asked with the exact command", async () => {
    const command = "echo done > made.txt && cat made.txt";
    const stage = await openStage(
      byPosition([reply(toolUse("Bash", { command }, "call-1")), reply("Made.")]),
    );
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    expect(await editor.say(sessionId, "make it")).toEqual({ stopReason: "end_turn" });
    const calls = editor
      .updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"));
    expect(calls[0]).toMatchObject({
      sessionUpdate: "tool_call",
      kind: "execute",
      status: "pending",
      title: command,
      rawInput: { command },
    });
    expect(calls.at(-1)).toMatchObject({ status: "completed" });
    expect(JSON.stringify(calls.at(-1))).toContain("done");
    const [asked] = editor.asked;
    expect(asked?.toolCall.rawInput).toEqual({ command });
    expect(JSON.stringify(asked?.toolCall.content)).toContain(command);
    expect(asked?.options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
    expect(readFileSync(path.join(stage.project, "made.txt"), "utf8")).toBe("done\n");
  });

  test("an edit is asked with the whole file before and after, and told with its lines", async () => {
    const before = "one\ntwo\nthree\n";
    const stage = await openStage(
      byPosition([
        reply(toolUse("Read", { file_path: "a.txt" })),
        reply(toolUse("Edit", { file_path: "a.txt", old_string: "two", new_string: "2" })),
        reply("Changed."),
      ]),
    );
    const file = path.join(stage.project, "a.txt");
    writeFileSync(file, before);
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.say(sessionId, "change it");
    expect(editor.asked[0]?.toolCall).toMatchObject({
      kind: "edit",
      locations: [{ path: file }],
      content: expect.arrayContaining([
        { type: "diff", path: file, oldText: before, newText: "one\n2\nthree\n" },
      ]),
    });
    const read = editor.updates(sessionId).find((update) => update.sessionUpdate === "tool_call");
    expect(read).toMatchObject({ kind: "read", locations: [{ path: file }] });
    const ended = editor
      .updates(sessionId)
      .findLast((update) => update.sessionUpdate === "tool_call_update" && update.status === "completed");
    expect(ended).toMatchObject({
      locations: [{ path: file, line: 1 }],
      content: [{ type: "diff", path: file }],
    });
    expect(readFileSync(file, "utf8")).toBe("one\n2\nthree\n");
  });

  test("a no is a failed call, which the model hears of; hidden signs are shown", async () => {
    const stage = await openStage(
      byPosition([reply(toolUse("Bash", { command: "touch made\u202e.txt" })), reply("Refused.")]),
    );
    const editor = await openEditor(stage, { permit: pick("reject_once") });
    const { sessionId } = await editor.begin();
    expect(await editor.say(sessionId, "make it")).toEqual({ stopReason: "end_turn" });
    expect(editor.asked[0]?.toolCall.title).not.toContain("\u202e");
    expect(JSON.stringify(editor.asked[0]?.toolCall.content)).not.toContain("\u202e");
    const ended = editor.updates(sessionId).findLast((update) => update.sessionUpdate === "tool_call_update");
    expect(ended).toMatchObject({ status: "failed" });
    expect(existsSync(path.join(stage.project, "made\u202e.txt"))).toBe(false);
  });

  test("what is allowed always is not asked again in the session", async () => {
    const run = reply(toolUse("Bash", { command: "touch same.txt" }));
    const stage = await openStage(byPosition([run, run, reply("Twice.")]));
    const editor = await openEditor(stage, { permit: pick("allow_always") });
    const { sessionId } = await editor.begin();
    await editor.say(sessionId, "twice");
    expect(editor.asked).toHaveLength(1);
  });

  test("the list of what is to be done is a plan", async () => {
    const stage = await openStage(
      byPosition([
        reply(
          toolUse("TaskCreate", { subject: "Look", description: "Look at it" }),
          toolUse("TaskCreate", { subject: "Change", description: "Change it" }),
        ),
        reply(toolUse("TaskUpdate", { taskId: "1", status: "completed" })),
        reply(toolUse("TaskUpdate", { taskId: "2", status: "in_progress" })),
        reply("Planned."),
      ]),
    );
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.say(sessionId, "plan");
    expect(editor.updates(sessionId)).toContainEqual({
      sessionUpdate: "plan",
      entries: [
        { content: "Look", status: "completed", priority: "medium" },
        { content: "Change", status: "in_progress", priority: "medium" },
      ],
    });
  });

  test("a question is a form where the editor has forms, and a choice where it has none", async () => {
    const questions = [
      {
        question: "Which colour?",
        header: "Colour",
        options: [
          { label: "Red", description: "As fire" },
          { label: "Blue", description: "As water" },
        ],
        multiSelect: false,
      },
    ];
    const script = byPosition([reply(toolUse("AskUserQuestion", { questions })), reply("Noted.")]);
    for (const forms of [true, false]) {
      const stage = await openStage(script);
      const editor = await openEditor(stage, {
        ...(forms ? { can: { elicitation: { form: {} } } } : {}),
        fill: () => ({ action: "accept", content: { question1: "Blue" } }),
        permit: ({ options }) => ({
          outcome: {
            outcome: "selected",
            optionId: options.find(({ name }) => name === "Blue")?.optionId ?? "",
          },
        }),
      });
      const { sessionId } = await editor.begin();
      await editor.say(sessionId, "ask me");
      expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("Blue");
      expect(editor.asked).toHaveLength(forms ? 0 : 1);
    }
  });
});

describe("the editor's own files", () => {
  test("what is not saved yet is read, changes go through the editor, and a rewind still holds", async () => {
    const stage = await openStage(
      byPosition([
        reply(toolUse("Read", { file_path: "a.txt" })),
        reply(toolUse("Edit", { file_path: "a.txt", old_string: "unsaved", new_string: "changed" })),
        reply("Changed."),
      ]),
    );
    const file = path.join(stage.project, "a.txt");
    writeFileSync(file, "saved\n");
    const buffers = new Map([[file, "unsaved\n"]]);
    const editor = await openEditor(stage, {
      can: { fs: { readTextFile: true, writeTextFile: true } },
      buffers,
    });
    const { sessionId } = await editor.begin();
    await editor.say(sessionId, "change it");
    expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("unsaved");
    expect(buffers.get(file)).toBe("changed\n");
    // The editor of this test keeps what it is given: the disk is as it was.
    expect(readFileSync(file, "utf8")).toBe("saved\n");
    expect(stage.log().some(({ type }) => type === "files.saved")).toBe(true);
  });

  test("an editor that announced nothing is asked for no file", async () => {
    const stage = await openStage(
      byPosition([reply(toolUse("Read", { file_path: "a.txt" })), reply("Read.")]),
    );
    writeFileSync(path.join(stage.project, "a.txt"), "saved\n");
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.say(sessionId, "read it");
    const wanted = editor.heard.flatMap((message) => ("method" in message ? [message.method] : []));
    expect(wanted.filter((method) => /^(?:fs|terminal|elicitation)\//.test(method))).toEqual([]);
  });
});

describe("choices", () => {
  test("mode, model and effort are offered as options and as modes, and change for real", async () => {
    const edit = reply(toolUse("Write", { file_path: "a.txt", content: "x\n" }));
    const stage = await openStage(byPosition([edit, reply("Written.")]));
    const editor = await openEditor(stage, { env: { KEEL_MODEL: "claude-sonnet-5-5" } });
    const { sessionId, modes, configOptions } = await editor.begin();
    expect(modes).toMatchObject({ currentModeId: "default" });
    expect(modes?.availableModes.map(({ id }) => id)).toContain("auto");
    expect(configOptions?.map(({ id }) => id)).toEqual(["mode", "model", "effort"]);
    await editor.agent.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
    const changed = await editor.agent.request("session/set_config_option", {
      sessionId,
      configId: "effort",
      value: "low",
    });
    expect(changed.configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ["mode", "acceptEdits"],
      ["model", configOptions?.[1]?.currentValue],
      ["effort", "low"],
    ]);
    await editor.agent.request("session/set_config_option", { sessionId, configId: "model", value: "haiku" });
    await editor.say(sessionId, "write");
    expect(stage.server.requests[0]?.body["model"]).toContain("haiku");
    expect(editor.asked).toEqual([]);
    expect(kindsIn(editor.updates(sessionId))).toEqual(
      expect.arrayContaining(["current_mode_update", "config_option_update"]),
    );
  });

  test("a mode that nobody allowed at the start is not offered, and refused", async () => {
    const stage = await openStage(byPosition([]));
    const editor = await openEditor(stage);
    const { sessionId, modes } = await editor.begin();
    expect(modes?.availableModes.map(({ id }) => id)).not.toContain("bypassPermissions");
    const bypass = { sessionId, modeId: "bypassPermissions" };
    await expect(editor.agent.request("session/set_mode", bypass)).rejects.toMatchObject({ code: -32602 });
    const bold = await openEditor(stage, { parameters: ["--allow-dangerously-skip-permissions"] });
    const { modes: more } = await bold.begin();
    expect(more?.availableModes.map(({ id }) => id)).toContain("bypassPermissions");
  });
});

type ServerEntry = { readonly command: string; readonly args: readonly string[] };

test("what the guide tells editors starts an agent that answers", async () => {
  const examples = examplesOf("editor");
  expect(examples.map(({ kind }) => kind)).toEqual(["json", "json", "lua", "lua", "elisp"]);
  for (const { kind, text } of examples) {
    const words = kind === "json" ? Object.values<ServerEntry>(JSON.parse(text).agent_servers) : [];
    for (const { command, args } of words) expect([command, ...args]).toEqual(["keel", "acp"]);
    expect(text).toMatch(/"keel"[^"]*(?:"args"[^"]*)?"acp"/);
  }
  const editor = await openEditor(await openStage(byPosition([])));
  expect(editor.initialized.agentInfo?.name).toBe("keel");
});
