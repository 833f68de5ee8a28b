// docs/reference/what-the-model-sees.md: the requests of real sessions over a scripted model, as a model reads them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openHome } from "../../keel/src/app/home.ts";
import type { OpenOptions } from "../../keel/src/app/options.ts";
import { type InputBlock, text } from "../../keel/src/protocol/message.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";

type Scenario = {
  readonly title: string;
  readonly about: string;
  /** What the person says, one turn each. */
  readonly turns: readonly (string | readonly InputBlock[])[];
  readonly replies?: readonly Reply[];
  readonly files?: Readonly<Record<string, string>>;
  readonly home?: Readonly<Record<string, string>>;
  readonly options?: Partial<OpenOptions>;
  readonly prepare?: (project: string) => void;
  /** `resume`: each turn is a session of its own that takes the one before it up again. */
  readonly between?: "resume";
};

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const picture: InputBlock = { type: "image", mediaType: "image/png", data: png };

const scenarios: readonly Scenario[] = [
  {
    title: "A plain question",
    about:
      "Every tool, and a host that answers questions. The other sections show only what differs from this.",
    turns: ["Say hello."],
  },
  {
    title: "In a repository, with instructions",
    about:
      "The state of the repository, and instruction files; those of a folder come behind a file read there.",
    turns: ["Read inner/code.js."],
    replies: [reply(toolUse("Read", { file_path: "inner/code.js" }, "read"))],
    files: {
      "AGENTS.md": "Money is in cents.\n",
      "inner/AGENTS.md": "Inner code is frozen.\n",
      "inner/code.js": "export {};\n",
    },
    prepare: makeRepository,
  },
  {
    title: "With skills",
    about: "A skill of the person beside ours, loaded by the model.",
    turns: ["Write the release notes."],
    replies: [reply(toolUse("Skill", { skill: "release-notes", args: "for 2.0" }, "skill"))],
    home: {
      ".keel/skills/release-notes/SKILL.md":
        "---\nname: release-notes\ndescription: Writes the notes of a release.\n---\nRead the commits, then write. $ARGUMENTS\n",
    },
  },
  {
    title: "With agents",
    about: "A kind of agent from a file; the second request is the agent's own.",
    turns: ["Count the files."],
    replies: [
      reply(
        toolUse(
          "Agent",
          { description: "count", prompt: "Count them.", subagent_type: "counter", run_in_background: false },
          "agent",
        ),
      ),
      reply("Two."),
    ],
    home: {
      ".keel/agents/counter.md":
        "---\nname: counter\ndescription: Counts things.\ntools: Read, Glob\n---\nYou count. Be exact.\n",
    },
  },
  {
    title: "A built-in agent",
    about: "The second request is that of the agent.",
    turns: ["Do it."],
    replies: [
      reply(
        toolUse("Agent", { description: "do it", prompt: "Do it all.", run_in_background: false }, "agent"),
      ),
      reply("Done."),
    ],
  },
  {
    title: "A coordinator",
    about: "`--tool-preset coordinator`.",
    turns: ["Do it."],
    options: { tools: "coordinator" },
  },
  {
    title: "With an MCP server",
    about: "What a server says of its use, and its tools.",
    turns: ["Use the server."],
    files: { "server.mjs": mcpServer() },
    options: {
      mcpServers: { notes: { type: "stdio", command: process.execPath, args: ["server.mjs"] } },
      settings: { mcp: { startMs: 60_000, connectMs: 60_000 } },
    },
  },
  {
    title: "Plan mode",
    about: "On from the start.",
    turns: ["Plan it."],
    options: { permissionMode: "plan" },
  },
  {
    title: "Images and a changed file",
    about: "A picture that the person sent; then a file that somebody else changed since it was read.",
    turns: [[text("Look."), picture], "And now?"],
    files: { "a.txt": "one\n" },
    replies: [reply(toolUse("Read", { file_path: "a.txt" }, "read")), reply("Seen.")],
    between: "resume",
  },
  {
    title: "A compaction",
    about: "The request for notes, without images, and the first request behind it.",
    turns: [[text("Look at a.txt."), picture], "/compact keep the numbers", "Go on."],
    files: { "a.txt": "one\n" },
    replies: [
      reply(
        toolUse("Read", { file_path: "a.txt" }, "read"),
        toolUse("TaskCreate", { subject: "Look", description: "All." }, "task"),
      ),
      reply("Seen. ".repeat(40)),
      reply("NOTES OF THE MODEL"),
    ],
  },
];

