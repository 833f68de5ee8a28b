import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { nodeFormatter } from "../workspace/diagnostics/formatter.ts";
import { builtInTools } from "./catalog.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), "keel-format-"));
  // A real program that forms a file: capital letters, and no blank at the end of a line.
  writeFileSync(
    path.join(cwd, "form.sh"),
    '#!/bin/sh\ntr a-z A-Z < "$1" | sed "s/ *$//" > "$1.new" && mv "$1.new" "$1"\n',
  );
  chmodSync(path.join(cwd, "form.sh"), 0o755);
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function workspace(command: string, timeoutMs?: number) {
  const real = realWorkspace({ cwd });
  const entries = [{ files: ["*.up"], command, timeoutMs }];
  return { ...real, formatter: nodeFormatter({ entries, root: cwd, userHome: "/", shell: real.shell }) };
}

const file = () => path.join(cwd, "it's a.up");

async function play(command: string, more: readonly ReturnType<typeof reply>[] = [], timeoutMs?: number) {
  writeFileSync(file(), "ONE\nTWO\n");
  const opened = await openTestSession({
    clock: realClock,
    tools: builtInTools(),
    workspace: workspace(command, timeoutMs),
    script: {
      replies: [
        reply(toolUse("Read", { file_path: file() })),
        reply(toolUse("Edit", { file_path: file(), old_string: "TWO", new_string: "two  \nthree" })),
        ...more,
        reply("Done."),
      ],
    },
  });
  await opened.say("go");
  return opened.all("tool.finished");
}

test("a change is formed, the diff holds what it became, and the model is told what the formatter changed", async () => {
  verifies("P48");
  const [, edited] = await play(`${path.join(cwd, "form.sh")} {file}`);
  expect(readFileSync(file(), "utf8")).toBe("ONE\nTWO\nTHREE\n");
  expect(edited?.failed).toBe(false);
  const words = edited?.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  expect(words).toMatch(/form\.sh \{file\}` then changed:\n@@ .*\n ONE\n-two {2}\n-three\n\+TWO\n\+THREE/);
  expect(edited?.display).toMatchObject({ kind: "diff", hunks: [{ lines: [" ONE", " TWO", "+THREE"] }] });
});

test("the next edit builds on the formed file: it need not be read again", async () => {
  const next = reply(toolUse("Edit", { file_path: file(), old_string: "THREE", new_string: "four" }));
  const finished = await play(`${path.join(cwd, "form.sh")} {file}`, [next]);
  expect(finished.map(({ failed }) => failed)).toEqual([false, false, false]);
  expect(readFileSync(file(), "utf8")).toBe("ONE\nTWO\nFOUR\n");
});

test.each([
  ["a formatter that fails", "echo 'no such rule' >&2; false", /Not formatted: .*no such rule/],
  ["a formatter that takes too long", "sleep 20", /Not formatted: .*too long/],
])("%s is told, and the change stays", async (_, command, told) => {
  const [, edited] = await play(command, [], 300);
  expect(edited?.failed).toBe(false);
  expect(JSON.stringify(edited?.content)).toMatch(told);
  expect(readFileSync(file(), "utf8")).toBe("ONE\ntwo  \nthree\n");
});

test("a file that no formatter is for, and one that is in form already, say nothing more", async () => {
  const write = (name: string, content: string) =>
    reply(toolUse("Write", { file_path: path.join(cwd, name), content }));
  const opened = await openTestSession({
    clock: realClock,
    tools: builtInTools(),
    workspace: workspace(`${path.join(cwd, "form.sh")} {file}`),
    script: { replies: [write("b.txt", "low"), write("c.up", "HIGH\n"), reply("Done.")] },
  });
  await opened.say("go");
  expect(opened.all("tool.finished").map(({ content }) => content.length)).toEqual([1, 1]);
  expect(readFileSync(path.join(cwd, "b.txt"), "utf8")).toBe("low");
});
