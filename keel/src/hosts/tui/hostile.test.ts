// Texts of models, tools, files and servers that try to act on a terminal: nothing of them reaches it but words.
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { Display } from "../../protocol/tool.ts";
import type { Row } from "../../view/rows.ts";
import { noTotals } from "../../view/totals.ts";
import { openDialog } from "./dialog/dialog.ts";
import { drawDialog } from "./dialog/draw.ts";
import { inputLines } from "./foot/input-view.ts";
import { statusLine } from "./foot/status.ts";
import { edit, emptyEditor } from "./input/editor.ts";
import type { RowContext } from "./rows/context.ts";
import { rowLines } from "./rows/row.ts";
import { drawPanel } from "./screen/draw-panel.ts";
import { listPanel, textPanel } from "./screen/panel.ts";
import { textLines } from "./screen/screen-texts.ts";
import { fullSigns } from "./text/signs.ts";
import type { TextLine } from "./text/styled.ts";
import { paint } from "./text/theme.ts";
import { modernWidths } from "./text/width.ts";
import { printSpans } from "./text/wrap.ts";
import { desktopNotice, setTitle } from "./writer/modes.ts";

const context: RowContext = {
  columns: 80,
  profile: modernWidths,
  signs: fullSigns,
  links: true,
  marks: false,
  cwd: "/work",
  home: "/home/ada",
  thinking: "shown",
  resultRows: 12,
};

const esc = "\u001b";
/** What is tried, each alone, in the middle of words, and cut off. */
const attacks = [
  `${esc}[2J`,
  `${esc}[3J`,
  `${esc}[H`,
  `${esc}[10A`,
  `${esc}[1;1H`,
  `${esc}[?1049h`,
  `${esc}[?25l`,
  `${esc}[?2026h`,
  `${esc}[6n`,
  `${esc}[c`,
  `${esc}[>q`,
  `${esc}[21t`,
  `${esc}[5i`,
  `${esc}c`,
  `${esc}7${esc}8`,
  `${esc}(0`,
  `${esc}#8`,
  `${esc}D${esc}M`,
  `${esc}]0;a title\u0007`,
  `${esc}]2;a title${esc}\\`,
  `${esc}]8;;file:///etc/passwd${esc}\\a link${esc}]8;;${esc}\\`,
  `${esc}]52;c;cm0gLXJmIC8=\u0007`,
  `${esc}]11;?${esc}\\`,
  `${esc}]1337;File=inline=1:AAAA\u0007`,
  `${esc}]9;a notice\u0007`,
  `${esc}P+q544e${esc}\\`,
  `${esc}_Gf=100,a=T;AAAA${esc}\\`,
  `${esc}^private${esc}\\`,
  `${esc}X string${esc}\\`,
  "\u009b2J",
  "\u009d0;a title\u009c",
  "\u0090q\u009c",
  "\u0085",
  "\u0007\u0007",
  "\u0008\u0008\u0008gone",
  "one\rover",
  "\u000b\u000c",
  "\u0000",
  "\u007f",
  "\u000e\u000f",
  "\u202egnp.exe",
  "\u2066hidden\u2069",
  "\u200b\u200e\u200f",
  "\u{e0041}\u{e0042}",
  "\u2028\u2029",
  "\ud800",
  "\u0301\u0301\u0301 marks",
  `${"a".repeat(30_000)}${esc}[2J`,
  `${esc}[${"1;".repeat(5_000)}m`,
  `${esc}]8;;javascript:alert(1)${esc}\\x`,
];
const corpus = attacks.flatMap((attack) => [
  attack,
  `words ${attack} words`,
  `${attack}\n${attack}`,
  attack.slice(0, -1),
]);

/** What is ours: colours, and links whose address has nothing in it that ends them. */
const ours = new RegExp(`${esc}\\[[0-9;]*m|${esc}\\]8;;[\\x21-\\x7e]*${esc}\\\\`, "g");
const acts = /[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]|\p{Cs}/u;

const theme = { depth: "true", background: "dark", links: true } as const;
function expectInert(lines: readonly TextLine[], what: string): void {
  const bytes = lines.map((line) => paint(line, theme)).join("");
  expect(acts.exec(bytes.replace(ours, ""))?.[0], what).toBeUndefined();
}

