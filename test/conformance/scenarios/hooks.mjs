export default function scenarios({ allow, deny, hookOutput, reply, toolUse }) {
  const echo = (word = "hi") => toolUse("Bash", { command: `echo ${word}`, description: "echo" });
  const touch = (name) => toolUse("Bash", { command: `touch ${name}`, description: "touch" });

  const noteFiles =
    (...names) =>
    (kit) => {
      for (const name of names) kit.note(name, kit.exists(name));
    };

  const COMMAND_HOOK = {
    hooks: [
      {
        type: "command",
        command: 'cat >> "$CLAUDE_PROJECT_DIR/hooks.log"; echo >> "$CLAUDE_PROJECT_DIR/hooks.log"',
      },
    ],
  };

  return {
    "pre-deny": {
      about: "PreToolUse with permissionDecision deny stops the call",
      replies: [reply(echo()), reply("Blocked then.")],
      permission: allow,
      hooks: {
        PreToolUse: [
          {
            matcher: "Bash",
            output: hookOutput("PreToolUse", {
              permissionDecision: "deny",
              permissionDecisionReason: "hook says no",
            }),
          },
        ],
      },
      probes: ["hook says no"],
    },

    "pre-block-legacy": {
      about: "PreToolUse with the older form decision: block",
      replies: [reply(echo()), reply("Blocked then.")],
      permission: allow,
      hooks: { PreToolUse: [{ output: { decision: "block", reason: "legacy block" } }] },
      probes: ["legacy block"],
    },

    "pre-continue-false": {
      about: "PreToolUse with continue: false ends the turn",
      quirk: "The reference still runs the tool before it stops; stopping without running it is accepted.",
      replies: [reply(touch("ran.txt")), reply("unreachable")],
      permission: allow,
      hooks: { PreToolUse: [{ output: { continue: false, stopReason: "halt from hook" } }] },
    },

    "pre-allow": {
      about: "PreToolUse with allow spares the question",
      replies: [reply(touch("allowed.txt")), reply("Allowed.")],
      permission: deny("should not be asked"),
      hooks: {
        PreToolUse: [
          {
            matcher: "Bash",
            output: hookOutput("PreToolUse", {
              permissionDecision: "allow",
              permissionDecisionReason: "hook allows",
            }),
          },
        ],
      },
      after: noteFiles("allowed.txt"),
    },

    "pre-ask": {
      about: "PreToolUse with ask forces the question",
      replies: [reply(echo()), reply("Asked.")],
      permission: allow,
      hooks: {
        PreToolUse: [
          {
            matcher: "Bash",
            output: hookOutput("PreToolUse", {
              permissionDecision: "ask",
              permissionDecisionReason: "a human, please",
            }),
          },
        ],
      },
      data: ["hi"],
    },

    "pre-defer": {
      about: "PreToolUse with defer ends the turn and hands the call to the host",
      replies: [reply(touch("deferred.txt")), reply("unreachable")],
      permission: allow,
      hooks: {
        PreToolUse: [{ matcher: "Bash", output: hookOutput("PreToolUse", { permissionDecision: "defer" }) }],
      },
      after: noteFiles("deferred.txt"),
    },

    "pre-updated-input": {
      about: "PreToolUse changes the input and adds context",
      replies: [reply(echo("original")), reply("Updated.")],
      permission: allow,
      hooks: {
        PreToolUse: [
          {
            matcher: "Bash",
            output: hookOutput("PreToolUse", {
              permissionDecision: "allow",
              updatedInput: { command: "echo rewritten", description: "echo" },
              additionalContext: "context-from-pre-hook",
            }),
          },
        ],
      },
      data: ["rewritten"],
      probes: ["context-from-pre-hook"],
    },

    "pre-throws": {
      about: "a hook that throws does not stop the work",
      replies: [reply(echo()), reply("Went on.")],
      permission: allow,
      hooks: {
        PreToolUse: [
          {
            output: () => {
              throw new Error("hook exploded");
            },
          },
        ],
      },
      data: ["hi"],
    },

    "post-context": {
      about: "PostToolUse adds context for the model",
      replies: [reply(echo()), reply("Context seen.")],
      permission: allow,
      hooks: {
        PostToolUse: [
          {
            matcher: "Bash",
            output: hookOutput("PostToolUse", { additionalContext: "context-from-post-hook" }),
          },
        ],
      },
      data: ["hi"],
      probes: ["context-from-post-hook"],
    },

    "post-updated-output": {
      about: "PostToolUse replaces the output",
      replies: [reply(echo()), reply("Output replaced.")],
      permission: allow,
      hooks: {
        PostToolUse: [
          {
            matcher: "Bash",
            output: hookOutput("PostToolUse", {
              updatedToolOutput: { stdout: "REPLACED", stderr: "", interrupted: false },
            }),
          },
        ],
      },
      probes: ["REPLACED"],
      data: ["hi"],
    },

    "post-failure": {
      about: "PostToolUseFailure is called for a failed tool, PostToolUse is not",
      replies: [reply(toolUse("Bash", { command: "exit 7", description: "fail" })), reply("Failed.")],
      permission: allow,
      hooks: {
        PostToolUse: [{ output: {} }],
        PostToolUseFailure: [
          { output: hookOutput("PostToolUseFailure", { additionalContext: "context-of-failure" }) },
        ],
      },
      probes: ["context-of-failure"],
      facts: ["7"],
    },

    "prompt-context": {
      about: "UserPromptSubmit adds context to the prompt",
      prompt: "the original prompt",
      replies: [reply("I see the context.")],
      hooks: {
        UserPromptSubmit: [
          { output: hookOutput("UserPromptSubmit", { additionalContext: "extra-prompt-context" }) },
        ],
      },
      probes: ["extra-prompt-context", "the original prompt"],
    },

    "prompt-block": {
      about: "UserPromptSubmit blocks: nothing is sent to the model",
      prompt: "a bad prompt",
      replies: [reply("unreachable")],
      hooks: { UserPromptSubmit: [{ output: { decision: "block", reason: "prompt not allowed" } }] },
      probes: ["prompt not allowed"],
    },

    "stop-block": {
      about: "Stop with decision: block makes the model go on, once",
      replies: [reply("First answer."), reply("Second answer after stop hook.")],
      hooks: {
        Stop: [
          {
            output: ({ stop_hook_active }) =>
              stop_hook_active ? {} : { decision: "block", reason: "please-also-mention-X" },
          },
        ],
      },
      probes: ["please-also-mention-X"],
    },

    "event-order": {
      about: "the hooks of a turn with a good, a failing and an asked call",
      files: { "a.txt": "alpha\n" },
      replies: [
        reply(
          toolUse("Read", { file_path: "{{cwd}}/a.txt" }),
          toolUse("Bash", { command: "exit 2", description: "fail" }),
        ),
        reply(touch("z.txt")),
        reply("All hooks."),
      ],
      permission: allow,
      hooks: Object.fromEntries(
        ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"].map((event) => [
          event,
          [{ output: {} }],
        ]),
      ),
      probes: ["alpha"],
      facts: ["2"],
    },

    "permission-request": {
      about: "PermissionRequest decides before the host does",
      replies: [reply(touch("x.txt")), reply("Allowed by the hook.")],
      permission: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return { behavior: "deny", message: "too late" };
      },
      hooks: {
        PermissionRequest: [{ output: hookOutput("PermissionRequest", { decision: { behavior: "allow" } }) }],
      },
      after: noteFiles("x.txt"),
    },

    "settings-command-hooks": {
      about: "command hooks of the project settings get their input on stdin",
      files: {
        ".claude/settings.json": JSON.stringify({
          hooks: Object.fromEntries(
            ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"].map(
              (event) => [event, [COMMAND_HOOK]],
            ),
          ),
        }),
      },
      prompt: "run the hooks",
      replies: [reply(echo()), reply("Done.")],
      options: { settingSources: ["project"] },
      permission: allow,
      data: ["hi", "echo hi"],
      after: (kit) => {
        const lines = kit
          .read("hooks.log")
          .split("\n")
          .filter((line) => line.trim() !== "");
        const inputs = lines.map((line) => JSON.parse(line));
        const facts = ({ hook_event_name, tool_name, tool_input, prompt, source }) => ({
          hook_event_name,
          tool_name,
          tool_input,
          prompt,
          source,
        });
        kit.note("hooks", inputs.map(facts));
      },
    },

    "session-start": {
      about: "SessionStart as a callback",
      quirk: "The reference does not call SessionStart callbacks at startup; calling them is accepted.",
      replies: [reply("Started.")],
      turns: ["hi"],
      hooks: {
        SessionStart: [
          { output: hookOutput("SessionStart", { additionalContext: "context-of-session-start" }) },
        ],
      },
      probes: ["context-of-session-start"],
    },
  };
}
