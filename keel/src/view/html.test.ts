import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeTool } from "../../../test/support/test-tools.ts";
import { tell } from "../../../test/support/told.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Display } from "../protocol/tool.ts";
import { noUsage } from "../protocol/usage.ts";
import { reply, thinking, toolUse } from "../testing/reply.ts";
import { documentOf, type SessionDocument } from "./document.ts";
import { toHtml } from "./html.ts";
import type { ConversationRow, ToolStatus } from "./rows.ts";
import { noTotals } from "./totals.ts";

const pixel = "iVBORw0KGgo=";
const pageOf = (rows: ConversationRow[], title?: string): SessionDocument => ({
  session: "s1",
  title,
  cwd: "/project",
  model: "m",
  openedAt: 0,
  rows,
  totals: noTotals,
});

/** Every way in which foreign words come onto the page. */
const rowsWith = (text: string): ConversationRow[] => {
  const displays: Display[] = [
    { kind: "text", text },
    { kind: "markdown", text: `\`\`\`${text}\n${text}\n\`\`\`` },
    {
      kind: "diff",
      path: text,
      hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`+${text}`, `-${text}`, text] }],
    },
    { kind: "terminal", command: text, output: text, exitCode: 1 },
    { kind: "files", paths: [text], truncated: true },
    { kind: "todo", items: [{ text, status: "in_progress" }] },
    { kind: "agent", name: text, text },
  ];
  const statuses: ToolStatus[] = ["done", "failed", "denied", "interrupted", "not-run", "running", "asking"];
  const place = { at: 1, requestId: text, live: false };
  return [
    {
      kind: "user",
      id: text,
      at: Number.NaN,
      content: [
        { type: "text", text },
        { type: "image", mediaType: text, data: text },
        { type: "image", mediaType: "image/png", data: text },
        { type: "document", mediaType: text, data: text, name: text },
      ],
      from: { kind: "channel", name: text },
      status: "dropped",
      reason: text,
    },
    { kind: "text", id: "t", ...place, text },
    { kind: "thinking", id: "h", ...place, text, hidden: false },
    ...displays.map(
      (shown, index): ConversationRow => ({
        kind: "tool",
        id: `c${index}`,
        ...place,
        callId: text,
        tool: text,
        input: { [text]: text },
        status: statuses[index] ?? "done",
        display: shown,
        result: [
          { type: "text", text },
          { type: "image", mediaType: "image/svg+xml", data: text },
        ],
        ms: 1,
        denied: { by: "rule", reason: text },
        spilledTo: text,
      }),
    ),
    { kind: "notice", id: "n", at: 1, level: "warning", text, code: text },
    {
      kind: "ask",
      id: "a",
      at: 1,
      ask: {
        id: text,
        kind: "permission",
        title: text,
        body: { kind: "text", text },
        options: [{ id: "o", label: text, verdict: "allow" }],
      },
      closed: { answer: { verdict: "allow", option: "o", reason: text }, by: "host" },
    },
    { kind: "compaction", id: "k", at: 1, trigger: "full", summary: text, tokensBefore: 2, tokensAfter: 1 },
    {
      kind: "turn-end",
      id: "e",
      at: 1,
      turnId: text,
      reason: "model_error",
      fault: { code: "unexpected", message: text },
      usage: noUsage,
      costUsd: 1,
      ms: 1,
    },
  ];
};

/** The tags that the page may have, and nothing inside them that was not written by us. */
const ours =
  /^(?:<!doctype html>|<\/?(?:html|head|body|title|style|article|details|div|h1|h2|header|li|main|p|pre|span|summary|table|td|th|time|tr|ul)>|<html lang="en">|<meta [a-z-]+="[^"<>]*"(?: content="[^"<>]*")?>|<(?:article|div|p|pre|span) class="[a-z -]+">|<img alt="" src="data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*">)$/;

function expectInert(html: string): void {
  const tags = html.match(/<[^>]*>?/g) ?? [];
  expect(tags.filter((tag) => !ours.test(tag))).toEqual([]);
  const text = html.slice(html.indexOf("<body>")).replace(/<[^>]*>/g, "");
  expect(text).not.toMatch(/[<>"'`]/);
  // Every ampersand starts a numbered character of ours.
  expect(text.replace(/&#\d+;/g, "")).not.toContain("&");
  expect(html).not.toMatch(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/u);
}

describe("an exported page", () => {
  test("shows the whole session and needs nothing else", async () => {
    verifies("P18");
    const script = {
      replies: [
        reply(thinking("Hm."), "I change it:\n```js\nlet a;\n```", toolUse("Change", { at: "1" })),
        reply("Done."),
      ],
    };
    const { log } = await tell({ script, tools: [changeTool([])] }, "please change it");
    const html = toHtml(documentOf(log));
    for (const words of ["please change it", "let a;", "Change", "Hm.", "Done.", "test-model", "/project"])
      expect(html).toContain(words);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|<link|<iframe|@import|url\(|https?:\/\//i);
    expectInert(html);
  });

  test("shows pictures that are pictures, and names the rest", () => {
    const picture = (mediaType: string, data: string) => ({ type: "image" as const, mediaType, data });
    const html = toHtml(
      pageOf([
        {
          kind: "user",
          id: "u",
          at: 1,
          content: [
            picture("image/png", pixel),
            picture("image/svg+xml", pixel),
            picture("image/png", '" onload="x'),
          ],
          from: { kind: "person" },
          status: "taken",
        },
      ]),
    );
    expect(html.match(/<img /g)).toHaveLength(1);
    expect(html).toContain("image/svg+xml");
    expectInert(html);
  });

  test.each([
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "</style><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "<!--",
    "]]>",
    "&lt;script&gt;",
    "javascript:alert(1)",
    "\u202Egnp.exe",
    "\u001b]0;x\u0007",
    "```\n</pre><b>",
    "\0<\0script>",
    "`<img src=x>`",
  ])("shows %j as words", (hostile) => {
    verifies("G42");
    expectInert(
      toHtml({ ...pageOf(rowsWith(hostile), hostile), cwd: hostile, model: hostile, session: hostile }),
    );
  });

  test("shows whatever anybody wrote as words", () => {
    verifies("G42");
    const bits = [
      "<",
      ">",
      '"',
      "'",
      "&",
      "`",
      "```",
      "\n",
      "</",
      "<script>",
      "<!--",
      "-->",
      "&#60;",
      "\u0000",
      "\u202e",
      "=",
      "/",
      " ",
      "a",
      "\\",
      "{",
      "\ud800",
      "\u001b[",
      "]]>",
    ];
    const built = fc.array(fc.constantFrom(...bits), { maxLength: 20 }).map((all) => all.join(""));
    const anyText = fc
      .array(fc.nat(0x10ffff), { maxLength: 30 })
      .map((codes) => String.fromCodePoint(...codes));
    fc.assert(
      fc.property(fc.oneof(built, anyText), (hostile) => {
        expectInert(toHtml({ ...pageOf(rowsWith(hostile), hostile), cwd: hostile, model: hostile }));
      }),
      { numRuns: 200 },
    );
  });

  test("keeps the words themselves: decoded, they are what was written", () => {
    const written = `if (a < b && c > d) { say("it's"); } // \`x\``;
    const html = toHtml(
      pageOf([{ kind: "text", id: "t", at: 1, requestId: "r", text: written, live: false }]),
    );
    const [, shown = ""] = /<div class="prose">([^<]*)<\/div>/.exec(html) ?? [];
    expect(shown.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))).toBe(written);
  });
});
