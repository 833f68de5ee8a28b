// More lines of the reference: tools that are found, what is asked, agents and their marks, hooks and their bounds.
const kindOf = (message) => (message.type === "system" ? `system/${message.subtype}` : message.type);
const lacks = (object, names) => names.filter((name) => object?.[name] === undefined);
const ofKind = (kit, kind) => kit.messages.filter((message) => kindOf(message) === kind);
const resultsOf = (kit) => ofKind(kit, "result");
const askedOf = (kit) => kit.requests.filter(({ kind }) => kind === "message").map(({ body }) => body);
const never = () => new Promise(() => {});

export default function scenarios({ reply, replyWith, toolUse, text, allow, hookOutput }) {
  const bash = (command, id, more = {}) => toolUse("Bash", { command, ...more }, id);
  const echoServer = (kit, more = {}) => ({
    type: "stdio",
    command: "node",
    args: [`${kit.fixtures}/mcp-echo.mjs`],
    ...more,
  });
  const agent = (id, more = {}) =>
    toolUse("Agent", { description: "look", prompt: "Look.", run_in_background: false, ...more }, id);

  return {
    "tool-found": {
      about: "a tool of a server that is not loaded is found by its name, and then called",
      quirk:
        "The reference never loads tools of servers at once; a candidate that has loaded it finds nothing more.",
      replies: [
        reply(toolUse("ToolSearch", { query: "select:mcp__echo__echo" }, "find")),
        reply(toolUse("mcp__echo__echo", { text: "hey" }, "call")),
        reply("Done."),
      ],
      probes: ["echo: hey"],
      permission: allow,
      options: (kit) => ({ mcpServers: { echo: echoServer(kit) } }),
      after: (kit) => {
        const found = ofKind(kit, "user")[0].tool_use_result;
        kit.note("found", found.matches);
        kit.note("lacks", lacks(found, ["matches", "query", "total_deferred_tools"]));
      },
    },

    "reading-tool-of-a-server": {
      about: "a tool of a server is asked about, also when it says that it only reads",
      replies: [reply(toolUse("mcp__look__look", {}, "look")), reply("Done.")],
      run: async (kit) => {
        const asked = [];
        const canUseTool = async (tool, input) => {
          asked.push(tool);
          return { behavior: "allow", updatedInput: input };
        };
        const look = kit.sdk.tool("look", "Looks", {}, async () => ({ content: [text("seen")] }), {
          annotations: { readOnlyHint: true },
        });
        const server = kit.sdk.createSdkMcpServer({ name: "look", tools: [look], alwaysLoad: true });
        await kit.consume(kit.query("go", { canUseTool, mcpServers: { look: server } }));
        kit.note("asked", asked);
      },
    },

    "what-is-asked": {
      about: "commands that change something or reach out are asked about; those that read are not",
      replies: [
        reply(bash("echo hi | sort", "reads")),
        reply(bash("touch made", "writes")),
        reply(bash("curl -s http://127.0.0.1:9/", "reaches")),
        reply("Done."),
      ],
      run: async (kit) => {
        const asked = [];
        const canUseTool = async (_, __, { toolUseID }) => {
          asked.push(toolUseID);
          return { behavior: "deny", message: "no" };
        };
        await kit.consume(kit.query("go", { canUseTool }));
        kit.note("asked", asked);
        kit.note(
          "booked",
          resultsOf(kit)[0].permission_denials.map(({ tool_use_id: id }) => id),
        );
        kit.note("announced", ofKind(kit, "system/permission_denied").length);
      },
    },

    "marks-of-agents": {
      about: "messages of an agent name it, its kind, its task and the call that started it; none is partial",
      replies: [reply(agent("agent")), reply(bash("echo hi", "inner")), reply("Looked."), reply("Done.")],
      options: { includePartialMessages: true },
      after: (kit) => {
        const own = kit.messages.filter(({ parent_tool_use_id: parent }) => parent === "agent");
        const names = ["agent_id", "subagent_type", "task_description"];
        kit.note(
          "lacks",
          own.flatMap((message) => lacks(message, names)),
        );
        kit.note("kinds", [...new Set(own.map(kindOf))].sort());
        const [started] = ofKind(kit, "system/task_started");
        kit.note("task", [/^a[0-9a-f]{16}$/.test(started.task_id), started.spawn_depth, started.task_type]);
        const data = ofKind(kit, "user").find(
          ({ message }) => message.content[0].tool_use_id === "agent",
        ).tool_use_result;
        kit.note("report", [data.status, data.totalToolUseCount, data.agentId === started.task_id]);
      },
    },

    "end-of-a-task": {
      about: "the turn that the end of a task starts says so",
      replies: [
        reply(bash("echo hi", "bg", { run_in_background: true })),
        reply("Started."),
        reply("Heard."),
      ],
      otherwise: reply("Heard."),
      after: (kit) => {
        const [started] = ofKind(kit, "system/task_started");
        kit.note("task", [
          /^b[0-9a-z]{8}$/.test(started.task_id),
          started.task_type,
          started.is_backgrounded,
        ]);
        kit.note(
          "origins",
          resultsOf(kit).map(({ origin }) => origin?.kind ?? null),
        );
        const lists = ofKind(kit, "system/background_tasks_changed").map(({ tasks }) => tasks.length);
        kit.note("lists", [lists[0], lists.at(-1)]);
        const [ended] = ofKind(kit, "system/task_notification");
        kit.note("ended", [ended.status, ended.tool_use_id, ended.output_file !== ""]);
      },
    },

    "tool-taken-away": {
      about: "a tool that is disallowed is not offered, and a call of it is an error",
      replies: [
        reply(toolUse("WebFetch", { url: "http://127.0.0.1:9/", prompt: "x" }, "call")),
        reply("Done."),
      ],
      options: { disallowedTools: ["WebFetch"] },
      after: (kit) => {
        kit.note("offered", ofKind(kit, "system/init")[0].tools.includes("WebFetch"));
        kit.note("failed", ofKind(kit, "user")[0].message.content[0].is_error);
      },
    },

    "thinking-limit": {
      about: "setMaxThinkingTokens counts from the next request on, and null takes it away",
      replies: [reply("One."), reply("Two."), reply("Three.")],
      run: async (kit) => {
        await kit.converse(
          [
            "one",
            (query) => query.setMaxThinkingTokens(3000).then(() => "two"),
            (query) => query.setMaxThinkingTokens(0).then(() => "three"),
          ],
          { thinking: { type: "enabled", budgetTokens: 2048 } },
        );
        kit.note(
          "limits",
          askedOf(kit).map(({ thinking }) => thinking?.budget_tokens ?? null),
        );
      },
    },

    "prompt-of-a-server": {
      about: "a prompt of a server is a command",
      prompt: "/mcp__echo__greet Ann",
      replies: [reply("Hello.")],
      probes: ["Greet Ann warmly."],
      run: async (kit) => {
        const mcpServers = { echo: echoServer(kit) };
        await kit.converse(["hello", "/mcp__echo__greet Ann"], { mcpServers });
        const lists = [
          ...ofKind(kit, "system/init").map(({ slash_commands: names }) => names),
          ...ofKind(kit, "system/commands_changed").map(({ commands }) => commands.map(({ name }) => name)),
        ];
        kit.note(
          "listed",
          lists.flat().some((name) => /^(?:mcp__echo__greet|echo:greet)/.test(name)),
        );
      },
    },

    "slow-hook": {
      about: "a hook that does not answer in its time is not waited for",
      quirk: "The reference does not run the call; a hook that has no opinion then is accepted.",
      seconds: 3,
      replies: [reply(bash("echo hi", "echo")), reply("Done.")],
      run: async (kit) => {
        await kit.consume(kit.query("go", { hooks: { PreToolUse: [{ hooks: [never], timeout: 1 }] } }));
        kit.note("failed", ofKind(kit, "user")[0].message.content[0].is_error ?? false);
        kit.note("end", resultsOf(kit)[0].subtype);
      },
    },

    "hooks-by-name": {
      about: "a matcher chooses tools by their names",
      files: { "a.txt": "x" },
      replies: [
        reply(bash("echo hi", "bash"), toolUse("Read", { file_path: "{{cwd}}/a.txt" }, "read")),
        reply("Done."),
      ],
      run: async (kit) => {
        const called = [];
        const note = (who) => async (_, id) => {
          called.push(`${who} ${id}`);
          return {};
        };
        const entry = (matcher) => ({ ...(matcher ? { matcher } : {}), hooks: [note(matcher ?? "all")] });
        const hooks = { PreToolUse: [entry("Bash"), entry("Write|Edit"), entry("Re.*"), entry()] };
        await kit.consume(kit.query("go", { hooks }));
        kit.note("called", called.sort());
      },
    },

    "words-at-an-agent's-start": {
      about: "SubagentStart adds words for the agent; UserPromptSubmit names the session",
      replies: [reply(agent("agent")), reply("Looked."), reply("Done.")],
      run: async (kit) => {
        const hooks = {
          SubagentStart: [
            { hooks: [async () => hookOutput("SubagentStart", { additionalContext: "FOR-THE-AGENT" })] },
          ],
          UserPromptSubmit: [
            { hooks: [async () => hookOutput("UserPromptSubmit", { sessionTitle: "A name" })] },
          ],
        };
        await kit.consume(kit.query("go", { hooks }));
        const heard = askedOf(kit).map((body) => JSON.stringify(body.messages).includes("FOR-THE-AGENT"));
        kit.note("heard", heard);
        const [listed] = await kit.sdk.listSessions({ dir: kit.cwd });
        kit.note("title", listed.customTitle);
      },
    },

    "still-queued": {
      about: "an interrupt says which messages still wait, and they are answered",
      replies: [reply(bash("sleep 20", "long")), reply("Two.")],
      run: async (kit) => {
        const id = "22222222-2222-4222-8222-222222222222";
        const input = kit.input();
        const query = kit.query(input, { canUseTool: allow });
        input.push(kit.user("one"));
        await kit.consume(query, async (message) => {
          if (message.type === "assistant" && !kit.said) {
            kit.said = true;
            input.push(kit.user("two", { uuid: id, priority: "later" }));
            await kit.sleep(500);
            const answer = await query.interrupt();
            kit.note("waits", answer?.still_queued);
          }
          if (message.type === "result" && message.result === "Two.") input.end();
        });
        kit.note(
          "ends",
          resultsOf(kit).map(({ subtype }) => subtype),
        );
      },
    },

    "cut-agent": {
      about: "maxTurns of a kind of agent ends the agent and not the turn",
      replies: [
        reply(agent("agent", { subagent_type: "short" })),
        reply(bash("echo 1", "a")),
        reply("Done."),
      ],
      otherwise: reply("Done."),
      options: {
        agents: { short: { description: "Short", prompt: "SHORT-PROMPT", maxTurns: 1 } },
      },
      after: (kit) => {
        const own = askedOf(kit).filter(({ system }) => JSON.stringify(system).includes("SHORT-PROMPT"));
        kit.note("requests of the agent", own.length);
        kit.note("end", [resultsOf(kit)[0].subtype, resultsOf(kit)[0].result]);
      },
    },

    "picture-of-a-tool": {
      about: "a picture that a tool gives reaches the model",
      replies: [reply(toolUse("mcp__draw__draw", {}, "draw")), reply("Done.")],
      run: async (kit) => {
        const data =
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        const draw = kit.sdk.tool("draw", "Draws", {}, async () => ({
          content: [{ type: "image", data, mimeType: "image/png" }],
        }));
        const server = kit.sdk.createSdkMcpServer({ name: "draw", tools: [draw], alwaysLoad: true });
        await kit.consume(
          kit.query("go", { allowedTools: ["mcp__draw__draw"], mcpServers: { draw: server } }),
        );
        const sent = askedOf(kit)[1].messages.flatMap(({ content }) => content);
        const result = sent.find(({ type }) => type === "tool_result");
        kit.note(
          "sent",
          result.content.map(({ type }) => type),
        );
      },
    },

    "whole-words": {
      about: "with partial messages the whole message comes before the end of its block",
      replies: [replyWith({ chunk: 3 }, "Several words.")],
      options: { includePartialMessages: true },
      after: (kit) => {
        const order = kit.messages.map((message) =>
          message.type === "stream_event" ? message.event.type : kindOf(message),
        );
        const place = (kind) => order.indexOf(kind);
        kit.note("status first", ofKind(kit, "system/status")[0]?.status);
        kit.note("in order", [
          place("system/status") < place("message_start"),
          place("content_block_delta") < place("assistant"),
          place("assistant") < place("content_block_stop"),
          place("message_stop") < place("result"),
        ]);
        kit.note("timed", typeof kit.messages.find(({ event }) => event?.type === "message_start").ttft_ms);
      },
    },

    "shell-in-a-command": {
      about: "a command of the project: arguments are put in, and shell lines are run before",
      files: {
        ".claude/commands/do.md":
          "---\nallowed-tools: Bash(echo:*)\n---\nDo $ARGUMENTS with !`echo SHELL-SAID-THIS`",
      },
      prompt: "/do THIS-AND-THAT",
      replies: [reply("Done.")],
      probes: ["THIS-AND-THAT", "SHELL-SAID-THIS"],
      options: { settingSources: ["project"] },
    },
  };
}
