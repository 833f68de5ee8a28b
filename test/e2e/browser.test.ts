// The page in a real browser, against the real server and the scripted model.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { keptEvents, openBrowserStage, say, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();

describe("the page", () => {
  test("comes back from the browser's own store while the server is down, and goes on when it is back", async () => {
    verifies("S3.13", "S3.7");
    const stage = await openBrowserStage(browser(), [reply("First words."), reply("Second words.")]);
    await writeFile(path.join(stage.project, "a.txt"), "a\n");
    const served = await stage.serve();
    const { page } = await startWork(stage, served);
    await say(page, "One");
    const rows = page.getByRole("region", { name: "Conversation" });
    await rows.getByText("First words.").waitFor();
    await page.evaluate("navigator.serviceWorker.ready");
    await until("it is kept", async () => (await keptEvents(page)) >= stage.log().length);
    await served.kill();
    await page.getByText("The connection is lost").first().waitFor();
    await page.getByRole("textbox", { name: /Message to the agent/ }).fill("half a sentence");
    await page.reload();
    await rows.getByText("First words.").waitFor();
    await page.getByText("The connection is lost").first().waitFor();

    const again = await stage.serve();
    await page.locator(".link-bar").waitFor({ state: "detached" });
    expect(await page.getByRole("textbox", { name: /Message to the agent/ }).inputValue()).toBe(
      "half a sentence",
    );
    await say(page, "Two");
    await rows.getByText("Second words.").waitFor();
    expect(await rows.getByText("First words.").count()).toBe(1);
    expect(again.url).toBe(served.url);
  });

  test("shows what is under way to two browsers; an answer in one closes the question in the other and names who", async () => {
    verifies("S3.20", "S3.16", "S3.5");
    const stage = await openBrowserStage(browser(), [
      reply(toolUse("Bash", { command: "echo both > both.txt" })),
      reply("Both saw it."),
    ]);
    const served = await stage.serve();
    const first = await startWork(stage, served);
    // A link is good once: the second browser has one of its own.
    const second = await stage.visit({ ...served, link: await stage.newLink(served) });
    await second.page.goto(first.page.url());
    await say(first.page, "Show both");
    const ask = (page: typeof first.page) => page.getByRole("group", { name: "Run a command?" });
    await Promise.all([ask(first.page).waitFor(), ask(second.page).waitFor()]);
    expect(await second.page.title()).toMatch(/^\(1\)/);
    await ask(second.page).getByRole("button", { name: "Allow once" }).click();
    const from = performance.now();
    const row = (page: typeof first.page) => page.locator(".answered");
    await row(first.page).waitFor();
    note("counts", `an answer is seen in another browser after ${Math.round(performance.now() - from)} ms`);
    expect(await row(first.page).innerText()).toMatch(/Allow once · at .+/);
    await first.page.locator(".reply", { hasText: "Both saw it." }).waitFor();
    await second.page.locator(".reply", { hasText: "Both saw it." }).waitFor();
  });

  test("queues and steers, edits what waits, and interrupts", async () => {
    verifies("S3.6", "S3.9");
    const stage = await openBrowserStage(browser(), [
      reply("Slow.", toolUse("Bash", { command: "sleep 30" })),
      reply("After."),
    ]);
    const served = await stage.serve();
    const { page } = await startWork(stage, served);
    await say(page, "Take your time");
    await page.getByRole("button", { name: "Interrupt" }).waitFor();
    await page.getByRole("radio", { name: "Queue" }).check();
    await say(page, "Then this");
    const waiting = page.locator(".said.is-waiting");
    await waiting.waitFor();
    await waiting.getByRole("button", { name: "Edit" }).click();
    await waiting.waitFor({ state: "detached" });
    const field = page.getByRole("textbox", { name: /Message to the agent/ });
    expect(await field.inputValue()).toBe("Then this");
    await field.fill("");
    await field.press("Escape");
    await page.locator(".turn-end", { hasText: "Interrupted" }).waitFor();
  });

  test("answers questions by one choice, by several, and in own words", async () => {
    verifies("S3.10");
    const stage = await openBrowserStage(browser(), [
      reply(
        toolUse("AskUserQuestion", {
          questions: [
            {
              question: "Which colour?",
              header: "Colour",
              multiSelect: false,
              options: [
                { label: "Red", description: "Warm" },
                { label: "Blue", description: "Cool" },
              ],
            },
            {
              question: "What to bring?",
              header: "Bring",
              multiSelect: true,
              options: [
                { label: "Bread", description: "Fresh" },
                { label: "Salt", description: "Fine" },
              ],
            },
          ],
        }),
      ),
      reply("So it is."),
    ]);
    const served = await stage.serve();
    const { page } = await startWork(stage, served);
    await say(page, "Ask me");
    const answer = page.getByRole("button", { name: "Answer", exact: true });
    await page.getByRole("radio", { name: /Blue/ }).check();
    expect(await answer.isDisabled()).toBe(true);
    const bring = page.getByRole("group", { name: "What to bring?" });
    await bring.getByRole("checkbox", { name: /Salt/ }).check();
    await bring.getByRole("textbox").fill("A pot of tea");
    await answer.click();
    await page.locator(".reply", { hasText: "So it is." }).waitFor();
    const last = JSON.stringify(stage.server.requests.at(-1)?.body);
    expect(last).toContain("Blue");
    expect(last).toContain("Salt");
    expect(last).toContain("A pot of tea");
  });

  test("puts files back as they were before a message, after a preview, and takes that back", async () => {
    const stage = await openBrowserStage(browser(), (project) => [
      reply(toolUse("Write", { file_path: `${project}/new.txt`, content: "new\n" })),
      reply("Written."),
    ]);
    const served = await stage.serve();
    const { page } = await startWork(stage, served);
    await say(page, "Write it");
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".reply", { hasText: "Written." }).waitFor();
    const file = path.join(stage.project, "new.txt");
    expect(existsSync(file)).toBe(true);
    await page.getByRole("button", { name: /Rewind files/ }).click();
    await page.getByRole("radio", { name: /Write it/ }).check();
    await page.getByRole("button", { name: "Put them back" }).click();
    await page.getByText("1 file was put back.").waitFor();
    expect(existsSync(file)).toBe(false);
    await page.getByRole("button", { name: "Undo it" }).click();
    await until("it is there again", () => existsSync(file));
  });

  test("sends a browser away that is not let in, pairs it by a code, and cuts it off when it is removed", async () => {
    verifies("P26");
    const stage = await openBrowserStage(browser(), []);
    const served = await stage.serve();
    const { page } = await stage.visit(served);
    const stranger = await stage.stranger();
    await stranger.page.goto(served.url);
    await stranger.page.getByRole("heading", { name: "Who are you?" }).waitFor();

    await page.goto(`${served.url}/settings/devices`);
    await page.getByRole("button", { name: "Show a code" }).click();
    const code = await page.locator(".pairing-code").innerText();
    await stranger.page.goto(`${served.url}/pair#${code.replace("-", "")}`);
    await stranger.page.getByRole("button", { name: "Pair", exact: true }).click();
    const [mine, theirs] = await Promise.all(
      [page, stranger.page].map(async (one) => {
        await one.locator(".pairing-code", { hasText: /^\d{3} \d{3}$/ }).waitFor();
        return one.locator(".pairing-code").innerText();
      }),
    );
    expect(theirs).toBe(mine);
    await page.getByRole("button", { name: /let it in/ }).click();
    await stranger.page.getByRole("heading", { name: "All work" }).waitFor();
    // It may answer questions, and is offered nothing else.
    await stranger.page.getByRole("main").getByText("No workspace yet.").waitFor();
    expect(await stranger.page.getByRole("button", { name: "New workspace" }).count()).toBe(0);

    const paired = page.locator(".rules li", { hasText: "may answer questions" });
    await paired.getByRole("button", { name: "Remove" }).click();
    await stranger.page.getByRole("heading", { name: "Who are you?" }).waitFor();
  });
});
