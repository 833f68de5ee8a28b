import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { builtInTools } from "./catalog.ts";

let cwd = "";
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-session-")));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const at = (name: string): string => path.join(cwd, name);
describe("the tools in a session", () => {
  test("read, edit and run, and only reading inside goes unasked", async () => {
    verifies("S4.9", "S4.79");
    writeFileSync(at("a.txt"), "one\n");
    const { say, all } = await openTestSession({
      tools: builtInTools(),
      workspace: realWorkspace({ cwd }),
      clock: realClock,
      script: {
        replies: [
          reply(toolUse("Read", { file_path: "a.txt" }, "r")),
          reply(toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }, "e")),
          reply(toolUse("Bash", { command: "cat a.txt" }, "b")),
          reply("Done."),
        ],
      },
    });
    await say("go");
    expect(all("ask.opened").map(({ ask }) => ask.tool)).toEqual(["Edit", "Bash"]);
    expect(all("tool.finished").map(({ content }) => content[0])).toMatchObject([
      { text: "1\tone\n2\t" },
      { text: `Edited ${at("a.txt")} (+1 -1 lines).` },
      { text: "two" },
    ]);
    expect(all("tool.finished")[1]).toMatchObject({ linesAdded: 1, linesRemoved: 1 });
  });

  test("do not follow a link that appears while a person thinks about the question", async () => {
    verifies("G32");
    writeFileSync(at("a.txt"), "one\n");
    writeFileSync(at("precious.txt"), "one\n");
    const { say, all } = await openTestSession({
      tools: builtInTools(),
      workspace: realWorkspace({ cwd }),
      clock: realClock,
      script: {
        replies: [
          reply(toolUse("Read", { file_path: "a.txt" }), toolUse("Read", { file_path: "precious.txt" })),
          reply(toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }, "e")),
          reply("Done."),
        ],
      },
      answer: () => {
        unlinkSync(at("a.txt"));
        symlinkSync("precious.txt", at("a.txt"));
        return { verdict: "allow" };
      },
    });
    await say("go");
    expect(all("tool.finished").at(-1)).toMatchObject({
      failed: true,
      content: [{ text: expect.stringContaining("leads somewhere else since this call was allowed") }],
    });
    expect(readFileSync(at("precious.txt"), "utf8")).toBe("one\n");
  });

  test("show a long file whole where another tool's output would be cut", async () => {
    verifies("S4.5");
    const long = "some words on a line\n".repeat(1_900);
    writeFileSync(at("long.txt"), long);
    const { say, all } = await openTestSession({
      tools: builtInTools(),
      workspace: realWorkspace({ cwd }),
      clock: realClock,
      script: {
        replies: [
          reply(toolUse("Read", { file_path: "long.txt" }), toolUse("Bash", { command: "cat long.txt" })),
          reply("Done."),
        ],
      },
    });
    await say("go");
    const [read, bash] = all("tool.finished");
    expect(read).not.toHaveProperty("spilled");
    expect(bash).toMatchObject({ spilled: { bytes: long.length - 1 } });
  });

  test.each(["acceptEdits", "bypassPermissions"] as const)(
    "ask about a protected path in the mode %s too, and only about that",
    async (permissionMode) => {
      verifies("G33");
      symlinkSync(".", at("here"));
      const { say, all } = await openTestSession({
        tools: builtInTools(),
        workspace: realWorkspace({ cwd }),
        clock: realClock,
        settings: { permissionMode },
        script: {
          replies: [
            reply(toolUse("Write", { file_path: "plain.txt", content: "x" }, "plain")),
            reply(toolUse("Write", { file_path: ".git/hooks/pre-commit", content: "x" }, "hook")),
            reply(toolUse("Write", { file_path: "here/.Bashrc", content: "x" }, "start")),
            reply("Done."),
          ],
        },
        answer: () => ({ verdict: "deny" }),
      });
      await say("go");
      expect(all("ask.opened").map(({ ask }) => ask.callId)).toEqual(["hook", "start"]);
      expect(all("ask.opened")[0]?.ask.reason).toContain("is protected: git and its kind run");
      expect(readdirSync(cwd).sort()).toEqual(["here", "plain.txt"]);
    },
  );

  test("show a name with a line feed in one line of the question", async () => {
    verifies("G31");
    const { say, all } = await openTestSession({
      tools: builtInTools(),
      workspace: realWorkspace({ cwd }),
      clock: realClock,
      script: {
        replies: [
          reply(toolUse("Write", { file_path: "a\nread b\u202e.txt", content: "x" })),
          reply("Done."),
        ],
      },
    });
    await say("go");
    const body = all("ask.opened")[0]?.ask.body;
    expect(body?.kind === "diff" && body.path).toBe(`"${at("a\\nread b\\u202e.txt")}"`);
    expect(readdirSync(cwd)).toEqual(["a\nread b\u202e.txt"]);
  });
});
