export default function scenarios({ allow, httpError, reply, replyWith, toolUse }) {
  const SUMMARY = reply("<summary>SUMMARY-MARK: the user said first.</summary>");

  return {
    "memory-files": {
      about: "CLAUDE.md of user, project and local level, imports, rule files, and nested files on demand",
      files: {
        "CLAUDE.md": "# Project rules\nPROJECT-MEMORY. See @extra.md\n",
        "extra.md": "IMPORTED-MEMORY\n",
        "CLAUDE.local.md": "LOCAL-MEMORY\n",
        ".claude/rules/r.md": "RULE-MEMORY\n",
        "sub/CLAUDE.md": "NESTED-MEMORY\n",
        "sub/f.txt": "file in sub\n",
      },
      homeFiles: { ".claude/CLAUDE.md": "USER-MEMORY\n" },
      replies: [reply(toolUse("Read", { file_path: "{{cwd}}/sub/f.txt" })), reply("Noted.")],
      options: { settingSources: ["user", "project", "local"] },
      permission: allow,
      probes: [
        "USER-MEMORY",
        "PROJECT-MEMORY",
        "IMPORTED-MEMORY",
        "LOCAL-MEMORY",
        "RULE-MEMORY",
        "NESTED-MEMORY",
        "file in sub",
      ],
    },

    skill: {
      about: "a project skill: the body reaches the model when it is called",
      files: {
        ".claude/skills/greeter/SKILL.md":
          "---\nname: greeter\ndescription: Greets people in a GREETER-WAY\n---\nSay the secret greeting XYZZY to $ARGUMENTS.\n",
      },
      replies: [reply(toolUse("Skill", { skill: "greeter", args: "Bob" })), reply("XYZZY Bob")],
      options: { settingSources: ["project"], skills: ["greeter"] },
      permission: allow,
      probes: ["GREETER-WAY", "XYZZY to Bob"],
    },

    "slash-command-file": {
      about: "a command of the project expands to its body",
      files: {
        ".claude/commands/hello.md":
          '---\ndescription: Say hello\nallowed-tools: Bash(echo:*)\n---\nSay hello to $ARGUMENTS. Context: !`echo in""jected`\n',
      },
      prompt: "/hello Bob",
      replies: [reply("Hello Bob")],
      options: { settingSources: ["project"] },
      permission: allow,
      probes: ["Say hello to Bob", "Context: injected"],
    },

    "slash-clear": {
      about: "/clear starts a new session without the history",
      turns: ["first-prompt", "/clear", "third-prompt"],
      replies: [reply("One."), reply("Three.")],
      probes: ["first-prompt", "third-prompt"],
    },

    "file-mention": {
      about: "a file named with @ in the prompt is included",
      files: { "m.txt": "MENTIONED-CONTENT\n" },
      prompt: "look at @m.txt please",
      replies: [reply("Seen.")],
      probes: ["MENTIONED-CONTENT", "look at @m.txt please"],
    },

    "local-plugin": {
      about: "a local plugin brings a command, an agent, a skill and a hook",
      files: {
        "plug/.claude-plugin/plugin.json": JSON.stringify({
          name: "plug",
          version: "1.0.0",
          description: "a test plugin",
        }),
        "plug/commands/pc.md": "---\ndescription: plugin command\n---\nPlugin command body\n",
        "plug/agents/pa.md": "---\nname: pa\ndescription: plugin agent\n---\nYou are PA.\n",
        "plug/skills/ps/SKILL.md": "---\nname: ps\ndescription: plugin skill\n---\nbody\n",
        "plug/hooks/hooks.json": JSON.stringify({
          hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: 'echo PLUGIN""-HOOK' }] }] },
        }),
      },
      replies: [reply("Plugged in.")],
      options: { plugins: [{ type: "local", path: "{{cwd}}/plug" }] },
      probes: ["PLUGIN-HOOK"],
    },

    "compact-by-command": {
      about: "/compact replaces the history by a summary",
      turns: ["first-prompt", "/compact keep-the-essentials", "third-prompt"],
      replies: [reply("One."), SUMMARY, reply("After compaction.")],
      hooks: { PreCompact: [{ output: {} }], SessionStart: [{ output: {} }] },
      probes: ["first-prompt", "keep-the-essentials", "SUMMARY-MARK", "third-prompt"],
    },

    "compact-when-full": {
      about: "a conversation near the window is compacted before the next turn",
      turns: [
        `first-prompt ${"lorem ipsum ".repeat(14000)}`,
        `second-prompt ${"lorem ipsum ".repeat(14000)}`,
        "third-prompt",
      ],
      replies: [
        replyWith({ usage: { input_tokens: 45000, output_tokens: 500 } }, "One."),
        replyWith({ usage: { input_tokens: 97000, output_tokens: 500 } }, "Two."),
        SUMMARY,
        reply("After compaction."),
      ],
      options: { settings: { autoCompactWindow: 100000 } },
      probes: ["first-prompt", "SUMMARY-MARK", "third-prompt"],
    },

    "compact-when-too-long": {
      about: "a prompt that the service calls too long is compacted and sent again",
      turns: ["first-prompt", "second-prompt", "third-prompt"],
      replies: [
        reply("One."),
        reply("Two."),
        httpError(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
        SUMMARY,
        reply("After compaction."),
      ],
      probes: ["SUMMARY-MARK", "third-prompt"],
    },
  };
}
