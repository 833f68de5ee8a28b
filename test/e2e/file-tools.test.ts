// The file tools of the built command: the search program and the reader of PDF files are found from the bundle.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { pdfOf } from "../support/pdf.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

test("search, read a PDF and write, and ask about a protected path although edits are accepted", async () => {
  verifies("S4.9", "S4.83", "G33");
  const stage = await openStage(
    byPosition([
      reply(
        toolUse("Glob", { pattern: "**/*.pdf" }, "glob"),
        toolUse("Grep", { pattern: "needle", output_mode: "content" }, "grep"),
        toolUse("Read", { file_path: "docs/paper.pdf" }, "read"),
      ),
      reply(
        toolUse("Write", { file_path: "made.txt", content: "x\n" }, "write"),
        toolUse("Write", { file_path: ".git/hooks/pre-commit", content: "x\n" }, "hook"),
      ),
      reply("done"),
    ]),
  );
  mkdirSync(path.join(stage.project, "docs"));
  writeFileSync(path.join(stage.project, "docs/paper.pdf"), pdfOf(["Words on paper"]));
  writeFileSync(path.join(stage.project, "a.ts"), "const needle = 1;\n");
  const ended = await stage.run(["-p", "go", "--permission-mode", "acceptEdits"]);
  expect(ended.code).toBe(0);
  const results = Object.fromEntries(
    stage
      .log()
      .filter(({ type }) => type === "tool.finished")
      .map((finished) => [String(finished["callId"]), JSON.stringify(finished["content"])]),
  );
  expect(results["glob"]).toContain("docs/paper.pdf");
  expect(results["grep"]).toContain("a.ts:1:const needle = 1;");
  expect(results["read"]).toContain("Words on paper");
  expect(existsSync(path.join(stage.project, "made.txt"))).toBe(true);
  expect(existsSync(path.join(stage.project, ".git"))).toBe(false);
  expect(results["hook"]).toContain("nobody to ask");
});

test("doctor names the search program that comes with Keel", async () => {
  const stage = await openStage({ replies: [] });
  const found = await stage.run(["doctor"], { env: { PATH: "/nowhere:/usr/bin:/bin" } });
  expect(found.stdout).toMatch(/search +\S*ripgrep\S*\/bin\/rg \(comes with Keel\)/);
});