export async function whatTheModelSeesPage(): Promise<string> {
  const parts: string[] = [];
  let plain: Shown | undefined;
  for (const scenario of scenarios) {
    const requests = await requestsOf(scenario);
    plain ??= requests[0];
    const shown = requests.map((request, at) => {
      const before = at > 0 ? requests[at - 1] : undefined;
      const heading = requests.length > 1 ? [`### Request ${at + 1}`] : [];
      return [...heading, ...sayRequest(request, before, request === plain ? undefined : plain)].join("\n\n");
    });
    parts.push([`## ${scenario.title}`, scenario.about, ...shown].join("\n\n"));
  }
  return [
    "# What the model sees",
    "<!-- Written by `npm run reference` from real requests; do not edit. -->",
    "Requests of real sessions, as a model reads them, so that every change of a prompt or a tool is a change of this page. `<folder>`, `<date>` and their like differ from run to run. Why it is told so: [What the model is told](../guide/what-the-model-is-told.md).",
    ...parts,
    "",
  ]
    .join("\n\n")
    .replace(/\n+$/, "\n");
}

type Shown = {
  readonly system: readonly string[];
  readonly tools: readonly string[];
  readonly messages: readonly string[];
};

async function requestsOf(scenario: Scenario): Promise<Shown[]> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-page-")));
  const [project, home] = [path.join(folder, "project"), path.join(folder, "home")];
  const replies = [...(scenario.replies ?? [])];
  const server = await startModelServer({ script: { replies, otherwise: reply("Done.") } });
  try {
    for (const place of [project, home]) mkdirSync(place);
    writeFiles(project, scenario.files ?? {});
    writeFiles(home, scenario.home ?? {});
    scenario.prepare?.(project);
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      KEEL_HOME: path.join(home, ".keel"),
      KEEL_MANAGED_SETTINGS: path.join(folder, "managed.json"),
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "none",
      KEEL_GUARD: "off",
    };
    const first: OpenOptions = {
      version: "0.0.0",
      cwd: project,
      env,
      model: "claude-sonnet-4-5",
      asks: "answered",
      memory: "on",
      ...scenario.options,
    };
    const again: OpenOptions = { ...first, which: { kind: "resume", from: "newest" } };
    let session = await openHome(first).open(first);
    for (const [at, words] of scenario.turns.entries()) {
      if (at > 0 && scenario.between === "resume") {
        await session.close("ended");
        writeFiles(project, { "a.txt": "changed\n" });
        session = await openHome(again).open(again);
      }
      await session.submit({
        type: "input",
        content: typeof words === "string" ? [text(words)] : [...words],
      });
      await session.idle();
    }
    await session.close("ended");
    return server.requests.map(({ body }) => readBody(body, folder));
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
}

/** With a history that has the same ids everywhere. */
function makeRepository(cwd: string): void {
  const date = "2026-01-01T00:00:00Z";
  const who = { NAME: "A", EMAIL: "a@example.com", DATE: date };
  const env = Object.fromEntries(
    Object.entries(who).flatMap(([name, value]) => [
      [`GIT_AUTHOR_${name}`, value],
      [`GIT_COMMITTER_${name}`, value],
    ]),
  );
  const own = {
    PATH: process.env["PATH"],
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    ...env,
  };
  const git = (...args: string[]) => execFileSync("git", args, { cwd, env: own, stdio: "ignore" });
  git("init", "--quiet", "--initial-branch=topic");
  git("add", "inner");
  git("commit", "--quiet", "-m", "Begin with the inner code");
}

