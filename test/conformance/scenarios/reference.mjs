const kindOf = (message) => (message.type === "system" ? `system/${message.subtype}` : message.type);
const nobody = "00000000-0000-4000-8000-000000000000";
const one = "11111111-1111-4111-8111-111111111111";
const two = "22222222-2222-4222-8222-222222222222";

/** Which of these fields an object lacks. */
const lacks = (object, names) => names.filter((name) => object?.[name] === undefined);

/** Messages by kind, without those that only some candidates send. */
const kindsOf = (kit) => kit.messages.map(kindOf).filter((kind) => kind !== "system/ui_invalidate");

const outcome = async (work) => {
  try {
    return (await work()) ?? "nothing";
  } catch {
    return "rejected";
  }
};

export default function scenarios({ reply, toolUse, allow }) {
  const touch = (name, id) => toolUse("Bash", { command: `touch ${name}` }, id);
  return {
    values: {
      about: "constants that programs compare with, and what the helpers return",
      replies: [],
      run: async (kit) => {
        const { sdk, z } = kit;
        kit.note("old names", sdk.LEGACY_TOOL_NAME_ALIASES);
        kit.note("hook events", sdk.HOOK_EVENTS.length);
        kit.note("exit reasons", sdk.EXIT_REASONS);
        const abort = new sdk.AbortError("stopped");
        kit.note("abort", [abort.name, abort.message, abort instanceof Error]);
        const add = sdk.tool("add", "Adds", { a: z.number() }, async () => ({ content: [] }), {
          annotations: { readOnlyHint: true },
        });
        kit.note("tool", lacks(add, ["name", "description", "inputSchema", "handler", "annotations"]));
        const server = sdk.createSdkMcpServer({ name: "sums", tools: [add] });
        kit.note("server", [server.type, server.name, typeof server.instance]);
        kit.note(
          "sessions of version 2",
          Object.keys(sdk).filter((name) => name.startsWith("unstable_v2")),
        );
      },
    },

    "session-functions": {
      about: "functions for kept sessions: bounds, names, and what there is not",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        const { sdk, cwd: dir } = kit;
        await kit.consume(kit.query("first words"));
        const first = kit.messages.at(-1).session_id;
        await kit.sleep(20);
        await kit.consume(kit.query("second words"));
        const second = kit.messages.at(-1).session_id;
        const listed = async (options) =>
          (await sdk.listSessions({ dir, ...options })).map(({ sessionId }) =>
            sessionId === first ? "first" : sessionId === second ? "second" : "other",
          );
        kit.note("newest first", await listed());
        kit.note("one", await listed({ limit: 1 }));
        kit.note("the one behind it", await listed({ limit: 1, offset: 1 }));
        kit.note("a limit of none", await listed({ limit: 0 }));
        kit.note("elsewhere", (await sdk.listSessions({ dir: kit.outside })).length);
        kit.note("nobody's", [
          await outcome(() => sdk.getSessionInfo(nobody, { dir })),
          await outcome(() => sdk.getSessionInfo("no id", { dir })),
          await outcome(() => sdk.getSessionMessages(nobody, { dir })),
          await outcome(() => sdk.getSessionMessages("no id", { dir })),
          await outcome(() => sdk.listSubagents(nobody, { dir })),
          await outcome(() => sdk.getSubagentMessages(first, "a0123456789abcdef", { dir })),
          await outcome(() => sdk.renameSession(nobody, "x", { dir })),
          await outcome(() => sdk.forkSession(nobody, { dir })),
          await outcome(() => sdk.forkSession(first, { dir, upToMessageId: nobody })),
          await outcome(() => sdk.deleteSession(nobody, { dir })),
          await outcome(() => sdk.renameSession(first, "  ", { dir })),
        ]);
        const types = async (options) =>
          (await sdk.getSessionMessages(first, { dir, ...options })).map(({ type }) => type);
        kit.note("messages", [await types(), await types({ limit: 1 }), await types({ offset: 1 })]);
        await sdk.renameSession(first, "A name", { dir });
        await sdk.tagSession(first, "blue", { dir });
        const labels = async (id) => {
          const info = await sdk.getSessionInfo(id, { dir });
          return [info.customTitle ?? null, info.summary, info.tag ?? null];
        };
        kit.note("labelled", await labels(first));
        await sdk.tagSession(first, null, { dir });
        kit.note("without its tag", await labels(first));
        kit.note("copy", await labels((await sdk.forkSession(first, { dir })).sessionId));
        const named = await sdk.forkSession(first, { dir, title: "Another" });
        kit.note("copy with a name", await labels(named.sessionId));
        await sdk.archiveSession(first, { dir });
        kit.note("archived", (await sdk.getSessionInfo(first, { dir })).archived);
        await sdk.unarchiveSession(first, { dir });
        kit.note("back", (await sdk.getSessionInfo(first, { dir })).archived ?? false);
        await sdk.deleteSession(named.sessionId, { dir });
        kit.note("deleted", (await sdk.getSessionInfo(named.sessionId, { dir })) ?? "nothing");
      },
    },

    "message-ids": {
      about: "a message with an id: its life, and its name on the first words and on the result",
      replies: [reply(toolUse("Bash", { command: "echo hi" }, "echo")), reply("Done."), reply("Again.")],
      run: async (kit) => {
        await kit.converse([kit.user("go", { uuid: one }), "once more"]);
        kit.note(
          "told",
          kit.messages.map((message) =>
            message.type === "command_lifecycle"
              ? message.state
              : [
                  kindOf(message),
                  message.type === "system" ? null : (message.user_message_uuid ?? null),
                  message.type === "system" ? null : (message.user_message_uuids ?? null),
                ],
          ),
        );
      },
    },

    "no-answer-wanted": {
      about: "shouldQuery: false: a life and a result of its own, and the next prompt takes it along",
      replies: [reply("Done.")],
      probes: ["NOTED", "ASKED"],
      run: async (kit) => {
        const noted = kit.user("NOTED", { shouldQuery: false, uuid: one });
        await kit.converse([noted, kit.user("ASKED", { uuid: two })]);
        kit.note(
          "told",
          kit.messages.map((message) =>
            message.type === "command_lifecycle"
              ? `${message.command_uuid === one ? "noted" : "asked"} ${message.state}`
              : kindOf(message),
          ),
        );
        const results = kit.messages.filter(({ type }) => type === "result");
        kit.note(
          "results",
          results.map((result) => [result.num_turns, result.result_index, result.user_message_uuids]),
        );
      },
    },

    methods: {
      about: "what methods of a query return, and what they refuse",
      files: { "a.txt": "hello" },
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        await kit.converse([
          "hello",
          async (query) => {
            const read = async (options) => {
              const { contents, truncated, encoding, lossy } = (await query.readFile("a.txt", options)) ?? {};
              return [contents, truncated ?? false, encoding ?? null, lossy ?? null];
            };
            kit.note("a file", [
              await read(),
              await read({ maxBytes: 2 }),
              await read({ encoding: "base64" }),
              await query.readFile("missing.txt"),
              await query.readFile("/etc/passwd"),
            ]);
            kit.note("interrupt when nothing runs", await query.interrupt());
            kit.note("refused", [
              await outcome(() => query.setPermissionMode("sometimes")),
              await outcome(() => query.setPermissionMode("bypassPermissions")),
              await outcome(() => query.rewindFiles(nobody)),
              await outcome(() => query.stopTask("nobody")),
              await outcome(() => query.reconnectMcpServer("nobody")),
              await outcome(() => query.toggleMcpServer("nobody", false)),
              await outcome(() => query.readMcpResource("nobody", "ui://x")),
            ]);
            kit.note("taken", [
              await outcome(() => query.applyFlagSettings({ effortLevel: "low" })),
              await outcome(() => query.setMcpServers({})),
              await outcome(() => query.setMaxThinkingTokens(null)),
              await outcome(() => query.setModel()),
              await outcome(() => query.seedReadState(kit.resolve("a.txt"), Date.now())),
            ]);
            kit.note(
              "described",
              lacks(await query.initializationResult(), [
                "commands",
                "agents",
                "models",
                "account",
                "output_style",
                "available_output_styles",
                "claude_code_version",
                "current_permission_mode",
                "hook_on_failure_supported",
                "fast_mode_state",
              ]),
            );
            kit.note(
              "context",
              lacks(await query.getContextUsage(), [
                "categories",
                "totalTokens",
                "maxTokens",
                "percentage",
                "model",
                "isAutoCompactEnabled",
              ]),
            );
            return "more";
          },
        ]);
      },
    },

    "allow-as-it-is": {
      about: "an allow needs no updatedInput",
      replies: [reply(touch("made", "make")), reply("Done.")],
      permission: () => ({ behavior: "allow" }),
      after: (kit) => kit.note("made", kit.exists("made")),
    },

    "no-prompts": {
      about: "permissionPrompts none: whatever would be asked is denied, callback or not",
      replies: [reply(touch("made", "make")), reply("Done.")],
      permission: allow,
      options: { permissionPrompts: "none" },
      after: (kit) => kit.note("made", kit.exists("made")),
    },

    "further-folders": {
      about: "additionalDirectories are read without a question",
      outsideFiles: { "o.txt": "outside" },
      replies: [reply(toolUse("Read", { file_path: "{{outside}}/o.txt" }, "read")), reply("Done.")],
      options: { additionalDirectories: ["{{outside}}"] },
    },

    "settings-given": {
      about: "settings of the start allow, settings of the host's policy forbid",
      replies: [reply(touch("one", "one"), touch("two", "two")), reply("Done.")],
      options: {
        settings: { permissions: { allow: ["Bash(touch:*)"] } },
        managedSettings: { permissions: { deny: ["Bash(touch two)"] } },
      },
      after: (kit) => kit.note("made", [kit.exists("one"), kit.exists("two")]),
    },

    "settings-named": {
      about: "settings of the start as a file: rules and variables",
      files: {
        "s.json": JSON.stringify({
          permissions: { allow: ["Bash(touch:*)", "Bash(printenv:*)"] },
          env: { HELLO: "world" },
        }),
      },
      replies: [
        reply(touch("made", "make"), toolUse("Bash", { command: "printenv HELLO" }, "echo")),
        reply("Done."),
      ],
      options: { settings: "{{cwd}}/s.json" },
      after: (kit) => {
        kit.note("made", kit.exists("made"));
        const results = kit.messages.filter(({ type }) => type === "user");
        const echoed = results.find(({ message }) => message.content[0].tool_use_id === "echo");
        kit.note("said", echoed.tool_use_result.stdout.trim());
      },
    },

    "prompt-parts": {
      about: "a system prompt in parts, and one that is marked as custom",
      replies: [reply("One."), reply("Two.")],
      probes: ["PART-A", "PART-B", "PART-C"],
      run: async (kit) => {
        await kit.consume(kit.query("hi", { systemPrompt: ["PART-A", "PART-B"] }));
        await kit.consume(kit.query("hi", { systemPrompt: { type: "custom", prompt: "PART-C" } }));
      },
    },

    verbatim: {
      about: "verbatimPrompts: words with a slash are the model's to read",
      prompt: "/context",
      replies: [reply("Read.")],
      probes: ["/context"],
      options: { verbatimPrompts: true },
    },

    title: {
      about: "title names the session",
      replies: [reply("Done.")],
      options: { title: "My title" },
      after: async (kit) => {
        const listed = await kit.sdk.listSessions({ dir: kit.cwd });
        kit.note(
          "listed",
          listed.map(({ customTitle, summary }) => [customTitle, summary]),
        );
      },
    },

    prewarm: {
      about: "prewarm holds a start ready, which one prompt claims",
      replies: [reply("Done.")],
      run: async (kit) => {
        const spare = await kit.sdk.prewarm({ options: kit.options() });
        kit.note("before", [typeof spare.claimed, spare.exited instanceof Promise]);
        await kit.consume(await spare.claim({ prompt: "hi", options: { cwd: kit.cwd } }));
        kit.note("after", kindsOf(kit));
      },
    },

    reset: {
      about: "/clear tells what it was",
      turns: ["hello", "/clear", "more"],
      replies: [reply("One."), reply("Two.")],
      after: (kit) => {
        const reset = kit.messages.find(({ type }) => type === "conversation_reset");
        kit.note("trigger", reset.trigger);
        kit.note("a new session", reset.new_conversation_id !== reset.session_id);
      },
    },

    "hook-inputs": {
      about: "what every hook is told",
      replies: [
        reply(
          toolUse("Bash", { command: "touch made" }, "make"),
          toolUse("Read", { file_path: "{{cwd}}/missing.txt" }, "read"),
          toolUse("TaskCreate", { subject: "paint", description: "all of it" }, "task"),
        ),
        reply(
          toolUse("TaskUpdate", { taskId: "1", status: "completed" }, "done"),
          toolUse(
            "Agent",
            {
              description: "look",
              prompt: "Look.",
              subagent_type: "general-purpose",
              run_in_background: false,
            },
            "agent",
          ),
        ),
        reply("Looked."),
        reply("Done."),
        reply("Once more."),
        reply("<summary>short</summary>"),
        reply("After it."),
      ],
      run: async (kit) => {
        const seen = new Map();
        const note = async (input) => {
          if (!seen.has(input.hook_event_name)) seen.set(input.hook_event_name, input);
          return {};
        };
        const hooks = Object.fromEntries(Object.keys(toldTo).map((event) => [event, [{ hooks: [note] }]]));
        const turns = [
          "hello",
          (query) => query.setModel("claude-haiku-4-5").then(() => "again"),
          "/compact",
          "after it",
        ];
        await kit.converse(turns, { hooks, canUseTool: allow });
        const base = ["session_id", "transcript_path", "cwd", "hook_event_name"];
        for (const [event, fields] of Object.entries(toldTo))
          kit.note(event, lacks(seen.get(event), [...base, ...fields]));
      },
    },

    "data-of-results": {
      about: "tool_use_result by tool",
      files: { "a.txt": "one\ntwo\n" },
      replies: [
        reply(
          toolUse("Read", { file_path: "{{cwd}}/a.txt" }, "Read"),
          toolUse("Glob", { pattern: "*.txt" }, "Glob"),
          toolUse("Grep", { pattern: "one" }, "Grep"),
          toolUse("Bash", { command: "echo hi" }, "Bash"),
        ),
        reply(
          toolUse("Edit", { file_path: "{{cwd}}/a.txt", old_string: "one", new_string: "1" }, "Edit"),
          toolUse("Write", { file_path: "{{cwd}}/n.txt", content: "x" }, "Write"),
        ),
        reply(toolUse("Agent", { description: "look", prompt: "Look.", run_in_background: false }, "Agent")),
        reply("Looked."),
        reply("Done."),
      ],
      options: {
        tools: ["Read", "Glob", "Grep", "Bash", "Edit", "Write", "Agent"],
        permissionMode: "bypassPermissions",
        allowDangerouslySkipPermissions: true,
      },
      after: (kit) => {
        for (const message of kit.messages.filter(({ type }) => type === "user")) {
          const [block] = message.message.content;
          const { tool_use_id: tool } = block;
          if (message.parent_tool_use_id === null && fieldsOf[tool])
            kit.note(tool, lacks(message.tool_use_result, fieldsOf[tool]));
        }
      },
    },
  };
}

