// `keel acp` itself as an agent of other people: a worker of the built server, seen in a real browser as one of ours.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();
const slow = replyWith({ chunkChars: 1, betweenMs: 20 }, "a".repeat(2_000));

test("an agent over the protocol holds a conversation, asks, is stopped, and its history outlives the server", async () => {
  verifies("P4", "S3.21");
  const change = [
    reply(toolUse("Read", { file_path: "a.txt" })),
    reply(toolUse("Edit", { file_path: "a.txt", old_string: "two", new_string: "2" })),
    reply("Changed it."),
  ];
  const said: Readonly<Record<string, readonly Reply[]>> = {
    // What was cut off before stands in the same message: the last words count.
    "Go on": [reply("After the restart.")],
    "Say hello": [reply("Hello from **elsewhere**.")],
    "Change it": change,
    "Write for long": [slow],
  };
  const stage = await openBrowserStage(browser(), (_, { lastUser, assistantTurns }) => {
    const [, replies = change] = Object.entries(said).find(([words]) => lastUser.includes(words)) ?? [];
    const used = replies === change ? assistantTurns - 1 : 0;
    return Array.from({ length: assistantTurns + 1 }, () => replies[used] ?? reply("What?"));
  });
  const file = path.join(stage.project, "a.txt");
  writeFileSync(file, "one\ntwo\nthree\n");
  const served = await stage.serve();
  const { page, workspace } = await startWork(stage, served, {
    workers: [{ kind: "agent", engine: "acp", command: ["keel"], prompt: "Say hello" }],
  });
  const conversation = page.getByRole("region", { name: "Conversation" });
  await conversation.getByRole("strong").getByText("elsewhere").waitFor();

  // Its question is ours: the change as a whole, and one yes is enough for exactly this change.
  await say(page, "Change it");
  const ask = page.getByRole("group", { name: /Edit/ });
  await ask.waitFor();
  await ask.getByText("two").first().waitFor();
  expect(readFileSync(file, "utf8")).toContain("two");
  await ask.getByRole("button", { name: /once/i }).first().click();
  await conversation.getByText("Changed it.").waitFor();
  expect(readFileSync(file, "utf8")).toBe("one\n2\nthree\n");
  expect(await page.getByRole("group", { name: /Write/ }).count()).toBe(0);

  await say(page, "Write for long");
  await conversation.getByText(/^a{20}/).waitFor();
  await page.getByRole("button", { name: "Interrupt" }).click();
  const client = await stage.client(served);
  const stands = async (): Promise<string | undefined> =>
    (await client.workspaces.list())[0]?.workers[0]?.activity;
  await until("its rest", async () => (await stands()) === "idle");

  const worker = workspace.workers[0]?.id ?? "";
  await served.kill();
  const again = await stage.serve();
  await conversation.getByText("Changed it.").waitFor();
  await (await stage.client(again)).workspaces.tellWorker({ worker, content: "Go on" });
  await conversation.getByText("After the restart.").waitFor();
  // It is the same conversation: the model hears what was said before.
  expect(JSON.stringify(stage.server.requests.at(-1)?.body["messages"])).toContain("Changed it.");
});
