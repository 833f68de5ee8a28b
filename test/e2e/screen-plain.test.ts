// Plain lines, for who listens: everything in words, once and in order, and no byte that moves anything.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openScreenStage } from "../tui/stage.ts";

const script = {
  replies: [
    reply("I look **first**.", toolUse("Bash", { command: "touch made && echo made it" })),
    reply("It is done.\n\n- one\n- two"),
  ],
};

describe.each([
  ["TERM=dumb", { TERM: "dumb" }, "plain-dumb"],
  ["a setting for screen readers", { KEEL_PLAIN: "1" }, "plain-reader"],
  ["NO_COLOR in a C locale", { KEEL_PLAIN: "1", NO_COLOR: "1", LC_ALL: "C" }, "plain-ascii"],
])("with %s", (_, env, name) => {
  test("a conversation with a question is plain lines", async () => {
    verifies("S4.71", "P51");
    const stage = await openScreenStage(script);
    const screen = stage.open([], { env, columns: 40, unlogged: "plain lines" });
    await screen.until("the start", ({ text }) => text().includes("/exit ends"));
    screen.type("Please\n");
    await screen.until("the question", ({ text }) => text().includes("Type a number."));
    screen.type("1\n");
    await screen.until("the end", ({ text }) => text().includes("Ready."));
    screen.type("/exit\n");
    expect((await screen.ended).code).toBe(0);
    await screen.settled(50);
    const bytes = screen.written.join("");
    expect(bytes).not.toContain("\u001b");
    const seen = screen.lines().map(({ text }) => text);
    const order = [
      "Please",
      "Working.",
      "I look first.",
      "Question: Run a command?",
      "touch made && echo made it",
      "1. Allow once",
      "> Bash",
      "made it",
      "It is done.",
      "- one",
      "- two",
      "Ready.",
    ];
    let at = 0;
    for (const words of order) {
      const found = seen.findIndex((line, index) => index >= at && line.includes(words));
      expect(found, `${words} in\n${seen.join("\n")}`).toBeGreaterThanOrEqual(at);
      at = found;
    }
    // What a screen reader reads out: everything, as it stands.
    const golden = path.resolve(import.meta.dirname, `../golden/screens/${name}.txt`);
    const said = seen.map((line) =>
      line.replaceAll(stage.project, "PROJECT").replaceAll(stage.folder, "HOME"),
    );
    const steady = `${said
      .join("\n")
      .replace(/^Keel \S+/m, "Keel VERSION")
      .replace(/\d+(?:\.\d+)? (?:ms|s)\b/g, "TIME")
      .replace(/--resume \S+/, "--resume ID")}\n`;
    if (process.env["KEEL_WRITE_GOLDEN"] === "1") writeFileSync(golden, steady);
    else expect(steady).toBe(readFileSync(golden, "utf8"));
    expect(seen.filter((line) => line.includes("It is done."))).toHaveLength(1);
    expect(seen.filter((line) => line.includes("I look first."))).toHaveLength(1);
  });
});