const base = { id: "1", at: 0 };
const reply = { ...base, requestId: "r", live: false };
function rowsWith(text: string): Row[] {
  const tool = {
    ...reply,
    kind: "tool" as const,
    callId: "c",
    status: "done" as const,
    result: [],
    ms: 5_000,
  };
  const displays: Display[] = [
    { kind: "text", text },
    { kind: "markdown", text },
    {
      kind: "diff",
      path: text,
      hunks: [
        { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`-${text}`, `+${text}x`, ` ${text}`] },
      ],
    },
    { kind: "terminal", command: text, output: text, exitCode: 1 },
    { kind: "files", paths: [text, `/work/${text}`], truncated: true },
    { kind: "todo", items: [{ text, status: "in_progress" }] },
    { kind: "agent", name: text, text },
  ];
  const work = {
    ...base,
    taskId: text,
    status: "failed" as const,
    title: text,
    endedAt: 9,
    data: { error: text, description: text },
  };
  return [
    { ...base, kind: "user", content: [{ type: "text", text }], from: { kind: "person" }, status: "taken" },
    {
      ...base,
      kind: "user",
      content: [{ type: "text", text }],
      from: { kind: "agent", name: text },
      status: "dropped",
      reason: text,
    },
    { ...reply, kind: "text", text },
    { ...reply, kind: "thinking", text, hidden: false },
    ...displays.map((display): Row => ({ ...tool, tool: text, input: { file_path: text }, display })),
    {
      ...tool,
      tool: text,
      input: { command: text },
      display: null,
      status: "denied",
      denied: { by: "host", reason: text },
    },
    { ...base, kind: "notice", level: "warning", text },
    { ...base, kind: "agent", ...work, agent: text, depth: 1, totals: noTotals },
    { ...base, kind: "task", ...work, display: null },
    {
      ...base,
      kind: "turn-end",
      turnId: "t",
      reason: "model_error",
      fault: { code: "unexpected", message: text },
      usage: noTotals.usage,
      costUsd: 0,
      ms: 1,
    },
  ];
}

function askWith(text: string): Ask {
  return {
    id: "a",
    kind: "permission",
    title: text,
    body: { kind: "terminal", command: text, output: "", exitCode: null },
    options: [
      { id: "once", label: text, verdict: "allow" },
      { id: "always", label: text, verdict: "allow", rule: text, preview: text },
      { id: "no", label: text, verdict: "deny", takesWords: true },
    ],
    tool: text,
    input: { command: text },
    claims: [{ action: "execute", target: text }],
    reason: text,
    origin: { agentId: "1", parentCallId: "1", kind: text, depth: 1, description: text },
  };
}

describe("hostile texts", () => {
  test(`are ${corpus.length} cases`, () => expect(corpus.length).toBe(200));

  test("do nothing in any row", () => {
    verifies("G42");
    for (const text of corpus)
      for (const row of rowsWith(text)) {
        const lines = [...rowLines(row, context), ...rowLines(row, context, "all")];
        expectInert(
          lines.map((line) => printSpans(line, 80)),
          `${row.kind} ${JSON.stringify(text.slice(0, 60))}`,
        );
      }
  });

  test("do nothing in a question, a panel, the input or the status line", () => {
    verifies("G31");
    const look = {
      ...context,
      most: 12,
      place: 1,
      count: 2,
      explanation: undefined,
      hasKeys: true,
      now: 0,
      turn: 0,
    };
    for (const text of corpus) {
      const what = JSON.stringify(text.slice(0, 60));
      const explanation = {
        verdict: "ask",
        because: text,
        programs: [text],
        wrapped: [text],
        flags: { readOnly: false, writesOutsideCwd: true, network: true, destructive: true },
        commands: [],
      } as const;
      expectInert(drawDialog(openDialog(askWith(text)), { ...look, explanation }).lines, what);
      const questions = {
        questions: [
          {
            question: text,
            header: text,
            options: [
              { label: text, description: text },
              { label: `${text}2`, description: text },
            ],
            multiSelect: true,
          },
        ],
      };
      const question: Ask = {
        ...askWith(text),
        kind: "question",
        input: JSON.parse(JSON.stringify(questions)),
      };
      expectInert(drawDialog(openDialog(question), look).lines, what);
      expectInert(
        drawPanel(listPanel("x", "X", [{ id: "1", label: text, note: text }], "help"), context, 12).lines,
        what,
      );
      expectInert(drawPanel(textPanel("x", "X", textLines(text)), context, 12).lines, what);
      const editor = edit(emptyEditor, { type: "insert", text });
      expectInert(inputLines(editor, { ...context, hint: "", kind: "words" }, 6).lines, what);
      const facts = {
        model: text,
        mode: text,
        branch: text,
        editor: text,
        context: 0.5,
        totals: noTotals,
        budgetUsd: 1,
        tasks: 1,
        queued: 1,
        own: undefined,
        link: "open",
        vi: undefined,
      } as const;
      expectInert([statusLine(facts, context), statusLine({ ...facts, own: text }, context)], what);
    }
  });

  test("end no title and no notice", () => {
    for (const text of corpus) {
      const said = setTitle(text);
      expect(said.slice(4, -2)).not.toMatch(/[\p{Cc}]/u);
      expect(desktopNotice(text).slice(4, -3)).not.toMatch(/[\p{Cc}]/u);
    }
  });
});
