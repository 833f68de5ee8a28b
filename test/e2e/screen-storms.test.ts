// The screen under what no hand would do: sizes that change all the time, megabytes that are pasted, a reply of tens of
// thousands of pieces, calls by the dozen, a stop in the middle. The law of the screen is checked by the stage.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { textOfParts } from "../../keel/src/view/shown.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { leave, openScreenStage, ready, say } from "../tui/stage.ts";

function chance() {
  const { random } = countingIds({ seed: seed() });
  return { between: (least: number, most: number) => least + Math.floor(random() * (most - least + 1)) };
}

const numbered = (count: number, more = ""): string =>
  Array.from({ length: count }, (_, line) => `LINE-${String(line).padStart(4, "0")}${more}`).join("\n");

const onceInOrder = (text: string, count: number): void => {
  const found = text.match(/LINE-\d{4}/g) ?? [];
  expect(found).toEqual(numbered(count).split("\n"));
};

describe("the screen", () => {
  test("keeps everything once over a storm of sizes", async () => {
    verifies("S4.71");
    const stage = await openScreenStage({
      replies: [replyWith({ betweenMs: 15, chunkChars: 12 }, numbered(60, " and more"))],
    });
    const screen = stage.open();
    await ready(screen);
    say(screen, "Write");
    const random = chance();
    for (let change = 0; change < 80; change++) {
      screen.resize(random.between(20, 200), random.between(16, 60));
      await pause(random.between(0, 40));
    }
    screen.resize(80, 24);
    await screen.until("the end", ({ text }) => text().includes("LINE-0059"));
    await ready(screen);
    await leave(screen);
    onceInOrder(screen.text(), 60);
  });

  test("writes a reply of 50,000 pieces, and few bytes more than it has", async () => {
    const words = numbered(5_000, " is one of very many lines, and it");
    const stage = await openScreenStage({
      replies: [replyWith({ chunkChars: Math.ceil(words.length / 50_000) }, words)],
    });
    const screen = stage.open();
    await ready(screen);
    const before = screen.written.join("").length;
    say(screen, "Write");
    await screen.until("the end", ({ lines }) =>
      lines()
        .slice(-30)
        .some(({ text }) => text.includes("LINE-4999")),
    );
    await ready(screen);
    expect(screen.written.join("").length - before).toBeLessThan(3 * words.length);
    await leave(screen);
    onceInOrder(screen.text(), 5_000);
  });

  test("shows very many calls at once, each of them once when it is done", { timeout: 600_000 }, async () => {
    const calls = countOf("screen-calls");
    const stage = await openScreenStage({
      replies: [
        reply(
          ...Array.from({ length: calls }, (_, call) =>
            toolUse("Bash", {
              command: `sleep 0.2; echo CALL-${String(call).padStart(3, "0")}`,
              description: `number ${call}`,
            }),
          ),
        ),
        reply("All are done."),
      ],
    });
    const screen = stage.open(["--permission-mode", "bypassPermissions"]);
    await ready(screen);
    say(screen, "Run them");
    // One after the other, so that each has its time however many they are.
    for (let call = 0; call < calls; call += 20)
      await screen.until(`call ${call}`, ({ text }) =>
        text().includes(`CALL-${String(call).padStart(3, "0")}`),
      );
    await screen.until("the end", ({ text }) => text().includes("All are done."));
    await ready(screen);
    await leave(screen);
    expect(screen.watch.tallest()).toBeLessThanOrEqual(12);
  });

  test("gives a megabyte that is pasted to the session as it is, however it is cut", async () => {
    verifies("P50");
    const random = chance();
    const kinds = ["plain words", "中文字符", "한국어", "👩‍🚀 and 🇩🇪", "e\u0301", "\ta tab", ""];
    let pasted = "";
    for (let line = 0; line < 20_000; line++)
      pasted += `${line} ${kinds[random.between(0, kinds.length - 1)]} ${"x".repeat(random.between(0, 70))}\n`;
    const stage = await openScreenStage({ replies: [reply("Read.")] });
    const screen = stage.open();
    await ready(screen);
    const bytes = Buffer.from(`\u001b[200~${pasted}\u001b[201~`, "utf8");
    const cuts = Array.from({ length: countOf("screen-pastes") }, () => random.between(1, bytes.length - 1));
    let from = 0;
    for (const to of [...cuts.sort((left, right) => left - right), bytes.length]) {
      screen.send(bytes.subarray(from, to));
      from = to;
    }
    await screen.until("the paste", ({ rows }) => rows().some((row) => row.includes("[Pasted text")));
    screen.type("\r");
    await screen.until("the reply", ({ text }) => text().includes("Read."));
    await ready(screen);
    await leave(screen);
    const [input] = (await stage.log()).filter((event) => event.type === "input.accepted");
    const got = input?.type === "input.accepted" ? textOfParts(input.input.content) : "";
    expect(got.length).toBe(pasted.trimEnd().length + (got.endsWith("\n") ? 1 : 0));
    expect(got.trimEnd() === pasted.trimEnd()).toBe(true);
  });
});
