// Goals and recipes of the built command: real commands that fail and pass, a scripted model, exit codes.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

const write = (content: string) => reply(toolUse("Write", { file_path: "done.txt", content }));

describe("keel -p --until", () => {
  test("goes on until the command passes, and each try is on record", async () => {
    verifies("P24");
    const stage = await openStage({
      replies: [reply("Done already."), write("yes\n"), reply("Now it is done.")],
    });
    const ended = await stage.run([
      "-p",
      "Write done.txt",
      "--until",
      "grep -q yes done.txt passes",
      "--allowedTools",
      "Write",
    ]);
    expect(ended).toMatchObject({ code: 0, stdout: "Now it is done.\n" });
    expect(existsSync(path.join(stage.project, "done.txt"))).toBe(true);
    expect(JSON.stringify(stage.server.requests[1]?.body)).toContain(
      "The goal of this session does not hold yet",
    );
    const shown = await stage.run(["sessions", "show", stage.sessions()[0] ?? ""]);
    expect(shown.stdout).toContain("The goal does not hold yet: grep -q yes done.txt passes (try 1).");
    expect(shown.stdout).toContain("The goal holds: grep -q yes done.txt passes (try 2).");
  });

  test("ends with a code of its own where the goal is never reached, within a bound of tries", async () => {
    verifies("P24");
    const stage = await openStage({ replies: [], otherwise: reply("It is done, I say.") });
    const ended = await stage.run(["-p", "go", "--until", "false passes"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("The goal does not hold yet: false passes (try 20).");
    expect(stage.server.requests).toHaveLength(20);
  });

  test("a goal that is no command is a question to a model, which is on the bill", async () => {
    verifies("P24");
    const stage = await openStage({
      rules: [
        {
          when: { systemContains: "You check whether a goal is reached" },
          reply: reply("NO. There is no poem."),
          times: 1,
        },
        { when: { systemContains: "You check whether a goal is reached" }, reply: reply("YES. It rhymes.") },
      ],
      replies: [reply("Prose."), reply("A poem.")],
    });
    const ended = await stage.run(["-p", "Write a poem", "--until", "there is a poem"]);
    expect(ended).toMatchObject({ code: 0, stdout: "A poem.\n" });
    expect(stage.server.requests).toHaveLength(4);
  });
});

describe("keel run", () => {
  const recipe = `---
description: Writes a word into a file.
allow: [Write]
checks:
  - test -e done.txt
params:
  word:
    pattern: "[a-z]+"
---
Write {{word}} into done.txt.
`;

  test("fills the prompt, runs it with what the file says, and tries its checks", async () => {
    verifies("P43");
    const stage = await openStage({ replies: [write("hello\n"), reply("Written.")] });
    writeFileSync(path.join(stage.project, "word.md"), recipe);
    const ended = await stage.run(["run", "word.md", "--param", "word=hello"]);
    expect(ended).toMatchObject({ code: 0, stdout: "Written.\n" });
    expect(JSON.stringify(stage.server.requests[0]?.body)).toContain("Write hello into done.txt.");
  });

  test("says what would be run, and what is wrong, without a model", async () => {
    verifies("P43");
    const stage = await openStage({ replies: [] });
    writeFileSync(path.join(stage.project, "word.md"), recipe);
    const shown = await stage.run(["run", "word.md", "--param", "word=hello", "--show"]);
    expect(shown.stdout).toBe(
      "Write hello into done.txt.\n--allowed-tools Write\n--until (test -e done.txt) passes\n",
    );
    const wrong = await stage.run(["run", "word.md", "--param", "word=HELLO"]);
    expect(wrong).toMatchObject({ code: 64, stdout: "" });
    expect(wrong.stderr).toContain("word.md: The parameter word must look like [a-z]+.");
    expect(stage.server.requests).toEqual([]);
  });
});
