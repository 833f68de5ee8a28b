// The console's view of work that goes on by itself, in a real browser: a team with a member that asks, a goal with its
// tries, and what is due by the clock.
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";

const browser = sharedBrowser();

const member = (name: string, prompt: string) =>
  toolUse("Agent", { description: name, prompt, subagent_type: "general-purpose", name });
const leader = [
  reply(toolUse("TeamCreate", { team_name: "crew", description: "Mends the shop." })),
  reply(
    toolUse("TaskCreate", { subject: "Write it", description: "Write it." }),
    toolUse("TaskCreate", { subject: "Test it", description: "Test it." }),
  ),
  reply(toolUse("TaskUpdate", { taskId: "2", addBlockedBy: ["1"] })),
  reply(member("ann", "Write it."), member("ben", "Test it.")),
  reply(
    toolUse("TaskUpdate", { taskId: "1", owner: "ann" }),
    toolUse("TaskUpdate", { taskId: "2", owner: "ben" }),
  ),
  reply("The team is at work."),
];
const members = {
  ann: [reply(toolUse("Bash", { command: "make shop" })), reply("It is written.")],
  ben: [
    reply(toolUse("SendMessage", { to: "ann", message: "When can I have it?" })),
    reply("I wait until it is there."),
  ],
};

test("a team stands beside the conversation: who asks, who waits for whom, and what was said", async () => {
  verifies("S2.34", "S4.72");
  const stage = await openBrowserStage(browser(), (_project, _asked, request) => {
    const [, who] = /You are (ann|ben), a member/.exec(JSON.stringify(request)) ?? [];
    return [
      ...(who === "ann" || who === "ben" ? members[who] : leader),
      ...Array.from({ length: 9 }, () => reply("Heard.")),
    ];
  });
  const { page, notes } = await startWork(stage, await stage.serve());
  await say(page, "Mend the shop");
  const part = page.locator(".part-team");
  await part.getByText("Team crew").waitFor();
  const ann = part.getByRole("button", { name: /^asks ann/ });
  await ann.waitFor();
  expect(await ann.innerText()).toMatch(/ann\s+asks · has #1\s+waits for you/);
  const ben = part.getByRole("button", { name: /^rests ben/ });
  await ben.waitFor();
  expect(await ben.innerText()).toMatch(/ben\s+rests · has #2\s+waits for ann/);
  await ben.click();
  await part.getByText("waits for ann: #1 Write it").waitFor();
  await part.getByText("ben to ann").waitFor();
  await part.getByText("When can I have it?").waitFor();
  expect(notes.errors).toEqual([]);
});

test("a goal is seen with its tries, the newest first", async () => {
  verifies("P24");
  const stage = await openBrowserStage(browser(), [
    reply("I have begun."),
    reply(toolUse("Write", { file_path: "there", content: "yes" })),
    reply("Now it is there."),
  ]);
  const { page, notes } = await startWork(stage, await stage.serve());
  await say(page, "/mode acceptEdits");
  await say(page, "/goal test -f there passes");
  await say(page, "Make it");
  const part = page.locator(".part-goal");
  await part.getByText("Try 2").waitFor();
  expect(await part.getByRole("heading").innerText()).toMatch(/Goal\s+holds/);
  const tries = await part.getByRole("listitem").allInnerTexts();
  expect(tries.map((text) => /Try \d/.exec(text)?.[0])).toEqual(["Try 2", "Try 1"]);
  expect(notes.errors).toEqual([]);
});

test("schedules are seen with their next times, paused, started now and removed on the page", async () => {
  verifies("S2.55");
  const stage = await openBrowserStage(
    browser(),
    Array.from({ length: 9 }, () => reply("Nothing is new.")),
  );
  const at = ["--cron", "0 9 * * *", "--zone", "Europe/Berlin"];
  await stage.run(["schedule", "add", ...at, "--name", "news", "Say what is new"]);
  await stage.run(["schedule", "add", "--every", "1h", "--name", "hourly", "Look again"]);
  const served = await stage.serve();
  const { page, notes } = await stage.visit(served);
  await page.getByRole("link", { name: "Schedules" }).click();
  const list = page.locator(".schedule-list > li");
  await list
    .filter({ hasText: "hourly" })
    .getByText(/^in (?:60 min|1 h)$/)
    .waitFor();
  const news = list.filter({ hasText: "news" });
  await news.getByRole("link").click();
  expect(await news.locator(".dues li").count()).toBe(3);
  await news.getByRole("button", { name: "Start now" }).click();
  await news.getByText("done", { exact: true }).waitFor();
  await news.getByRole("button", { name: "Pause" }).click();
  await news.getByText("paused").waitFor();
  const client = await stage.client(served);
  const { schedules } = await client.schedules.list();
  expect(schedules.map(({ schedule, next, runs }) => [schedule.id, next.length, runs.length])).toEqual([
    ["hourly", 3, 0],
    ["news", 0, 1],
  ]);
  await news.getByRole("button", { name: "Go on" }).click();
  await news
    .getByText(/^in \d+ (?:h|min)$/)
    .first()
    .waitFor();
  await news.getByRole("button", { name: "Remove …" }).click();
  await page.getByRole("button", { name: "Remove it" }).click();
  await expect.poll(() => list.count()).toBe(1);
  await expect(client.schedules.remove("news")).rejects.toMatchObject({ code: "usage" });
  expect(notes.errors).toEqual([]);
});
