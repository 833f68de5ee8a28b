import { describe, expect, test } from "vitest";
import { changeTool } from "../../../test/support/test-tools.ts";
import { tell } from "../../../test/support/told.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { httpError, reply, thinking, toolUse } from "../testing/reply.ts";
import { documentOf, type SessionDocument } from "./document.ts";
import { toMarkdown } from "./markdown.ts";
import type { ConversationRow } from "./rows.ts";
import { noTotals } from "./totals.ts";

const pageOf = (rows: ConversationRow[]): string =>
  toMarkdown({
    session: "s1",
    title: "Bees",
    cwd: "/project",
    model: "m",
    openedAt: 0,
    rows,
    totals: noTotals,
  });

describe("a session as Markdown", () => {
  test("reads from the first prompt to the last word", async () => {
    verifies("P18");
    const script = {
      replies: [reply(thinking("Hm."), "Changing.", toolUse("Change", { at: "1" })), reply("Done.")],
    };
    const { log } = await tell({ script, tools: [changeTool([])] }, "please change it", ({ session }) =>
      session.submit({ type: "set", patch: { title: "A change" } }),
    );
    const document = documentOf(log);
    const fixed: SessionDocument = { ...document, totals: { ...document.totals, ms: 0 } };
    expect(toMarkdown(fixed).replace(/\d+ ms/g, "0 ms")).toMatchInlineSnapshot(`
      "# A change

      - Session: \`00000000-0000-7000-8000-00000000005e\`
      - Folder: \`/project\`
      - Model: \`test-model\`
      - Opened: \`2026-01-01T00:00:00.000Z\`
      - Turns: \`1 in 0 ms\`
      - Cost: \`$0.0012\`
      - Tokens: \`200 read, 40 written\`
      - Tools: \`Change 1\`

      ## You

      please change it

      ## Thinking

      > Hm.

      ## Assistant

      Changing.

      ### Change: done

      \`\`\`json
      {
        "at": "1"
      }
      \`\`\`

      \`\`\`
      changed
      \`\`\`

      > Allow Change? Yes, by host

      ## Assistant

      Done.

      *Done · $0.0012 · 0 ms*

      ---
      "
    `);
  });

  test("says what went wrong", async () => {
    const { log } = await tell({ script: { replies: [httpError(401, { message: "bad key" })] } }, "go");
    expect(toMarkdown(documentOf(log))).toContain("The provider refused the key");
  });

  test("shows each kind of display", () => {
    const tool = {
      kind: "tool" as const,
      at: 1,
      requestId: "r",
      callId: "c",
      tool: "T",
      input: {},
      status: "done" as const,
      result: [],
      ms: null,
      live: false,
    };
    const markdown = pageOf([
      {
        ...tool,
        id: "1",
        display: {
          kind: "diff",
          path: "a.ts",
          hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] }],
        },
      },
      {
        ...tool,
        id: "2",
        display: { kind: "terminal", command: "ls", output: "\u001b[31ma\u001b[0m", exitCode: 0 },
      },
      { ...tool, id: "3", display: { kind: "files", paths: ["a", "b`c"], truncated: true } },
      {
        ...tool,
        id: "4",
        display: {
          kind: "todo",
          items: [
            { text: "one", status: "completed" },
            { text: "two", status: "pending" },
          ],
        },
      },
      { ...tool, id: "5", display: { kind: "agent", name: "scout", text: "Found." } },
    ]);
    for (const part of [
      "```diff\n@@ -1,1 +1,1 @@\n-a\n+b\n```",
      "```console\n$ ls\na\n```\n\nExit code 0",
      "- `a`\n- ``b`c``\n- …",
      "- [x] one\n- [ ] two",
      "scout:\n\nFound.",
    ])
      expect(markdown).toContain(part);
  });

  test("lets nothing in a session break out of its place", () => {
    const markdown = pageOf([
      {
        kind: "text",
        id: "t",
        at: 1,
        requestId: "r",
        text: "<img src=x> ![a](b)\n```\nnever closed",
        live: false,
      },
      { kind: "notice", id: "n", at: 1, level: "warning", text: "line one\n```\nline two" },
      {
        kind: "tool",
        id: "c",
        at: 1,
        requestId: "r",
        callId: "c",
        tool: "a\n# b",
        input: "```",
        status: "done",
        display: { kind: "text", text: "````\n# out" },
        result: [],
        ms: 1,
        live: false,
      },
    ]);
    expect(markdown).toContain("&lt;img src=x> &#33;[a](b)\n```\nnever closed\n```");
    expect(markdown).toContain("> Warning: line one\n> ```\n> line two\n> ```");
    expect(markdown).toContain("### a # b: done, 1 ms");
    expect(markdown).toContain("`````\n````\n# out\n`````");
  });
});
