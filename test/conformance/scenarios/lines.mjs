// Lines of the reference that no other family shows. Each is told by what a program can note; words are free.
const kindOf = (message) => (message.type === "system" ? `system/${message.subtype}` : message.type);
const one = "11111111-1111-4111-8111-111111111111";
const two = "22222222-2222-4222-8222-222222222222";

const lacks = (object, names) => names.filter((name) => object?.[name] === undefined);
const resultsOf = (kit) => kit.messages.filter(({ type }) => type === "result");
const initOf = (kit) => kit.messages.find((message) => kindOf(message) === "system/init");
const ofKind = (kit, kind) => kit.messages.filter((message) => kindOf(message) === kind);

export default function scenarios({ reply, toolUse, allow, hookOutput, text }) {
  const bash = (command, id) => toolUse("Bash", { command }, id);
  const ECHO = { type: "stdio", command: "node", args: ["{{fixtures}}/mcp-echo.mjs"], alwaysLoad: true };
  const agent = (more = {}) =>
    toolUse("Agent", { description: "look", prompt: "Look.", run_in_background: false, ...more }, "agent");

  return {
    "structured-never-fits": {
      about: "outputFormat: an answer that never fits ends with a reason of its own",
      otherwise: reply(toolUse("StructuredOutput", { answer: "many" })),
      options: {
        outputFormat: {
          type: "json_schema",
          schema: { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] },
        },
      },
      after: (kit) => {
        const [result] = resultsOf(kit);
        kit.note("end", [result.subtype, result.is_error, result.terminal_reason]);
        kit.note("requests", kit.requests.filter(({ kind }) => kind === "message").length);
      },
    },

    "last-compaction": {
      about: "hooks of a /compact that nothing follows",
      replies: [reply("One."), reply("<summary>short</summary>")],
      run: async (kit) => {
        const called = [];
        const note = async ({ hook_event_name: event }) => {
          called.push(event);
          return {};
        };
        const events = ["PreCompact", "PostCompact"];
        await kit.converse(["hello", "/compact"], {
          hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [note] }]])),
        });
        kit.note("called", called);
      },
    },

    "compaction-told": {
      about: "/compact: status, init, boundary, summary, result, in this order",
      turns: ["hello", "/compact"],
      replies: [reply("One."), reply("<summary>short</summary>")],
      after: (kit) => {
        const from = kit.messages.findIndex(({ type }) => type === "result") + 1;
        const told = kit.messages.slice(from).filter((message) => message.isReplay !== true);
        kit.note("order", told.map(kindOf));
        kit.note(
          "statuses",
          ofKind(kit, "system/status").map(({ status, compact_result }) => [status, compact_result ?? null]),
        );
        const result = resultsOf(kit).at(-1);
        kit.note("result", [result.local_command, result.num_turns, result.is_error]);
        const { compact_metadata: about } = ofKind(kit, "system/compact_boundary")[0];
        kit.note("boundary lacks", lacks(about, ["trigger", "pre_tokens", "post_tokens", "duration_ms"]));
      },
    },

    "heard-now": {
      about: "priority now ends the running turn without a failure, and has a turn of its own",
      replies: [reply(bash("sleep 20", "long")), reply("Heard.")],
      run: async (kit) => {
        const input = kit.input();
        const query = kit.query(input, { canUseTool: allow });
        input.push(kit.user("go", { uuid: one }));
        await kit.consume(query, (message) => {
          if (message.type === "assistant" && !kit.said) {
            kit.said = true;
            input.push(kit.user("stop that", { priority: "now", uuid: two }));
          }
          if (message.type === "result" && message.result === "Heard.") input.end();
        });
        const [first, second] = resultsOf(kit);
        kit.note("first", [first.subtype, first.is_error, /^aborted_/.test(first.terminal_reason)]);
        kit.note("second", [second.subtype, second.result, second.user_message_uuids]);
      },
    },

    "unknown-command": {
      about: "words with a slash that name no command are the model's to read",
      prompt: "/nothing-of-that-name at all",
      replies: [reply("Read.")],
      probes: ["/nothing-of-that-name at all"],
    },

    "local-command": {
      about: "a command that needs no model: an answer of nobody's, and a result that names it",
      prompt: "/context",
      replies: [],
      after: (kit) => {
        const said = kit.messages.find(({ type }) => type === "assistant");
        const [result] = resultsOf(kit);
        kit.note("told", [said.message.model, said.message.content[0].type]);
        kit.note("result", [result.subtype, result.num_turns, result.local_command]);
      },
    },

    "stop-for-good": {
      about: "Stop with continue: false ends the turn there",
      replies: [reply("Done.")],
      hooks: { Stop: [{ output: { continue: false, stopReason: "enough" } }] },
      after: (kit) => {
        const [result] = resultsOf(kit);
        kit.note("end", [result.subtype, result.is_error, result.terminal_reason]);
      },
    },

    "post-block": {
      about: "PostToolUse with decision: block tells the model and nobody else",
      replies: [reply(bash("echo hi", "echo")), reply("Done.")],
      probes: ["NOT-GOOD-ENOUGH"],
      hooks: { PostToolUse: [{ output: { decision: "block", reason: "NOT-GOOD-ENOUGH" } }] },
      after: (kit) =>
        kit.note("in the stream", JSON.stringify(ofKind(kit, "user")).includes("NOT-GOOD-ENOUGH")),
    },

    "words-of-hooks": {
      about: "systemMessage of a hook, and a hook that throws, are told beside the conversation",
      replies: [reply(bash("echo hi", "echo")), reply("Done.")],
      hooks: {
        PreToolUse: [{ output: { systemMessage: "LOOK-AT-THIS" } }],
        PostToolUse: [
          {
            output: () => {
              throw new Error("broken");
            },
          },
        ],
      },
      after: (kit) =>
        kit.note(
          "told",
          ofKind(kit, "system/informational")
            .map(({ level, tag, content }) => [level, tag ?? null, content.includes("LOOK-AT-THIS")])
            .sort(),
        ),
    },

    "denied-path": {
      about: "a path that a rule denies is an error for the model, and is booked",
      files: { "secret.txt": "PASSWORD" },
      replies: [reply(toolUse("Read", { file_path: "{{cwd}}/secret.txt" }, "read")), reply("Done.")],
      probes: ["PASSWORD"],
      options: { settings: { permissions: { deny: ["Read(./secret.txt)"] } } },
      after: (kit) => {
        kit.note("failed", ofKind(kit, "user")[0].message.content[0].is_error);
        kit.note(
          "booked",
          resultsOf(kit)[0].permission_denials.map(({ tool_name }) => tool_name),
        );
      },
    },

    "rules-of-a-project": {
      about: "nobody trusted the project: what its settings deny is denied, what they allow is not",
      files: {
        ".claude/settings.json": JSON.stringify({
          permissions: { allow: ["Bash(touch yes)"], deny: ["Bash(echo no)"] },
        }),
      },
      replies: [reply(bash("touch yes", "yes")), reply(bash("echo no", "no")), reply("Done.")],
      options: { settingSources: undefined },
      after: (kit) => {
        kit.note("made", kit.exists("yes"));
        kit.note(
          "booked",
          resultsOf(kit)[0].permission_denials.map(({ tool_use_id: id }) => id),
        );
      },
    },

    "no-sources": {
      about: "without any settings there are still built-in skills and agents",
      replies: [reply("Done.")],
      after: (kit) => {
        const { skills, agents } = initOf(kit);
        kit.note("skills", skills.length > 0);
        kit.note(
          "agents",
          ["general-purpose", "Explore", "Plan"].filter((name) => !agents.includes(name)),
        );
      },
    },

    "default-of-an-edit": {
      about: "defaults stand in the input that is told",
      files: { "a.txt": "one" },
      replies: [
        reply(toolUse("Read", { file_path: "{{cwd}}/a.txt" }, "read")),
        reply(toolUse("Edit", { file_path: "{{cwd}}/a.txt", old_string: "one", new_string: "1" }, "edit")),
        reply("Done."),
      ],
      permission: allow,
      after: (kit) => {
        const calls = ofKind(kit, "assistant").flatMap(({ message }) => message.content);
        kit.note("replace_all", calls.find(({ id }) => id === "edit").input.replace_all);
      },
    },

    "tools-that-ask": {
      about: "tools that only ask are there where somebody answers",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        const asking = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];
        const offered = () =>
          ofKind(kit, "system/init").map(({ tools }) => asking.filter((name) => tools.includes(name)));
        await kit.consume(kit.query("hi"));
        await kit.consume(kit.query("hi", { canUseTool: allow }));
        kit.note("offered", offered());
        kit.note("the agent's tool", initOf(kit).tools.includes("Task"));
      },
    },

    "beside-calls": {
      about: "who decided about a call, and whose tool it is",
      replies: [
        reply(bash("echo hi", "free")),
        reply(bash("touch made", "asked")),
        reply(bash("touch no", "refused")),
        reply(toolUse("mcp__echo__echo", { text: "hey" }, "server")),
        reply("Done."),
      ],
      permission: (tool, input) =>
        input.command === "touch no" ? { behavior: "deny", message: "no" } : { behavior: "allow" },
      options: { mcpServers: { echo: ECHO } },
      after: (kit) => {
        const metas = ofKind(kit, "user").flatMap(({ tool_result_meta: meta = [] }) => meta);
        kit.note(
          "decided",
          metas.map(({ id, permission_decision: { decision, source }, non_execution_kind: kind }) => [
            id,
            decision,
            source,
            kind ?? null,
          ]),
        );
        const calls = ofKind(kit, "assistant").flatMap(({ tool_use_meta: meta = [] }) => meta);
        kit.note(
          "whose",
          calls.map(({ id, tool_name }) => [id, tool_name]),
        );
      },
    },

    counts: {
      about: "results are numbered, turns count user messages, the bill is told in total and since the last",
      turns: ["one", "two"],
      replies: [reply(bash("echo 1", "a"), bash("echo 2", "b")), reply("One."), reply("Two.")],
      after: (kit) => {
        const [first, second] = resultsOf(kit);
        kit.note("numbers", [first.result_index, second.result_index]);
        kit.note("turns", [first.num_turns, second.num_turns]);
        const tokens = (usage) =>
          Object.values(usage).map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]);
        kit.note("in all", [tokens(first.modelUsage), tokens(second.modelUsage)]);
        kit.note("since the last", [
          tokens(first.model_usage_since_last_result),
          tokens(second.model_usage_since_last_result),
        ]);
        kit.note("of the turn", [first.usage.input_tokens, second.usage.input_tokens]);
      },
    },

    "runs-of-hooks": {
      about: "includeHookEvents tells of commands of settings, and never of callbacks",
      replies: [reply(bash("echo hi", "echo")), reply("Done.")],
      hooks: { PostToolUse: [{ output: {} }] },
      options: {
        includeHookEvents: true,
        settings: {
          hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "echo '{}'" }] }] },
        },
      },
      after: (kit) => {
        const told = kit.messages.filter((message) => /hook_(?:started|response)$/.test(kindOf(message)));
        kit.note(
          "told",
          told.map((message) => [message.subtype, message.hook_event, message.outcome ?? null]),
        );
        kit.note(
          "response lacks",
          lacks(told.at(-1), ["hook_id", "hook_name", "output", "stdout", "stderr", "exit_code"]),
        );
      },
    },

    "mode-told": {
      about: "a change of the mode is told as a status",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        await kit.converse(["one", (query) => query.setPermissionMode("acceptEdits").then(() => "two")]);
        const statuses = ofKind(kit, "system/status").filter(({ permissionMode }) => permissionMode);
        kit.note(
          "told",
          statuses.map(({ status, permissionMode }) => [status, permissionMode]),
        );
      },
    },

    stores: {
      about: "a kept session goes into a store, and settings are resolved",
      replies: [reply("One.")],
      run: async (kit) => {
        const { sdk, cwd: dir } = kit;
        await kit.consume(kit.query("hello"));
        const id = kit.messages.at(-1).session_id;
        const store = new sdk.InMemorySessionStore();
        await sdk.importSessionToStore(id, store, { dir });
        const types = async (options) => (await sdk.getSessionMessages(id, options)).map(({ type }) => type);
        kit.note("from the store", await types({ dir, sessionStore: store }));
        kit.note("listed", (await sdk.listSessions({ dir, sessionStore: store })).length);
        const settings = await sdk.resolveSettings({ cwd: dir, settingSources: [] });
        kit.note("settings lack", lacks(settings, ["effective", "provenance", "sources"]));
      },
    },

    "agents-kept": {
      about: "an agent of a kept session is listed, and its messages are read",
      replies: [reply(agent()), reply("Looked."), reply("Done.")],
      run: async (kit) => {
        const { sdk, cwd: dir } = kit;
        await kit.consume(kit.query("go"));
        const id = kit.messages.at(-1).session_id;
        const agents = await sdk.listSubagents(id, { dir });
        kit.note("agents", agents.length);
        const messages = await sdk.getSubagentMessages(id, agents[0], { dir });
        kit.note(
          "messages",
          messages.map(({ type }) => type),
        );
        kit.note(
          "message lacks",
          lacks(messages[0], ["uuid", "session_id", "message", "parent_tool_use_id"]),
        );
      },
    },

    environment: {
      about: "env takes the place of the process's variables",
      replies: [reply(bash("echo ${GIVEN-none} ${OTHER-none}", "echo")), reply("Done.")],
      run: async (kit) => {
        process.env.OTHER = "of the process";
        await kit.consume(kit.query("go", { env: { ...kit.env, GIVEN: "given" }, canUseTool: allow }));
        kit.note("said", ofKind(kit, "user")[0].tool_use_result.stdout.trim());
      },
    },

    resources: {
      about: "resources of a server are listed and read",
      replies: [
        reply(toolUse("ListMcpResourcesTool", {}, "list")),
        reply(toolUse("ReadMcpResourceTool", { server: "echo", uri: "mem://note" }, "read")),
        reply("Done."),
      ],
      probes: ["text of the note", "mem://note"],
      permission: allow,
      options: { mcpServers: { echo: ECHO } },
      after: (kit) =>
        kit.note(
          "failed",
          ofKind(kit, "user").map(({ message }) => message.content[0].is_error ?? false),
        ),
    },

    "kind-of-agent": {
      about: "a kind of agent has its own prompt, tools and model",
      replies: [reply(agent({ subagent_type: "helper" })), reply("Looked."), reply("Done.")],
      options: {
        agents: {
          helper: {
            description: "Helps",
            prompt: "HELPER-PROMPT",
            tools: ["Read"],
            model: "claude-haiku-4-5",
          },
        },
      },
      after: (kit) => {
        const asked = kit.requests.filter(({ kind }) => kind === "message").map(({ body }) => body);
        const own = asked.find(({ system }) => JSON.stringify(system ?? "").includes("HELPER-PROMPT"));
        kit.note("model", own?.model);
        kit.note(
          "tools",
          own?.tools?.map(({ name }) => name),
        );
      },
    },

    "thinking-wanted": {
      about: "thinking and effort reach the model",
      replies: [reply("One."), reply("Two."), reply("Three.")],
      run: async (kit) => {
        await kit.consume(kit.query("hi", { thinking: { type: "enabled", budgetTokens: 2048 } }));
        await kit.consume(kit.query("hi", { thinking: { type: "disabled" } }));
        await kit.consume(kit.query("hi", { model: "claude-opus-4-5", effort: "low" }));
        const asked = kit.requests.filter(({ kind }) => kind === "message").map(({ body }) => body);
        kit.note("thinking", [asked[0].thinking ?? null, asked[1].thinking?.type ?? "disabled"]);
        kit.note("effort", asked[2].output_config?.effort ?? null);
      },
    },

    "streamed-later": {
      about: "streamInput says more while the query runs",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        const input = kit.input();
        const query = kit.query(input);
        input.push(kit.user("first"));
        const more = async function* () {
          yield kit.user("SECOND");
        };
        await kit.consume(query, async (message) => {
          if (message.type !== "result") return;
          if (resultsOf(kit).length === 1) await query.streamInput(more());
          else input.end();
        });
        kit.note(
          "results",
          resultsOf(kit).map(({ result }) => result),
        );
      },
    },

    "server-switches": {
      about: "a server is switched off and on, and connected anew",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        const server = { ...ECHO, args: [`${kit.fixtures}/mcp-echo.mjs`] };
        const status = async (query) =>
          (await query.mcpServerStatus()).map(({ name, status }) => [name, status]);
        const seen = [];
        await kit.converse(
          [
            "one",
            async (query) => {
              seen.push(await status(query));
              await query.toggleMcpServer("echo", false);
              seen.push(await status(query));
              await query.toggleMcpServer("echo", true);
              seen.push(await status(query));
              await query.reconnectMcpServer("echo");
              seen.push(await status(query));
              return "two";
            },
          ],
          { mcpServers: { echo: server } },
        );
        kit.note("seen", seen);
      },
    },

    "model-echoed": {
      about: "setModel is told as an echo that names the model",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        await kit.converse(["one", (query) => query.setModel("claude-haiku-4-5").then(() => "two")]);
        const echoes = kit.messages.filter((message) => message.isReplay === true);
        kit.note(
          "echoes",
          echoes.map(({ type, message }) => [
            type,
            message.role,
            /^<local-command-stdout>[\s\S]*<\/local-command-stdout>$/.test(message.content),
          ]),
        );
      },
    },

    "times-of-a-result": {
      about: "a result tells when its first words came",
      replies: [reply("One.")],
      options: { includePartialMessages: true },
      after: (kit) => {
        const [result] = resultsOf(kit);
        const names = ["duration_ms", "duration_api_ms", "ttft_ms", "ttft_stream_ms", "time_to_request_ms"];
        kit.note("lacks", lacks(result, names));
      },
    },

    "context-in-parts": {
      about: "getContextUsage tells what fills the window",
      files: { "CLAUDE.md": "Be brief." },
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        await kit.converse(
          [
            "one",
            async (query) => {
              const usage = await query.getContextUsage();
              const names = [
                "categories",
                "totalTokens",
                "maxTokens",
                "rawMaxTokens",
                "percentage",
                "gridRows",
              ];
              const more = ["model", "memoryFiles", "mcpTools", "agents", "isAutoCompactEnabled", "apiUsage"];
              kit.note("lacks", lacks(usage, [...names, ...more]));
              kit.note("category lacks", lacks(usage.categories[0], ["name", "tokens", "color"]));
              kit.note("grid", [
                usage.gridRows.length > 0,
                lacks(usage.gridRows[0]?.[0], [
                  "color",
                  "isFilled",
                  "categoryName",
                  "tokens",
                  "percentage",
                  "squareFullness",
                ]),
              ]);
              kit.note("usage", usage.apiUsage);
              kit.note(
                "servers' tools",
                usage.mcpTools.map(({ name, serverName }) => [name, serverName]),
              );
              kit.note(
                "files",
                usage.memoryFiles.map(({ type }) => type),
              );
              return "two";
            },
          ],
          {
            settingSources: ["project"],
            mcpServers: { echo: { ...ECHO, args: [`${kit.fixtures}/mcp-echo.mjs`] } },
          },
        );
      },
    },

    "what-is-offered": {
      about: "what a host may let the harness remember, by kind of call",
      outsideFiles: { "o.txt": "x" },
      replies: [
        reply(bash("touch made", "bash")),
        reply(toolUse("Write", { file_path: "{{cwd}}/n.txt", content: "x" }, "write")),
        reply(toolUse("Read", { file_path: "{{outside}}/o.txt" }, "read")),
        reply(toolUse("mcp__echo__echo", { text: "hey" }, "server")),
        reply("Done."),
      ],
      run: async (kit) => {
        const seen = {};
        const canUseTool = async (tool, input, options) => {
          seen[tool] = (options.suggestions ?? []).map(({ type, destination }) => [type, destination]);
          kit.lacked ??= lacks(options, ["signal", "toolUseID", "requestId", "displayName", "description"]);
          return { behavior: "allow", updatedInput: input };
        };
        const mcpServers = { echo: { ...ECHO, args: [`${kit.fixtures}/mcp-echo.mjs`] } };
        await kit.consume(kit.query("go", { canUseTool, mcpServers }));
        kit.note("offered", seen);
        kit.note("question lacks", kit.lacked);
      },
    },

    "kept-folder": {
      about: "Bash keeps its folder from call to call, and no variables",
      files: { "sub/a.txt": "x" },
      replies: [
        reply(bash("cd sub && export KEPT=yes", "go")),
        reply(bash("ls; echo ${KEPT-none}", "look")),
        reply("Done."),
      ],
      options: { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true },
      after: (kit) => kit.note("seen", ofKind(kit, "user")[1].tool_use_result.stdout.trim().split("\n")),
    },

    "long-command": {
      about: "a command that takes longer is told as a task that is waited for",
      seconds: 5,
      replies: [reply(bash("sleep 3", "long")), reply("Done.")],
      after: (kit) => {
        const [started] = ofKind(kit, "system/task_started");
        kit.note("started", [started?.is_backgrounded, started?.task_type, started?.tool_use_id]);
        const [ended] = ofKind(kit, "system/task_notification");
        kit.note("ended", [ended?.status, ended?.output_file]);
        kit.note("a run has a name", [typeof started?.run_id, started?.run_id === ended?.run_id]);
      },
    },

    "sent-to-the-background": {
      about: "backgroundTasks sends a running command to the background",
      seconds: 5,
      replies: [reply(bash("sleep 2", "long")), reply("Going on."), reply("Ended.")],
      otherwise: reply("Ended."),
      run: async (kit) => {
        const query = kit.query("go");
        await kit.consume(query, async (message) => {
          if (message.type !== "assistant" || kit.sent) return;
          kit.sent = true;
          await kit.sleep(500);
          kit.note("sent", await query.backgroundTasks());
        });
      },
    },

    "message-shown": {
      about: "MessageDisplay is told of the words that are shown",
      quirk:
        "The reference calls it before the words are told; a host that shows what it likes may never hear of it.",
      replies: [reply("One.")],
      run: async (kit) => {
        const told = [];
        const note = async (input) => {
          told.push(lacks(input, ["turn_id", "message_id", "index", "final", "delta"]));
          return {};
        };
        await kit.consume(kit.query("hi", { hooks: { MessageDisplay: [{ hooks: [note] }] } }));
        kit.note("called", told.length > 0);
        kit.note("lacks", told[0] ?? null);
      },
    },

    "words-for-agents": {
      about: "PreToolUse and PostToolUse may each add words for the model",
      replies: [reply(bash("echo hi", "echo")), reply("Done.")],
      probes: ["BEFORE-IT", "AFTER-IT"],
      hooks: {
        PreToolUse: [{ output: hookOutput("PreToolUse", { additionalContext: "BEFORE-IT" }) }],
        PostToolUse: [{ output: hookOutput("PostToolUse", { additionalContext: "AFTER-IT" }) }],
      },
    },

    "answer-of-a-server": {
      about: "a tool of the program that says isError has failed",
      replies: [reply(toolUse("mcp__calc__fail", {}, "fail")), reply("Done.")],
      options: (kit) => ({
        allowedTools: ["mcp__calc__fail"],
        mcpServers: {
          calc: kit.sdk.createSdkMcpServer({
            name: "calc",
            alwaysLoad: true,
            tools: [
              kit.sdk.tool("fail", "Fails", {}, async () => ({ isError: true, content: [text("NO-LUCK")] })),
            ],
          }),
        },
      }),
      probes: ["NO-LUCK"],
      after: (kit) => kit.note("failed", ofKind(kit, "user")[0].message.content[0].is_error),
    },
  };
}