const toldTo = {
  UserPromptSubmit: ["prompt"],
  PreToolUse: ["tool_name", "tool_input", "tool_use_id", "permission_mode"],
  PostToolUse: ["tool_name", "tool_input", "tool_response", "tool_use_id", "duration_ms"],
  PostToolUseFailure: ["tool_name", "tool_input", "tool_use_id", "error", "is_interrupt", "duration_ms"],
  PostToolBatch: ["tool_calls"],
  TaskCreated: ["task_id", "task_subject", "task_description"],
  TaskCompleted: ["task_id", "task_subject"],
  SubagentStart: ["agent_id", "agent_type"],
  SubagentStop: [
    "stop_hook_active",
    "agent_id",
    "agent_type",
    "agent_transcript_path",
    "last_assistant_message",
    "background_tasks",
    "session_crons",
  ],
  Stop: ["stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"],
  PreModelSwitch: ["from_model", "to_model", "source", "context_tokens"],
  PostModelSwitch: ["from_model", "to_model", "source", "context_tokens"],
  PreCompact: ["trigger", "custom_instructions"],
  PostCompact: ["trigger", "compact_summary"],
  SessionStart: ["source"],
};

const fieldsOf = {
  Read: ["type", "file"],
  Glob: ["durationMs", "numFiles", "filenames", "truncated"],
  Grep: ["mode", "numFiles", "filenames"],
  Bash: ["stdout", "stderr", "interrupted", "isImage", "noOutputExpected"],
  Edit: [
    "filePath",
    "oldString",
    "newString",
    "originalFile",
    "structuredPatch",
    "userModified",
    "replaceAll",
  ],
  Write: ["type", "filePath", "content", "structuredPatch", "userModified"],
  Agent: [
    "status",
    "prompt",
    "agentId",
    "agentType",
    "content",
    "totalToolUseCount",
    "totalDurationMs",
    "totalTokens",
    "usage",
    "resolvedModel",
  ],
};
