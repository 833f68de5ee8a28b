// What an SDK can ask of the executable about its session: every subtype of the interface is answered, or refused with
// its reason.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { meaningless } from "../../keel/src/sdk/control/host-requests.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { referenceText } from "../sdk/reference.ts";
import { everything } from "../support/mcp-stage.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, until } from "./stage.ts";
import { isResult, openWire, type WireClient } from "./wire-client.ts";

const ask = (wire: WireClient, subtype: string, fields: Record<string, unknown> = {}) =>
  wire.request({ subtype, ...fields });

describe("facts", () => {
  test("settings tell what counts and where it comes from, and no secret", async () => {
    const stage = await openStage({ replies: [] });
    const secret = "very-secret-value";
    const settings = { permissions: { deny: ["Read(./secret)"] }, env: { MY_TOKEN: secret } };
    const wire = openWire(stage, { args: ["--settings", JSON.stringify(settings)] });
    const told = await ask(wire, "get_settings");
    expect(told).toMatchObject({
      effective: { permissions: { deny: ["Read(./secret)"] } },
      sources: expect.arrayContaining([
        expect.objectContaining({
          source: "flagSettings",
          values: expect.arrayContaining([
            expect.objectContaining({ name: "permissions.deny", counts: true }),
          ]),
        }),
      ]),
      applied: { model: expect.any(String), permissionMode: "default" },
    });
    expect(JSON.stringify(told)).not.toContain(secret);
    expect(JSON.stringify(told)).not.toContain("test-key");
  });

  test("rules tell those of the start and those that came since", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage, { args: ["--disallowedTools=Bash(rm:*)"] });
    await ask(wire, "apply_flag_settings", { settings: { permissions: { allow: ["Bash(ls:*)"] } } });
    expect(await ask(wire, "list_permission_rules")).toMatchObject({
      state: {
        rules: expect.arrayContaining([
          { behavior: "deny", rule: "Bash(rm:*)", source: "cliArg", editability: "readonly" },
          expect.objectContaining({ behavior: "allow", rule: "Bash(ls:*)" }),
        ]),
        originalCwd: stage.project,
      },
    });
  });

  test("hooks, usage, the window, the cost and the version", async () => {
    const stage = await openStage({ replies: [reply("Hi.")] });
    const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "true" }] }] };
    const wire = openWire(stage, { args: ["--settings", JSON.stringify({ hooks })] });
    wire.say("hi");
    await wire.line("a result", isResult);
    expect(await ask(wire, "get_hooks_listing")).toMatchObject({
      hooks: [{ event: "PreToolUse", matcher: "Bash", type: "command", commandText: "true" }],
    });
    expect(await ask(wire, "get_usage")).toMatchObject({
      session: { total_cost_usd: expect.any(Number), model_usage: expect.any(Object) },
    });
    expect(await ask(wire, "get_context_usage")).toMatchObject({ totalTokens: expect.any(Number) });
    expect(await ask(wire, "get_session_cost")).toMatchObject({ text: expect.stringContaining("$") });
    expect(await ask(wire, "get_binary_version")).toMatchObject({ version: expect.any(String) });
    expect(await ask(wire, "list_models")).toMatchObject({ models: expect.any(Array) });
  });

  test("files are suggested for what was typed, without those that must not be read", async () => {
    const stage = await openStage({ replies: [] });
    for (const name of ["src/widget.ts", "src/deep/widget.test.ts", "secret/widget.key", "readme.md"]) {
      mkdirSync(path.dirname(path.join(stage.project, name)), { recursive: true });
      writeFileSync(path.join(stage.project, name), "x");
    }
    const wire = openWire(stage, { args: ["--disallowedTools=Read(./secret/**)"] });
    expect(await ask(wire, "file_suggestions", { query: "Widg" })).toEqual({
      suggestions: ["src/widget.ts", "src/deep/widget.test.ts"].map((name) => ({
        path: name,
        displayText: name,
      })),
      cwd: stage.project,
    });
    expect(await ask(wire, "file_suggestions", { query: "rdme" })).toMatchObject({
      suggestions: [{ path: "readme.md" }],
    });
  });

  test("whatever the table of inquiries has, by its name", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage, { args: ["--effort=high", "--tool-preset=read-only"] });
    expect(await ask(wire, "inquire", { inquiry: "facts" })).toMatchObject({
      answer: { cwd: stage.project, tools: expect.not.arrayContaining(["Bash"]) },
    });
    expect(await ask(wire, "inquire", { inquiry: "taskOutput", question: { id: "b0" } })).toEqual({
      answer: null,
    });
    await expect(ask(wire, "inquire", { inquiry: "weather" })).rejects.toThrow("no inquiry");
  });

  test("the output of a task, and a task that is none", async () => {
    const command = "echo from-the-task; sleep 30";
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command, run_in_background: true })), reply("Started.")],
    });
    const wire = openWire(stage, { args: ["--allowedTools=Bash"] });
    wire.say("go");
    await wire.line("a result", isResult);
    const started = wire.lines.find(({ subtype }) => subtype === "task_started");
    const task_id = String(started?.["task_id"]);
    await until("the output", async () => {
      const { output } = (await ask(wire, "get_task_output", { task_id })) as { output: string };
      return output.includes("from-the-task");
    });
    await expect(ask(wire, "get_task_output", { task_id: "b000" })).rejects.toThrow("no task");
    await ask(wire, "stop_task", { task_id });
  });
});

