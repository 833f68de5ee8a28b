/** Data that no recorded session has: every display by itself, a form of a server, and texts that try to do something. */
import type { Ask, Display } from "keel/protocol";
import { noTotals, type Row } from "keel/view";

const esc = "\u001b";

export const displaySamples: Readonly<Record<string, Display>> = {
  text: { kind: "text", text: "src/login.ts: 9 lines" },
  markdown: {
    kind: "markdown",
    text: "## Steps\n\n1. Read the **clock**\n2. Make the `session`\n   - with its time\n   - and a name\n\n> A quoted line\n\n- [x] done\n- [ ] to do\n\nA [link](https://example.org/page) and ~~old~~ words.\n\n```ts\nexport const now = (): number => clock.now(); // reads it once\n```",
  },
  diff: {
    kind: "diff",
    path: "src/login.ts",
    hunks: [
      {
        oldStart: 5,
        oldLines: 4,
        newStart: 5,
        newLines: 4,
        lines: [
          " export function login(name: string) {",
          "-  const session = createSession();",
          "-  const now = clock.now();",
          "+  const now = clock.now();",
          "+  const session = createSession(now);",
          " }",
        ],
      },
      { oldStart: 40, oldLines: 1, newStart: 40, newLines: 2, lines: [" const a = 1;", "+const b = 2;"] },
    ],
  },
  terminal: {
    kind: "terminal",
    command: "npm test",
    output: `${esc}[32m✓${esc}[0m 13 tests\n${esc}[31m✗ 1 test${esc}[0m  ${esc}[1mlogin holds for an hour${esc}[0m\n${esc}[2mat test/login.test.ts:14${esc}[0m\n${esc}[43;30m warn ${esc}[0m ${esc}[38;5;208morange${esc}[0m ${esc}[38;2;90;90;240mblue${esc}[0m`,
    exitCode: 1,
  },
  silent: { kind: "terminal", command: "true", output: "", exitCode: 0 },
  "very long": {
    kind: "terminal",
    command: "seq 200",
    output: Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join("\n"),
    exitCode: 0,
  },
  "very wide": {
    kind: "text",
    text: `a ${"very ".repeat(80)}long line\nand a short one`,
  },
  files: { kind: "files", paths: ["src/login.ts", "src/clock.ts", "test/login.test.ts"], truncated: true },
  "no files": { kind: "files", paths: [], truncated: false },
  todo: {
    kind: "todo",
    items: [
      { text: "Find out why", status: "completed" },
      { text: "Mend it", status: "in_progress" },
      { text: "Run the tests", status: "pending" },
    ],
  },
  agent: { kind: "agent", name: "reviewer", text: "Looks at the change and says what is wrong with it." },
};

export const formAsk: Ask = {
  id: "form",
  kind: "elicitation",
  title: "github wants something from you",
  body: { kind: "text", text: "Where should the release be published?" },
  options: [
    { id: "send", label: "Send", verdict: "allow" },
    { id: "no", label: "Don’t send", verdict: "deny" },
  ],
  schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", description: "As it is shown on the page", minLength: 1 },
      mail: { type: "string", title: "Mail", format: "email" },
      kind: { type: "string", title: "Kind", enum: ["patch", "minor", "major"] },
      places: { type: "array", title: "Places", items: { type: "string", enum: ["npm", "github"] } },
      count: { type: "integer", title: "Copies", minimum: 1, maximum: 5, default: 1 },
      draft: { type: "boolean", title: "As a draft" },
    },
    required: ["name"],
  },
};

/** What a model, a file, a tool or a page may say to do something here. None of it may. */
export const hostileTexts: readonly string[] = [
  "<script>window.pwned = 1</script>",
  '<img src="x" onerror="window.pwned = 1">',
  "[click](javascript:window.pwned=1)",
  "![pixel](https://tracker.invalid/pixel.png)",
  "<a href=\"javascript:alert(1)\">a</a> <iframe src='https://evil.invalid'></iframe>",
  "\u202egnp.exe\u202c \u200bhidden\u200b \u2066isolated\u2069",
  `${esc}]0;title${esc}\\${esc}[2J${esc}]8;;javascript:alert(1)${esc}\\link${esc}]8;;${esc}\\`,
  "[https://bank.example](https://evil.invalid/login)",
  "```html\n<script>window.pwned = 1</script>\n```",
];

export const hostileRows: readonly Row[] = hostileTexts.flatMap((text, index): Row[] => [
  {
    kind: "user",
    id: `user-${index}`,
    at: 0,
    content: [{ type: "text", text }],
    from: { kind: "person" },
    status: "taken",
  },
  { kind: "text", id: `text-${index}`, at: 0, requestId: "r", live: false, text },
  { kind: "thinking", id: `thinking-${index}`, at: 0, requestId: "r", live: false, text, hidden: false },
  {
    kind: "tool",
    id: `tool-${index}`,
    at: 0,
    requestId: "r",
    live: false,
    callId: `call-${index}`,
    tool: text,
    input: { command: text },
    status: "done",
    display: { kind: "terminal", command: text, output: text, exitCode: 0 },
    result: [{ type: "text", text }],
    ms: 1,
  },
  { kind: "notice", id: `notice-${index}`, at: 0, level: "warning", text },
  {
    kind: "agent",
    id: `agent:${index}`,
    at: 0,
    taskId: String(index),
    status: "running",
    title: text,
    endedAt: null,
    data: {},
    agent: text,
    depth: 1,
    totals: noTotals,
  },
  {
    kind: "ask",
    id: `ask-${index}`,
    at: 0,
    closed: null,
    ask: {
      id: `ask-${index}`,
      kind: "permission",
      title: text,
      body: { kind: "terminal", command: text, output: "", exitCode: null },
      options: [{ id: "no", label: text, verdict: "deny" }],
      reason: text,
    },
  },
]);
