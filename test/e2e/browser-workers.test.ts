// Workers that are no conversation, in a real browser: a shell whose screen outlives the page, a program beside an agent,
// a diff that follows the files, and one whose engine nobody knows.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { engineOf } from "../../keel/src/app/workspaces/engines.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();

/** The cells of the terminal with their looks; where the cursor blinks is no matter. */
const cells = (page: Page): Promise<string[]> =>
  page
    .locator(".xterm-rows > div")
    .evaluateAll((lines) => lines.map((line) => line.innerHTML.replace(/ ?xterm-cursor[\w-]*/g, "")));

/** Makes the folder a repository with these files in its first commit. */
function repository(folder: string, files: Readonly<Record<string, string>>): void {
  const git = (...words: string[]): void =>
    void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@a", ...words], { cwd: folder });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
}

test("a shell goes on while the page is away, and its screen comes back cell by cell", async () => {
  verifies("S3.3", "S3.20");
  const stage = await openBrowserStage(browser(), []);
  const served = await stage.serve();
  const { page } = await startWork(stage, served, { workers: [{ kind: "terminal", command: ["sh"] }] });
  const second = await stage.visit({ ...served, link: await stage.newLink(served) });
  await second.page.goto(page.url());
  await page.getByRole("textbox").waitFor();
  await page.getByRole("textbox").focus();
  await page.keyboard.type(
    "printf '\\033[2J\\033[H\\033[31mred\\033[0m \\346\\227\\245\\346\\234\\254 \\033[7mback\\033[0m\\033[5;20Hfar away\\n'",
  );
  await page.keyboard.press("Enter");
  const both = (text: string): Promise<unknown> =>
    Promise.all([page, second.page].map((one) => one.getByText(text, { exact: false }).first().waitFor()));
  await both("far away");
  await page.keyboard.type("sleep 1; echo while you were away");
  await page.keyboard.press("Enter");
  await page.reload();
  await both("while you were away");
  await until("both show the same cells", async () => {
    const [mine, theirs] = await Promise.all([cells(page), cells(second.page)]);
    return mine.length > 10 && JSON.stringify(mine) === JSON.stringify(theirs);
  });
  expect((await cells(page)).join("\n")).toContain("日本");
});

