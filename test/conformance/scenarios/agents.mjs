export default function scenarios({ allow, reply, text, toolUse }) {
  const COUNTER = { description: "Counts things", prompt: "You are COUNTER.", tools: ["Bash", "Read"] };
  const BY_COUNTER = { systemContains: "You are COUNTER" };

  const callCounter = (more) =>
    toolUse("Agent", {
      description: "count things",
      prompt: "SUBTASK: count to three",
      subagent_type: "counter",
      ...more,
    });

  const counts = (command = "echo 1 2 3") => [
    {
      when: BY_COUNTER,
      times: 1,
      reply: reply("Let me run it.", toolUse("Bash", { command, description: "count" }, "toolu_sub_0001")),
    },
    { when: BY_COUNTER, reply: reply("Counted: 1 2 3") },
  ];

  const backgroundBash = (command) =>
    toolUse("Bash", { command, description: "in the background", run_in_background: true });

  return {
    foreground: {
      about: "a subagent runs a tool and reports",
      replies: [reply(callCounter({ run_in_background: false })), reply("The subagent counted.")],
      side: counts(),
      options: { agents: { counter: COUNTER } },
      permission: allow,
      probes: ["Counted: 1 2 3", "SUBTASK: count to three"],
      data: ["1 2 3"],
    },

    "foreground-forwarded": {
      about: "forwardSubagentText also shows the text of the subagent",
      keepAgentText: true,
      replies: [reply(callCounter({ run_in_background: false })), reply("The subagent counted.")],
      side: counts(),
      options: { forwardSubagentText: true, agents: { counter: COUNTER } },
      permission: allow,
      probes: ["Counted: 1 2 3"],
      data: ["1 2 3"],
    },

    "background-by-default": {
      about: "without run_in_background: false the subagent works while the turn ends; its end starts a turn",
      seconds: 3,
      replies: [reply(callCounter()), reply("Launched; waiting."), reply("The subagent finished.")],
      side: counts("sleep 1; echo 1 2 3"),
      options: { agents: { counter: COUNTER } },
      permission: allow,
      probes: ["Counted: 1 2 3"],
      data: ["1 2 3"],
    },

    "task-alias": {
      about: "the tool answers to its older name Task, and knows general-purpose",
      replies: [
        reply(
          toolUse("Task", {
            description: "small job",
            prompt: "SUBTASK",
            subagent_type: "general-purpose",
            run_in_background: false,
          }),
        ),
        reply("All done."),
      ],
      side: [{ when: { lastUserContains: "SUBTASK" }, times: 1, reply: reply("sub done") }],
      permission: allow,
      probes: ["sub done"],
    },

    parallel: {
      about: "two subagents in one reply",
      replies: [
        reply(
          toolUse("Agent", {
            description: "one",
            prompt: "SUB-ONE",
            subagent_type: "counter",
            run_in_background: false,
          }),
          toolUse("Agent", {
            description: "two",
            prompt: "SUB-TWO",
            subagent_type: "counter",
            run_in_background: false,
          }),
        ),
        reply("Both done."),
      ],
      side: [{ when: BY_COUNTER, reply: reply("Counted") }],
      options: { agents: { counter: COUNTER } },
      permission: allow,
      probes: ["Counted"],
    },

    "unknown-type": {
      about: "an unknown subagent_type is a tool error",
      replies: [
        reply(
          toolUse("Agent", {
            description: "one",
            prompt: "SUB-ONE",
            subagent_type: "nope",
            run_in_background: false,
          }),
        ),
        reply("No such agent."),
      ],
      permission: allow,
      facts: ["nope"],
    },

    hooks: {
      about: "hooks around and inside a subagent",
      replies: [reply(callCounter({ run_in_background: false })), reply("Done.")],
      side: counts(),
      options: { agents: { counter: COUNTER } },
      permission: allow,
      hooks: Object.fromEntries(
        ["PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"].map((event) => [
          event,
          [{ output: {} }],
        ]),
      ),
      probes: ["Counted: 1 2 3"],
      data: ["1 2 3"],
    },

    "main-agent": {
      about: "the option agent runs the main thread as a named agent",
      replies: [reply("Reviewed.")],
      options: {
        agent: "reviewer",
        model: undefined,
        agents: {
          reviewer: {
            description: "Reviews",
            prompt: "You are REVIEWER.",
            tools: ["Read"],
            model: "claude-haiku-4-5",
          },
        },
      },
      probes: ["You are REVIEWER."],
    },

    "bash-background": {
      about: "a background command: the turn ends, its end starts another turn",
      seconds: 3,
      run: async (kit) => {
        const input = kit.input();
        input.push(kit.user("start it"));
        let results = 0;
        await kit.consume(kit.query(input, { canUseTool: kit.canUseTool(allow) }), (message) => {
          if (message.type === "result") results += 1;
          if (results === 2) input.end();
        });
      },
      replies: [
        reply(backgroundBash("sleep 1; echo bg-done")),
        reply("Started in background."),
        reply("Background command finished."),
      ],
    },

    "bash-background-stop": {
      about: "stopTask ends a background command; no further turn follows",
      seconds: 3,
      replies: [reply(backgroundBash("sleep 30")), reply("Started in background."), reply("unreachable")],
      run: async (kit) => {
        const input = kit.input();
        input.push(kit.user("start it"));
        const query = kit.query(input, { canUseTool: kit.canUseTool(allow) });
        let taskId;
        await kit.consume(query, async (message) => {
          if (message.subtype === "task_started") taskId = message.task_id;
          if (message.type === "result") {
            await kit.call("stopTask", () => query.stopTask(taskId));
            setTimeout(() => input.end(), 1500);
          }
        });
      },
    },
  };
}