describe("what is read again and known before", () => {
  test("skills, plugins and styles", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage, { args: ["--setting-sources=project"] });
    await ask(wire, "initialize");
    mkdirSync(path.join(stage.project, ".claude/skills/fresh"), { recursive: true });
    writeFileSync(
      path.join(stage.project, ".claude/skills/fresh/SKILL.md"),
      "---\ndescription: New.\n---\nBe new.",
    );
    expect(await ask(wire, "reload_skills")).toMatchObject({
      skills: expect.arrayContaining([expect.objectContaining({ name: "fresh" })]),
    });
    expect(await ask(wire, "reload_plugins")).toMatchObject({ plugins: [], error_count: 0 });
    expect(await ask(wire, "reload_output_styles")).toMatchObject({
      available_output_styles: expect.arrayContaining(["default"]),
    });
    await expect(ask(wire, "reload_plugins", { add_plugins: [{ path: "x" }] })).rejects.toThrow(
      "--plugin-dir",
    );
  });

  test("a file that the model has seen already can be edited, and a folder is added", async () => {
    const stage = await openStage({
      replies: [
        reply(toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })),
        reply("ok"),
      ],
    });
    const file = path.join(stage.project, "a.txt");
    writeFileSync(file, "one\n");
    const wire = openWire(stage, { args: ["--permission-mode=acceptEdits"] });
    await ask(wire, "seed_read_state", { path: file, mtime: Math.floor(statSync(file).mtimeMs) });
    wire.say("edit");
    await wire.line("a result", isResult);
    expect(readFileSync(file, "utf8")).toBe("two\n");
    const other = path.join(stage.project, "../other");
    mkdirSync(other);
    await ask(wire, "register_repo_root", { directory: other });
    expect(await ask(wire, "list_permission_rules")).toMatchObject({
      state: { workspaceDirectories: [{ path: stage.project }, { path: expect.stringContaining("other") }] },
    });
  });
});

describe("servers", () => {
  test("are set, called, read, switched and reached again; what rules deny is not called", {
    timeout: 120_000,
  }, async () => {
    verifies("S2.44");
    const stage = await openStage({ replies: [] });
    const server = { type: "stdio", command: process.execPath, args: [everything, "stdio"] };
    const wire = openWire(stage, {
      args: [
        "--disallowedTools=mcp__any__get-sum",
        "--settings",
        JSON.stringify({ mcp: { connectMs: 60_000 } }),
      ],
    });
    expect(await ask(wire, "mcp_set_servers", { servers: { any: server } })).toEqual({
      added: ["any"],
      removed: [],
      errors: {},
    });
    const { commands } = (await ask(wire, "initialize")) as { commands: { name: string }[] };
    expect(commands.map(({ name }) => name)).toContain("mcp__any__simple-prompt");
    const echo = { tool: "mcp__any__echo", arguments: { message: "over the wire" } };
    expect(await ask(wire, "mcp_call", echo)).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("over the wire") }],
      isError: false,
    });
    await expect(ask(wire, "mcp_call", { ...echo, check_permissions: true })).rejects.toThrow("not called");
    await expect(
      ask(wire, "mcp_call", { tool: "mcp__any__get-sum", arguments: { a: 1, b: 2 } }),
    ).rejects.toThrow("not called");
    await expect(ask(wire, "mcp_call", { tool: "mcp__any__none" })).rejects.toThrow("mcp__any__none");
    expect(
      await ask(wire, "mcp_read_resource", {
        serverName: "any",
        uri: "demo://resource/static/document/features.md",
      }),
    ).toMatchObject({ contents: [{ text: expect.any(String) }] });
    await ask(wire, "mcp_toggle", { serverName: "any", enabled: false });
    expect(await ask(wire, "mcp_status")).toMatchObject({
      mcpServers: [{ name: "any", status: "disabled" }],
    });
    await ask(wire, "mcp_toggle", { serverName: "any", enabled: true });
    await ask(wire, "mcp_reconnect", { serverName: "any" });
    expect(await ask(wire, "mcp_status")).toMatchObject({
      mcpServers: [{ name: "any", status: "connected" }],
    });
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });
});

describe("what has no meaning", () => {
  test("is refused with its reason, and the guide names each", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage);
    const guide = readFileSync(path.join(import.meta.dirname, "../../docs/guide/executable.md"), "utf8");
    for (const [subtype, why] of meaningless) {
      await expect(ask(wire, subtype)).rejects.toThrow(
        `Unsupported control request subtype: ${subtype} (${why})`,
      );
      expect(guide).toContain(`\`${subtype}\``);
    }
    for (const name of ["__proto__", "constructor", "made_up"])
      await expect(ask(wire, name)).rejects.toThrow(`Unsupported control request subtype: ${name}`);
  });

  test("every subtype of the interface is known, or refused for a reason", async () => {
    const [, section = ""] = /SDK→CLI: ([\s\S]*?)CLI→SDK/.exec(referenceText) ?? [];
    const names = [...section.replaceAll(/\{[^}]*\}/g, "").matchAll(/[a-z]+(?:_[a-z]+)+/g)].map(
      ([name]) => name,
    );
    expect(names.length).toBeGreaterThan(35);
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage);
    const answers = await Promise.allSettled(names.map((name) => ask(wire, name)));
    const unknown = answers.flatMap((answer, index) =>
      answer.status === "rejected" && /^Unsupported[^(]*$/.test(answer.reason.message) ? [names[index]] : [],
    );
    expect(unknown).toEqual([]);
  });
});