test("a program in a terminal and an agent live side by side, and the page tells them apart", async () => {
  verifies("S3.2", "S3.15", "S3.21");
  const stage = await openBrowserStage(browser(), [reply("Said by the agent.")]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served, {
    workers: [
      { kind: "agent", name: "Writer", prompt: "Say it" },
      {
        kind: "agent",
        engine: "pty",
        name: "Program",
        command: ["sh", "-c", "echo said by the program; cat"],
      },
    ],
  });
  await page.getByRole("region", { name: "Conversation" }).getByText("Said by the agent.").waitFor();
  const tabs = page.getByRole("navigation", { name: "Workers" });
  await tabs.getByRole("link", { name: "Program" }).click();
  await page.getByText("said by the program").first().waitFor();
  await page.getByRole("textbox").focus();
  await page.keyboard.type("hello program");
  await page.keyboard.press("Enter");
  await until("it echoes", async () => (await cells(page)).join("\n").split("hello program").length > 2);
  await tabs.getByRole("link", { name: "Writer" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Said by the agent.").waitFor();
});

test("a diff follows the files, and comments on lines and ranges reach the agent as one input", async () => {
  verifies("S3.4");
  const stage = await openBrowserStage(browser(), [reply("I will see to it.")]);
  const file = path.join(stage.project, "code.txt");
  const lines = ["one", "two", "three", "four", "five", "six", "seven"];
  const write = (...texts: readonly string[]): void => writeFileSync(file, `${texts.join("\n")}\n`);
  repository(stage.project, { "code.txt": `${lines.join("\n")}\n` });
  const served = await stage.serve();
  const { page } = await startWork(stage, served, { workers: [{ kind: "diff" }, { kind: "agent" }] });
  await page.getByText("Nothing is changed.").waitFor();
  const loud = lines.map((text) => text.toUpperCase());
  write(...loud);
  const from = performance.now();
  const hunks = page.getByRole("region", { name: "Changes" });
  await hunks.getByText("+TWO").waitFor();
  note("counts", `a diff in the browser follows an edit after ${Math.round(performance.now() - from)} ms`);
  await page.getByRole("region", { name: "Changed files" }).getByText("code.txt").waitFor();
  const plus = (line: number) =>
    hunks.getByRole("button", { name: `Comment on line ${line}`, exact: true }).last();

  // By keys alone: the field has the focus as soon as it is there, and says where the range begins.
  await plus(3).press("Enter");
  await page.getByRole("textbox", { name: "What about this line?" }).waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.type("2");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "What about these lines?" }).waitFor();
  await page.keyboard.type("Why so loud?");
  // Another edit, above what is written about: what is typed stays, with its lines.
  write("zero", ...loud);
  await hunks.getByText("+zero").waitFor();
  expect(await page.getByRole("textbox", { name: "What about these lines?" }).inputValue()).toBe(
    "Why so loud?",
  );
  await page.getByRole("button", { name: "Add the comment" }).press("Enter");
  await hunks.getByText("Lines 3 to 4").waitFor();

  // With a mouse from one line to another.
  await plus(6).hover();
  await page.mouse.down();
  await plus(8).hover();
  await page.mouse.up();
  await page.getByRole("textbox", { name: "What about these lines?" }).fill("And these?");
  await page.getByRole("button", { name: "Add the comment" }).click();
  await hunks.getByText("Lines 6 to 8").waitFor();

  // They are kept over a reload, go along with their lines, and are known to be old when those have changed.
  await page.reload();
  await hunks.getByText("Lines 3 to 4").waitFor();
  write(...loud.slice(0, 6), "Seven");
  await hunks.getByText("Lines 2 to 3").waitFor();
  await page.getByText("Changed since this was written. It was:").waitFor();
  expect(await page.getByText("Changed since this was written. It was:").count()).toBe(1);
  await page.getByRole("button", { name: "Send to the agent" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("I will see to it.").waitFor();
  const inputs = stage.log().filter(({ type }) => type === "input.accepted");
  expect(inputs).toHaveLength(1);
  const said = JSON.stringify(stage.server.requests.at(-1)?.body);
  expect(said).toContain("code.txt:2-3\\n> TWO\\n> THREE\\nWhy so loud?");
  expect(said).toContain(
    "code.txt:6-8 (changed since this was written)\\n> FIVE\\n> SIX\\n> SEVEN\\nAnd these?",
  );
});

test("a workspace in a worktree of its own is made from the page, and its work leaves the folder alone", async () => {
  verifies("P25");
  const stage = await openBrowserStage(browser(), [
    reply(toolUse("Bash", { command: "echo apart > apart.txt" })),
    reply("Made apart."),
  ]);
  repository(stage.project, { "code.txt": "one\n" });
  // A worktree runs what a repository says on its making: only where somebody trusts it.
  await stage.run(["trust", "add"]);
  const served = await stage.serve();
  const { page } = await stage.visit(served);
  await page.getByRole("button", { name: "New workspace" }).first().click();
  await page.getByRole("dialog").getByLabel("Folder").fill(stage.project);
  // Whoever is offered to do it can do it.
  await page.getByLabel("Engine").locator("option").first().waitFor({ state: "attached" });
  const engines = await page
    .getByLabel("Engine")
    .locator("option")
    .evaluateAll((all) => all.map((one) => one.getAttribute("value") ?? ""));
  expect(engines).toContain("keel");
  expect(engines.filter((engine) => !engineOf({ kind: "agent", engine }))).toEqual([]);
  await page.getByLabel(/In a worktree of its own/).check();
  await page.getByLabel("What is to be done?").fill("Work apart");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Made apart.").waitFor();
  await page
    .getByText(/^worktree /)
    .first()
    .waitFor();
  const [made] = await (await stage.client(served)).workspaces.list();
  expect(existsSync(path.join(made?.worktree?.path ?? "", "apart.txt"))).toBe(true);
  expect(existsSync(path.join(stage.project, "apart.txt"))).toBe(false);
});

test("a worker of an engine that is not known says that its history cannot be shown, and nothing of it is lost", async () => {
  verifies("S3.18", "S3.21");
  const stage = await openBrowserStage(browser(), []);
  const folder = path.join(stage.home, "server/workspaces");
  mkdirSync(folder, { recursive: true });
  const id = "0198c0de-0000-7000-8000-00000000000a";
  const about = { title: "Old", cwd: stage.project, folder: stage.project, createdAt: 1, changedAt: 1 };
  const worker = { id: "w-1", kind: "agent", engine: "of-tomorrow", name: "New", createdAt: 1 };
  writeFileSync(
    path.join(folder, `${id}.json`),
    JSON.stringify({ id, ...about, archived: false, workers: [worker] }),
  );
  const served = await stage.serve();
  const { page } = await stage.visit(served);
  await page.goto(`${served.url}/workspaces/${id}`);
  await page
    .getByText("The engine of-tomorrow is not known here. What it has said cannot be shown.")
    .waitFor();
  expect(await page.getByRole("textbox", { name: /Message to the agent/ }).count()).toBe(0);
});

test("the page lends nobody's login: without a key of one's own a turn says which key is missing", async () => {
  verifies("S3.19");
  const stage = await openBrowserStage(browser(), [reply("Never said.")]);
  // What another product left behind of its login is not taken.
  mkdirSync(path.join(stage.home, "..", ".claude"), { recursive: true });
  writeFileSync(
    path.join(stage.home, "..", ".claude/.credentials.json"),
    JSON.stringify({ claudeAiOauth: { accessToken: "sk-borrowed", refreshToken: "r", expiresAt: 4e12 } }),
  );
  const served = await stage.serveWith({ ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined });
  const { page } = await stage.visit(served);
  await page.getByRole("button", { name: "New workspace" }).first().click();
  await page.getByRole("dialog").getByLabel("Folder").fill(stage.project);
  await page.getByRole("dialog").getByLabel("Folder").press("Enter");
  await page.getByText("No model is set up: there is no key").waitFor();
  expect(stage.server.requests).toEqual([]);
});
