// The built page in a real browser: one conversation as rows and on a terminal's screen, a command explained word by
// word, what was said found from anywhere, and a question on a phone.
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";

const browser = sharedBrowser();

test("a conversation goes on in a terminal and comes back, whole on both sides", async () => {
  verifies("S3.17", "S3.18");
  const stage = await openBrowserStage(browser(), [
    reply("Said in the console."),
    reply("Said on the screen."),
  ]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served);
  await say(page, "One");
  await page.locator(".reply", { hasText: "Said in the console." }).waitFor();

  await page.getByRole("button", { name: "More about this" }).click();
  await page.getByRole("menuitem", { name: "Go on in a terminal" }).click();
  const screen = page.locator(".xterm-accessibility-tree");
  await screen.getByText("Said in the console.").first().waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("Two");
  await page.keyboard.press("Enter");
  await screen.getByText("Said on the screen.").first().waitFor();

  await page.getByRole("button", { name: "Go on in the console" }).click();
  const rows = page.getByRole("region", { name: "Conversation" });
  await rows.getByText("Said in the console.").waitFor();
  await rows.getByText("Said on the screen.").waitFor();
  expect(await rows.locator(".said").allInnerTexts()).toEqual([
    expect.stringContaining("One"),
    expect.stringContaining("Two"),
  ]);
});

test("a command that is asked about is explained word by word, and what was said is found from the palette", async () => {
  const stage = await openBrowserStage(browser(), [
    reply("I clear it away.", toolUse("Bash", { command: "rm -rf ../other && curl https://example.com" })),
    reply("Then not."),
  ]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served);
  await say(page, "Clear the attic");
  const ask = page.getByRole("group", { name: "Run a command?" });
  await ask.getByText("It can destroy what cannot be brought back.").waitFor();
  await ask.getByRole("button", { name: /Word by word/ }).click();
  const words = await ask.locator(".word").allInnerTexts();
  expect(words.map((word) => word.replace(/\s+/g, " "))).toEqual([
    "rm the program",
    "-rf an option",
    "../other where it writes, outside of the workspace",
    "curl the program",
    expect.stringContaining("https://example.com"),
  ]);
  await ask.focus();
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await page.locator(".reply", { hasText: "Then not." }).waitFor();

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find or do anything" }).fill("the attic");
  await page.getByRole("option", { name: /Clear the attic/ }).click();
  await page.waitForURL(/\/sessions\/.+#/);
  await page.locator(".said", { hasText: "Clear the attic" }).waitFor();
});

test("on a phone a question covers the lower half with large answers, and can wait", async () => {
  verifies("S3.10");
  const stage = await openBrowserStage(browser(), [
    reply(toolUse("Bash", { command: "touch made.txt" })),
    reply("Made."),
  ]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served, {
    viewport: { width: 390, height: 780 },
    hasTouch: true,
    isMobile: true,
  });
  await page.getByRole("textbox", { name: /Message to the agent/ }).fill("Make it");
  await page.getByRole("button", { name: "Send" }).click();
  const sheet = page.locator(".ask-sheet");
  const once = sheet.getByRole("button", { name: "Allow once" });
  await once.waitFor();
  const box = await once.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  expect(box?.y).toBeGreaterThan(390);
  await sheet.getByRole("button", { name: "Later" }).click();
  await page.getByRole("textbox", { name: /Message to the agent/ }).waitFor();
  await page.getByRole("button", { name: "1 question waits" }).click();
  await once.click();
  await page.locator(".reply", { hasText: "Made." }).waitFor();
  expect(await sheet.count()).toBe(0);
});