/** The least server: one tool, and words about its use. */
function mcpServer(): string {
  return `import { createInterface } from "node:readline";
const tool = { name: "find", description: "Finds a note.", inputSchema: { type: "object", properties: { words: { type: "string" } } } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" }, instructions: "Search before you write." }),
  "tools/list": () => ({ tools: [tool] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
}
`;
}

// biome-ignore lint/suspicious/noExplicitAny: a body of the wire, as the server took it down
function readBody(body: any, folder: string): Shown {
  const masked = maskOf(folder);
  const blocks = (content: unknown): string[] =>
    typeof content === "string" ? [content] : Array.isArray(content) ? content.flatMap(sayBlock) : [];
  return {
    system: (body.system ?? []).map(({ text: words }: { text: string }) => masked(words)),
    tools: (body.tools ?? []).map((tool: ToolOnWire) => masked(sayTool(tool))),
    messages: (body.messages ?? []).flatMap(({ role, content }: { role: string; content: unknown }) =>
      blocks(content).map((words) => masked(`[${role}]\n${words}`)),
    ),
  };
}

type ToolOnWire = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: {
    readonly properties?: Readonly<Record<string, { type?: string; description?: string }>>;
    readonly required?: readonly string[];
  };
};

function sayTool({
  name,
  description,
  input_schema: { properties = {}, required = [] },
}: ToolOnWire): string {
  const fields = Object.entries(properties).map(
    ([field, { type = "any", description: says = "" }]) =>
      `  ${field} (${type}${required.includes(field) ? "" : ", optional"}): ${says}`,
  );
  return [`${name}: ${description}`, ...fields].join("\n");
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function sayBlock(block: any): string[] {
  if (block.type === "text") return [block.text];
  if (block.type === "tool_use") return [`(calls ${block.name} ${JSON.stringify(block.input)})`];
  if (block.type === "tool_result") {
    const inner =
      typeof block.content === "string" ? [block.content] : (block.content ?? []).flatMap(sayBlock);
    return [`(result${block.is_error ? ", failed" : ""})\n${inner.join("\n")}`];
  }
  return [`(${block.type}, ${JSON.stringify(block).length} bytes)`];
}

function maskOf(folder: string): (words: string) => string {
  const ids: string[] = [];
  const numbered = (id: string): string => {
    if (!ids.includes(id)) ids.push(id);
    return `<id ${ids.indexOf(id) + 1}>`;
  };
  return (words) =>
    words
      .replaceAll(folder, "<folder>")
      .replaceAll(/^Date: .*$/gm, "Date: <date>")
      .replaceAll(`Platform: ${process.platform}`, "Platform: <platform>")
      .replaceAll(/projects\/[^/\s]+\//g, "projects/<project>/")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, numbered)
      .replaceAll(/(?<=Agent id: |agent-|Agent )[0-9a-z]{8,}\b/g, numbered);
}

/** What differs from the request before it and from the plain one. */
function sayRequest(request: Shown, before: Shown | undefined, plain: Shown | undefined): string[] {
  const like =
    before && same(before.system, request.system) && same(before.tools, request.tools) ? before : plain;
  const told =
    before && same(before.messages, request.messages.slice(0, before.messages.length))
      ? before.messages.length
      : 0;
  return [
    ...(like && same(like.system, request.system) ? [] : ["System prompt:", fenced(request.system)]),
    ...sayTools(request, like),
    told > 0 ? "Messages, behind those of the request before:" : "Messages:",
    fenced(request.messages.slice(told)),
  ];
}

function sayTools({ tools }: Shown, like: Shown | undefined): string[] {
  if (!like) return ["Tools:", fenced(tools)];
  if (same(like.tools, tools)) return [];
  const names = (list: readonly string[]): string[] => list.map((tool) => tool.slice(0, tool.indexOf(":")));
  const fresh = tools.filter((tool) => !like.tools.includes(tool));
  const listed = `Tools: ${names(tools).join(", ") || "none"}.`;
  return fresh.length === 0 ? [listed] : [listed, "Of them new here:", fenced(fresh)];
}

const same = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((one, at) => one === right[at]);

const fenced = (texts: readonly string[]): string => ["````text", texts.join("\n\n"), "````"].join("\n");
