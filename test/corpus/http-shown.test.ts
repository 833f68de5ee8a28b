// The rows of the corpus of requests that are words to be shown: on a page, and on a terminal outside its own view.
import { describe, expect, test } from "vitest";
import { plainTerminal, visible } from "../../keel/src/kernel/text.ts";
import { toHtml } from "../../keel/src/view/html.ts";
import { noTotals } from "../../keel/src/view/totals.ts";
import { verifies } from "../support/verifies.ts";
import { readHttpRows } from "./http-rows.ts";

const rows = readHttpRows();

/** As a model says it, as a tool shows it, and as a command prints it. */
function pageWith(text: string): string {
  const place = { at: 1, requestId: "r", live: false };
  return toHtml({
    session: "s",
    title: undefined,
    cwd: "/work",
    model: undefined,
    openedAt: 0,
    totals: noTotals,
    rows: [
      { kind: "text", id: "t", ...place, text },
      {
        kind: "tool",
        id: "c",
        ...place,
        callId: "c",
        tool: "Bash",
        input: { command: text },
        status: "done",
        display: { kind: "terminal", command: text, output: text, exitCode: 0 },
        result: [{ type: "text", text }],
        ms: 1,
      },
    ],
  });
}

/** Every tag of a page with its attributes. */
const tagsOf = (html: string): string[] => [...html.matchAll(/<[a-z!/][^>]*>/gi)].map(([tag]) => tag);

describe("on a page", () => {
  test.each(rows.filter(({ transport }) => transport === "render"))("$id: $why", ({ payload = "" }) => {
    verifies("G42");
    const page = pageWith(payload);
    const harmless = new Set(tagsOf(pageWith("plain words\n```html\nand code\n```")));
    const added = tagsOf(page).filter((tag) => !harmless.has(tag));
    expect(added.filter((tag) => /^<\/?(script|img|svg|iframe|details|object|style)\b/i.test(tag))).toEqual(
      [],
    );
    expect(added.filter((tag) => /\son\w+\s*=|\ssrc\s*=|(javascript|data):/i.test(tag))).toEqual([]);
    for (const tag of added.filter((one) => /\shref=/i.test(one))) expect(tag).toMatch(/noreferrer|noopener/);
  });
});

describe("on a terminal", () => {
  test.each(rows.filter(({ transport }) => transport === "terminal"))("$id: $why", ({ payload = "" }) => {
    verifies("G42");
    // Nothing that a terminal acts on is left: neither of an escape nor of a return to the start of the line.
    for (const show of [visible, plainTerminal]) expect(show(payload)).not.toMatch(/[^\P{Cc}\t\n]/u);
  });
});
