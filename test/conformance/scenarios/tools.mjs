export default function scenarios({ allow, reply, TINY_PNG, toolUse }) {
  const NOTEBOOK = JSON.stringify({
    cells: [
      { cell_type: "code", id: "c1", source: ["print(1)"], metadata: {}, outputs: [], execution_count: null },
    ],
    metadata: { language_info: { name: "python" } },
    nbformat: 4,
    nbformat_minor: 5,
  });

  const QUESTION = {
    question: "Which one?",
    header: "Choice",
    multiSelect: false,
    options: [
      { label: "A", description: "first" },
      { label: "B", description: "second" },
    ],
  };

  return {
    "read-file": {
      about: "Read returns the lines and a structured result",
      files: { "a.txt": "line one\nline two\nline three\n" },
      replies: [
        reply("Reading.", toolUse("Read", { file_path: "{{cwd}}/a.txt" })),
        reply("It has three lines."),
      ],
      permission: allow,
      probes: ["line one", "line two", "line three"],
    },

    "read-missing-file": {
      about: "Read of a file that is not there is an error",
      replies: [reply(toolUse("Read", { file_path: "{{cwd}}/nope.txt" })), reply("File is missing.")],
      permission: allow,
    },

    "read-image": {
      about: "Read of a picture gives an image block",
      setup: (kit) => kit.write("i.png", Buffer.from(TINY_PNG, "base64")),
      replies: [reply(toolUse("Read", { file_path: "{{cwd}}/i.png" })), reply("A picture.")],
      permission: allow,
    },

    "write-new-file": {
      about: "Write creates a file",
      replies: [
        reply(toolUse("Write", { file_path: "{{cwd}}/new.txt", content: "hello\nworld\n" })),
        reply("Written."),
      ],
      permission: allow,
      after: (kit) => kit.note("new.txt", kit.read("new.txt")),
    },

    "edit-file": {
      about: "Edit after Read",
      files: { "a.txt": "alpha\nbeta\ngamma\n" },
      replies: [
        reply(toolUse("Read", { file_path: "{{cwd}}/a.txt" })),
        reply(toolUse("Edit", { file_path: "{{cwd}}/a.txt", old_string: "beta", new_string: "BETA" })),
        reply("Edited."),
      ],
      permission: allow,
      probes: ["alpha", "beta", "gamma"],
      after: (kit) => kit.note("a.txt", kit.read("a.txt")),
      data: ["alpha\nBETA\ngamma\n", "-beta", "+BETA", " alpha", " gamma"],
    },

    "edit-unread-file": {
      about: "Edit of a file that was not read first is refused",
      files: { "a.txt": "alpha\nbeta\ngamma\n" },
      replies: [
        reply(toolUse("Edit", { file_path: "{{cwd}}/a.txt", old_string: "beta", new_string: "BETA" })),
        reply("Could not edit."),
      ],
      permission: allow,
      after: (kit) => kit.note("a.txt", kit.read("a.txt")),
    },

    "edit-no-match": {
      about: "Edit whose old_string is not in the file",
      files: { "a.txt": "alpha\nbeta\ngamma\n" },
      replies: [
        reply(toolUse("Read", { file_path: "{{cwd}}/a.txt" })),
        reply(toolUse("Edit", { file_path: "{{cwd}}/a.txt", old_string: "delta", new_string: "X" })),
        reply("No match."),
      ],
      permission: allow,
      after: (kit) => kit.note("a.txt", kit.read("a.txt")),
    },

    "bash-ok": {
      about: "Bash: both output streams come back in order",
      replies: [
        reply(toolUse("Bash", { command: "echo hi; echo err >&2", description: "say hi" })),
        reply("Done."),
      ],
      permission: allow,
      data: ["hi\nerr"],
    },

    "bash-exit-code": {
      about: "Bash: a failing command is an error that names the exit code",
      replies: [
        reply(toolUse("Bash", { command: "echo out; echo bad >&2; exit 3", description: "fail" })),
        reply("It failed."),
      ],
      permission: allow,
      facts: ["3", "out", "bad"],
    },

    "bash-timeout": {
      about: "Bash: a command that runs too long is stopped",
      seconds: 2,
      replies: [
        reply(toolUse("Bash", { command: "sleep 5", timeout: 1000, description: "sleep" })),
        reply("It timed out."),
      ],
      permission: allow,
    },

    "bash-large-output": {
      about: "Bash: large output is shortened before the model sees it",
      replies: [reply(toolUse("Bash", { command: "seq 1 20000", description: "count" })), reply("Big.")],
      permission: allow,
      probes: ["10007"],
    },

    glob: {
      about: "Glob finds files by pattern",
      files: { "a.txt": "x", "sub/b.txt": "y", "c.md": "z" },
      replies: [reply(toolUse("Glob", { pattern: "**/*.txt" })), reply("Found.")],
      options: { tools: ["Glob", "Grep", "Read"] },
      permission: allow,
      facts: ["a.txt", "sub/b.txt", "c.md"],
    },

    "grep-modes": {
      about: "Grep in its three output modes, in parallel",
      files: { "a.txt": "foo\nbar\n", "sub/b.txt": "foo foo\n" },
      replies: [
        reply(
          toolUse("Grep", { pattern: "foo" }),
          toolUse("Grep", { pattern: "foo", output_mode: "content", "-n": true }),
          toolUse("Grep", { pattern: "foo", output_mode: "count" }),
        ),
        reply("Found."),
      ],
      options: { tools: ["Glob", "Grep", "Read"] },
      permission: allow,
      facts: ["a.txt", "sub/b.txt", "foo foo"],
    },

    "task-list": {
      about: "TaskCreate, TaskUpdate, TaskList and TaskGet work on one list",
      replies: [
        reply(toolUse("TaskCreate", { subject: "Do A", description: "A in full", activeForm: "Doing A" })),
        reply(toolUse("TaskUpdate", { taskId: "1", status: "in_progress" })),
        reply(toolUse("TaskList", {}), toolUse("TaskGet", { taskId: "1" })),
        reply("Tasks."),
      ],
      options: { tools: ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet"] },
      permission: allow,
      facts: ["Do A", "A in full"],
    },

    "todo-write": {
      about: "TodoWrite, where it is switched on instead of the Task tools",
      env: { CLAUDE_CODE_ENABLE_TASKS: "false" },
      replies: [
        reply(
          toolUse("TodoWrite", {
            todos: [
              { content: "Do A", status: "in_progress", activeForm: "Doing A" },
              { content: "Do B", status: "pending", activeForm: "Doing B" },
            ],
          }),
        ),
        reply("Planned."),
      ],
      permission: allow,
    },

    "parallel-tools": {
      about: "several calls in one reply: each gets its result",
      files: { "a.txt": "AAA\n", "b.txt": "BBB\n" },
      replies: [
        reply(
          "Reading both.",
          toolUse("Read", { file_path: "{{cwd}}/a.txt" }),
          toolUse("Read", { file_path: "{{cwd}}/b.txt" }),
          toolUse("Bash", { command: "echo parallel", description: "echo" }),
        ),
        reply("Both read."),
      ],
      permission: allow,
      probes: ["AAA", "BBB"],
      data: ["parallel"],
    },

    "unknown-tool": {
      about: "a call of a tool that does not exist",
      replies: [reply(toolUse("NoSuchTool", { x: 1 })), reply("Sorry.")],
      permission: allow,
      facts: ["NoSuchTool"],
    },

    "invalid-tool-input": {
      about: "a call with input that does not fit the schema",
      replies: [reply(toolUse("Read", { path: "x" })), reply("Sorry.")],
      permission: allow,
      facts: ["file_path"],
    },

    "malformed-tool-json": {
      about: "a call whose input is not valid JSON",
      replies: [
        reply({ type: "tool_use", name: "Read", rawInput: '{"file_path": "/somewhere/x' }),
        reply("Sorry."),
      ],
      permission: allow,
    },

    "notebook-edit": {
      about: "NotebookEdit replaces a cell",
      files: { "n.ipynb": NOTEBOOK },
      replies: [
        reply(toolUse("Read", { file_path: "{{cwd}}/n.ipynb" })),
        reply(
          toolUse("NotebookEdit", {
            notebook_path: "{{cwd}}/n.ipynb",
            cell_id: "c1",
            new_source: "print(2)",
          }),
        ),
        reply("Changed."),
      ],
      options: { tools: ["Read", "NotebookEdit"] },
      permission: allow,
      probes: ["print(1)", "print(2)"],
      after: (kit) => kit.note("source", [].concat(JSON.parse(kit.read("n.ipynb")).cells[0].source).join("")),
    },

    "ask-user-question": {
      about: "AskUserQuestion: the host answers through updatedInput",
      replies: [reply(toolUse("AskUserQuestion", { questions: [QUESTION] })), reply("You chose B.")],
      options: { tools: ["AskUserQuestion", "Read"] },
      permission: (tool, input) => ({
        behavior: "allow",
        updatedInput: { ...input, answers: { "Which one?": "B" } },
      }),
      facts: ["Which one?", "B"],
    },
  };
}
