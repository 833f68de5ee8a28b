export default function scenarios({ allow, reply, replyWith, text, toolUse }) {
  const FIRST = "11111111-1111-4111-8111-111111111111";
  const SECOND = "22222222-2222-4222-8222-222222222222";
  const THIRD = "33333333-3333-4333-8333-333333333333";
  const SLOW_REPLY = replyWith(
    { delayMs: 100, chunk: 10 },
    "This is a long answer that is streamed slowly. ".repeat(6),
  );
  const isDelta = (message) =>
    message.type === "stream_event" && message.event.type === "content_block_delta";
  const write = (name, content) => toolUse("Write", { file_path: `{{cwd}}/${name}`, content });

  const interruptWhen =
    (when, delayMs = 0) =>
    (message, query, kit) => {
      if (kit.interrupted || !when(message)) return;
      kit.interrupted = true;
      setTimeout(() => kit.call("interrupt", () => query.interrupt().then(() => null)), delayMs);
    };

  return {
    "multi-turn": {
      about: "streaming input: one init and one result per turn, usage per turn, cost in total",
      replies: [reply("One."), reply("Two."), reply("Three.")],
      run: (kit) =>
        kit.converse([
          kit.user("first-prompt", { uuid: FIRST }),
          kit.user("second-prompt", { uuid: SECOND }),
          kit.user([text("third-prompt")]),
        ]),
      probes: ["first-prompt", "second-prompt", "third-prompt"],
    },

    "queued-messages": {
      about: "messages that arrive together",
      quirk: "The reference merges the messages that wait into one turn; a turn for each is accepted.",
      replies: [replyWith({ delayMs: 100 }, "One."), reply("Two."), reply("Three.")],
      run: async (kit) => {
        const input = kit.input();
        input.push(kit.user("first-prompt", { uuid: FIRST }));
        input.push(kit.user("second-prompt", { uuid: SECOND }));
        input.push(kit.user("third-prompt", { uuid: THIRD }));
        input.end();
        await kit.consume(kit.query(input));
      },
      probes: ["first-prompt", "second-prompt", "third-prompt"],
    },

    "message-during-turn": {
      about: "a message that arrives while tools run reaches the model with their results",
      seconds: 3,
      replies: [
        reply(toolUse("Bash", { command: "sleep 1.5; echo x", description: "wait" })),
        reply("I saw both."),
        reply("unreachable"),
      ],
      run: async (kit) => {
        const input = kit.input();
        input.push(kit.user("first-prompt"));
        let sent = false;
        await kit.consume(kit.query(input, { canUseTool: kit.canUseTool(allow) }), (message) => {
          if (message.type === "assistant" && !sent) {
            sent = true;
            setTimeout(() => input.push(kit.user("second-prompt")), 500);
          }
          if (message.type === "result") setTimeout(() => input.end(), 500);
        });
      },
      probes: ["second-prompt"],
      data: ["x"],
    },

    "interrupt-text": {
      about: "interrupt while text is streaming; the session stays usable",
      replies: [SLOW_REPLY, reply("Second turn works.")],
      turns: ["go", "again"],
      options: { includePartialMessages: true },
      onMessage: interruptWhen(isDelta),
    },

    "interrupt-tool": {
      about: "interrupt while a tool runs",
      seconds: 2,
      replies: [
        reply(toolUse("Bash", { command: "sleep 20", description: "sleep" })),
        reply("Second turn works."),
      ],
      turns: ["go", "again"],
      permission: allow,
      onMessage: interruptWhen((message) => message.type === "assistant", 1000),
    },

    "interrupt-permission": {
      about: "interrupt while the host is asked: the signal of the callback is aborted",
      replies: [
        reply(toolUse("Bash", { command: "touch x.txt", description: "touch" })),
        reply("Second turn works."),
      ],
      run: async (kit) => {
        let interrupt;
        const canUseTool = kit.canUseTool((tool, input, { signal }) => {
          signal.addEventListener("abort", () => kit.note("signal aborted", true));
          setTimeout(() => interrupt(), 200);
          return new Promise(() => {});
        });
        await kit.converse(
          [
            (query) => {
              interrupt = () => kit.call("interrupt", () => query.interrupt().then(() => null));
              return "go";
            },
            "again",
          ],
          { canUseTool },
        );
        kit.note("x.txt", kit.exists("x.txt"));
      },
    },

    "set-model": {
      about: "setModel applies from the next turn",
      replies: [reply("From model one."), reply("From model two.")],
      run: (kit) =>
        kit.converse([
          "one",
          async (query) => {
            await kit.call("setModel", () => query.setModel("claude-haiku-4-5"));
            return "two";
          },
        ]),
    },

    "set-permission-mode": {
      about: "setPermissionMode applies from the next turn",
      replies: [reply(write("a.txt", "1")), reply("one"), reply(write("b.txt", "2")), reply("two")],
      run: (kit) =>
        kit.converse(
          [
            "one",
            async (query) => {
              await kit.call("setPermissionMode", () => query.setPermissionMode("acceptEdits"));
              return "two";
            },
          ],
          { canUseTool: kit.canUseTool(allow) },
        ),
    },

    introspection: {
      about: "what the query tells about itself",
      replies: [reply("Hi.")],
      run: (kit) =>
        kit.converse([
          "hello",
          async (query) => {
            await kit.call("initializationResult", () => query.initializationResult());
            await kit.call("supportedCommands", () => query.supportedCommands());
            await kit.call("supportedModels", () => query.supportedModels());
            await kit.call("supportedAgents", () => query.supportedAgents());
            await kit.call("accountInfo", () => query.accountInfo());
            await kit.call("mcpServerStatus", () => query.mcpServerStatus());
            return undefined;
          },
        ]),
    },

    "rewind-files": {
      about: "rewindFiles brings files back to the state before a user message",
      files: { "a.txt": "v0\n" },
      replies: [
        reply(toolUse("Read", { file_path: "{{cwd}}/a.txt" })),
        reply(write("a.txt", "v1\n")),
        reply("v1"),
        reply(write("b.txt", "new\n")),
        reply("b"),
      ],
      run: async (kit) => {
        const state = () => ({ a: kit.read("a.txt"), b: kit.exists("b.txt") });
        await kit.converse(
          [
            kit.user("one", { uuid: FIRST }),
            kit.user("two", { uuid: SECOND }),
            async (query) => {
              await kit.call("dry run", () => query.rewindFiles(SECOND, { dryRun: true }));
              kit.note("after dry run", state());
              await kit.call("to the second message", () => query.rewindFiles(SECOND));
              kit.note("after second", state());
              await kit.call("to the first message", () => query.rewindFiles(FIRST));
              kit.note("after first", state());
              await kit.call("to an unknown message", () => query.rewindFiles(THIRD));
              return undefined;
            },
          ],
          { enableFileCheckpointing: true, permissionMode: "acceptEdits" },
        );
      },
      probes: ["v0"],
      data: ["v0\n", "v1\n", "-v0", "+v1"],
    },

    abort: {
      about: "abortController: the iteration throws AbortError",
      seconds: 3,
      replies: [SLOW_REPLY],
      run: async (kit) => {
        const abortController = new AbortController();
        await kit.consume(kit.query("go", { abortController, includePartialMessages: true }), (message) => {
          if (isDelta(message)) abortController.abort();
        });
      },
    },

    close: {
      about: "close ends the iteration without an error",
      seconds: 2,
      replies: [SLOW_REPLY],
      run: async (kit) => {
        const query = kit.query("go", { includePartialMessages: true });
        await kit.consume(query, (message) => {
          if (isDelta(message)) query.close();
        });
      },
    },

    "warm-start": {
      about: "startup prepares a query ahead of its prompt",
      replies: [reply("Warm.")],
      run: async (kit) => {
        const warm = await kit.sdk.startup({ options: kit.options() });
        await kit.sleep(200);
        await kit.consume(warm.query("hello warm"));
      },
      probes: ["hello warm"],
    },
  };
}
