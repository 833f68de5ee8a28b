// The whole way through the page by keys alone: whoever cannot point gets everywhere, the focus is never lost, and what
// is announced comes one at a time.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();

/** What has the focus, as somebody who cannot see is told it; empty where nothing has. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const now = document.activeElement;
    if (!now || now === document.body) return "";
    return now.getAttribute("aria-label") ?? now.labels?.[0]?.textContent ?? (now.textContent || now.id || now.className);
  })()`);

const hasFocus = (page: Page, what: RegExp): Promise<void> =>
  until(`${what} has the focus`, async () => what.test(await focused(page)));

/** From one to the next, until it is there. */
async function keyTo(page: Page, key: string, what: RegExp): Promise<void> {
  for (let steps = 0; steps < 150; steps++) {
    if (what.test(await focused(page))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${what} is not reached by ${key}; at the end: ${await focused(page)}`);
}

/** Notes when something else is announced. */
const watchAnnouncements = `
  window.announced = [];
  const region = document.querySelector("[aria-live]");
  new MutationObserver(() => window.announced.push([performance.now(), region.textContent]))
    .observe(region, { childList: true, characterData: true, subtree: true });
`;

test("start, question, answer, comment on a diff and stop are reached by keys, the focus stays, and one thing is announced at a time", async () => {
  verifies("P51", "S4.72", "S3.14");
  const stage = await openBrowserStage(browser(), [
    reply("I write it down.", toolUse("Bash", { command: "echo done > note.txt" })),
    reply("It is **written**."),
    reply("I look at it.", toolUse("Bash", { command: "sleep 30" })),
  ]);
  execFileSync("git", ["init", "-q"], { cwd: stage.project });
  const served = await stage.serve();
  const { page, notes } = await stage.visit(served, { reducedMotion: "reduce", serviceWorkers: "block" });
  // As over a slow line: the field is there some time after the rest.
  await page.route(/\/composer-/, async (route) => {
    await pause(1_200);
    await route.continue();
  });
  await page.getByRole("heading", { name: "Nothing is at work yet" }).waitFor();
  // What let it in stands in no address that anybody could see or keep.
  expect(new URL(page.url()).search).toBe("");
  expect(await page.locator("[aria-live], [role=status], [role=log]").count()).toBe(1);
  await page.evaluate(watchAnnouncements);

  await page.keyboard.press("Control+k");
  await hasFocus(page, /Find or do anything/);
  await page.keyboard.type("New workspace");
  await page.keyboard.press("Enter");
  await hasFocus(page, /^Folder/);
  await page.keyboard.type(stage.project);
  await page.keyboard.press("Enter");
  // What is there to be written has the focus by itself.
  await hasFocus(page, /^Message to the agent/);
  await page.keyboard.type("Write it down");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "Run a command?" }).waitFor();
  await page.keyboard.press("Control+j");
  await page.keyboard.press("Enter");
  await page.locator("strong", { hasText: "written" }).waitFor();
  // The question is gone, and whoever was in it is not lost.
  await hasFocus(page, /^Message to the agent/);
  expect(existsSync(path.join(stage.project, "note.txt"))).toBe(true);

  await keyTo(page, "Shift+Tab", /^Add a worker$/);
  await page.keyboard.press("Enter");
  await hasFocus(page, /^Agent$/);
  await keyTo(page, "ArrowDown", /^Diff$/);
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Changed files" }).getByText("note.txt").waitFor();
  await until("something has the focus", async () => (await focused(page)) !== "");
  await keyTo(page, "Tab", /^Comment on line 1$/);
  await page.keyboard.press("Enter");
  await hasFocus(page, /^What about this line/);
  await page.keyboard.type("Say more.");
  await page.keyboard.press("Enter");
  await hasFocus(page, /^Comment on line 1$/);
  await keyTo(page, "Tab", /^Send to the agent$/);
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Conversation" }).getByText("I look at it.").waitFor();
  await hasFocus(page, /^Message to the agent/);
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".turn-end", { hasText: "Interrupted" }).waitFor();
  await hasFocus(page, /^Message to the agent/);

  expect(await page.evaluate<number>("document.getAnimations().length")).toBe(0);
  const announced = await page.evaluate<[number, string][]>("window.announced");
  expect(announced.length).toBeGreaterThan(1);
  const gaps = announced.slice(1).map(([at], index) => at - (announced[index]?.[0] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(1_900);
  expect(notes.refused).toEqual([]);
  expect(notes.errors).toEqual([]);
});
