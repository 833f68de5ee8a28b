export default function scenarios({ allow, deny, reply, text, toolUse }) {
  const touch = (name) => toolUse("Bash", { command: `touch ${name}`, description: "touch" });
  const write = (name) => toolUse("Write", { file_path: `{{cwd}}/${name}`, content: "x" });

  const noteFiles =
    (...names) =>
    (kit) => {
      for (const name of names) kit.note(name, kit.exists(name));
    };

  const RULES = JSON.stringify({
    permissions: {
      allow: ["Bash(touch allowed*)"],
      deny: ["Bash(touch denied*)"],
      ask: ["Bash(echo ask*)"],
    },
  });

  return {
    "read-only-not-asked": {
      about: "reading in the working directory and harmless commands need no permission",
      files: { "a.txt": "alpha\n" },
      replies: [
        reply(
          toolUse("Read", { file_path: "{{cwd}}/a.txt" }),
          toolUse("Bash", { command: "echo fine", description: "echo" }),
        ),
        reply("Both ran."),
      ],
      permission: deny("should not be asked"),
      probes: ["alpha"],
      data: ["fine"],
    },

    deny: {
      about: "canUseTool denies: the model gets the message as an error",
      replies: [reply(touch("denied.txt")), reply("OK, not doing that.")],
      permission: deny("Not allowed by policy"),
      probes: ["Not allowed by policy"],
      after: noteFiles("denied.txt"),
    },

    "deny-interrupt": {
      about: "canUseTool denies and interrupts: the turn ends",
      replies: [reply(touch("denied.txt")), reply("unreachable")],
      permission: deny("Stop now", { interrupt: true }),
      after: noteFiles("denied.txt"),
    },

    "callback-throws": {
      about: "a canUseTool that throws counts as a denial and the turn goes on",
      replies: [reply(touch("denied.txt")), reply("after throw")],
      permission: () => {
        throw new Error("callback exploded");
      },
      probes: ["callback exploded"],
      after: noteFiles("denied.txt"),
    },

    "updated-input": {
      about: "canUseTool changes the input before the tool runs",
      replies: [reply(touch("original.txt")), reply("Done.")],
      permission: (tool, input) => ({
        behavior: "allow",
        updatedInput: { ...input, command: "echo changed > changed.txt && cat changed.txt" },
      }),
      data: ["changed"],
      after: noteFiles("original.txt", "changed.txt"),
    },

    "updated-permissions": {
      about: "a session rule given with the answer spares the next question",
      replies: [reply(touch("one.txt")), reply(touch("two.txt")), reply("Done.")],
      permission: (tool, input) => ({
        behavior: "allow",
        updatedInput: input,
        updatedPermissions: [
          {
            type: "addRules",
            rules: [{ toolName: "Bash", ruleContent: "touch:*" }],
            behavior: "allow",
            destination: "session",
          },
        ],
      }),
      after: noteFiles("one.txt", "two.txt"),
    },

    "accept-edits": {
      about: "acceptEdits: file edits are not asked, network commands are",
      replies: [
        reply(write("x.txt")),
        reply(toolUse("Bash", { command: "curl http://127.0.0.1:1/", description: "net" })),
        reply("Done."),
      ],
      options: { permissionMode: "acceptEdits" },
      permission: deny("no network"),
      probes: ["no network"],
      after: noteFiles("x.txt"),
    },

    "no-callback": {
      about: "without canUseTool a call that needs permission is denied",
      replies: [reply(touch("x.txt")), reply("Could not.")],
      after: noteFiles("x.txt"),
    },

    "dont-ask": {
      about: "dontAsk: denied without asking",
      replies: [reply(touch("x.txt")), reply("Could not.")],
      options: { permissionMode: "dontAsk" },
      permission: allow,
      after: noteFiles("x.txt"),
    },

    bypass: {
      about: "bypassPermissions: nothing is asked",
      replies: [reply(touch("x.txt")), reply("Did it.")],
      options: { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true },
      permission: deny("should not be asked"),
      after: noteFiles("x.txt"),
    },

    "allowed-and-disallowed": {
      about: "allowedTools rules allow; a tool in disallowedTools does not exist",
      replies: [reply(touch("x.txt")), reply(write("y.txt")), reply("Did one.")],
      options: { allowedTools: ["Bash(touch:*)"], disallowedTools: ["Write", "WebFetch"] },
      permission: deny("should not be asked"),
      facts: ["Write"],
      after: noteFiles("x.txt", "y.txt"),
    },

    "outside-directory": {
      about: "reading and writing outside the working directory is asked",
      outsideFiles: { "in.txt": "outside text\n" },
      replies: [
        reply(toolUse("Read", { file_path: "{{outside}}/in.txt" })),
        reply(toolUse("Write", { file_path: "{{outside}}/out.txt", content: "y" })),
        reply("Did it."),
      ],
      permission: allow,
      probes: ["outside text"],
      after: (kit) => kit.note("out.txt", kit.exists(`${kit.outside}/out.txt`)),
    },

    "plan-mode-approved": {
      about: "plan mode: the plan file may be written, ExitPlanMode is asked, its approval ends plan mode",
      replies: [
        reply(
          toolUse("Write", {
            file_path: '{{find:([^" ]+/plans/[A-Za-z0-9_-]+[.]md)}}',
            content: "# Plan\n1. Do A\n",
          }),
        ),
        reply(toolUse("ExitPlanMode", {})),
        reply(write("x.txt")),
        reply("Implemented."),
      ],
      options: { permissionMode: "plan" },
      permission: allow,
      probes: ["# Plan\n1. Do A\n"],
      after: noteFiles("x.txt"),
    },

    "plan-mode-rejected": {
      about: "plan mode: a rejected plan is a tool error with the reason",
      replies: [
        reply("Here is the plan.", toolUse("ExitPlanMode", { plan: "1. Do A" })),
        reply("I will revise."),
      ],
      options: { permissionMode: "plan" },
      permission: deny("Revise the plan"),
      probes: ["Revise the plan"],
    },

    "plan-mode-enter": {
      about: "EnterPlanMode needs no permission",
      replies: [reply(toolUse("EnterPlanMode", {})), reply("In plan mode.")],
      options: { tools: ["EnterPlanMode", "ExitPlanMode", "Read"] },
      permission: allow,
    },

    "settings-user-rules": {
      about: "allow, deny and ask rules of the user settings",
      homeFiles: { ".claude/settings.json": RULES },
      replies: [
        reply(touch("allowed.txt")),
        reply(touch("denied.txt")),
        reply(toolUse("Bash", { command: "echo ask me", description: "ask" })),
        reply("Done."),
      ],
      options: { settingSources: ["user"] },
      permission: allow,
      data: ["ask me"],
      after: noteFiles("allowed.txt", "denied.txt"),
    },

    "prompt-tool": {
      about: "permissionPromptToolName: an MCP tool answers the question",
      replies: [reply(touch("x.txt")), reply("Approved.")],
      options: (kit) => {
        const { sdk, z } = kit;
        const approve = sdk.tool(
          "approve",
          "Approves tool calls",
          { tool_name: z.string(), input: z.any(), tool_use_id: z.string().optional() },
          async ({ tool_name, input }) => {
            kit.note("approval", { tool_name, input });
            return {
              content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: input }) }],
            };
          },
        );
        return {
          permissionPromptToolName: "mcp__perm__approve",
          mcpServers: { perm: sdk.createSdkMcpServer({ name: "perm", alwaysLoad: true, tools: [approve] }) },
        };
      },
      data: ["touch x.txt"],
      after: noteFiles("x.txt"),
    },
  };
}
