// Workspaces and their workers, made, changed and removed from the page in a real browser.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentEngines } from "../../keel/src/app/workspaces/engines.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();

test("an agent of a kind is made from the page, which offers what the server has and nothing else", async () => {
  verifies("S3.21", "P25");
  const stage = await openBrowserStage(browser(), [reply("I have looked.")]);
  mkdirSync(path.join(stage.project, ".keel/agents"), { recursive: true });
  writeFileSync(
    path.join(stage.project, ".keel/agents/reviewer.md"),
    "---\nname: reviewer\ndescription: Looks at a change\n---\nYou are the one who reviews.\n",
  );
  const served = await stage.serve();
  const { page } = await startWork(stage, served);
  await page.getByRole("button", { name: "Add a worker" }).click();
  await page.getByRole("menuitem", { name: "Agent of another kind …" }).click();
  const dialog = page.getByRole("dialog", { name: "New agent" });
  const kind = dialog.getByLabel("Kind of agent");
  await kind.locator("option", { hasText: "reviewer" }).waitFor({ state: "attached" });
  const engines = await dialog
    .getByLabel("Engine")
    .locator("option")
    .evaluateAll((all) => all.map((one) => one.getAttribute("value") ?? ""));
  expect(engines).toEqual(agentEngines.map(({ name }) => name));
  // What an engine does not ask for is not asked.
  await dialog.getByLabel("Engine").selectOption("pty");
  await dialog.getByLabel("Program and its arguments").waitFor();
  expect(await kind.count()).toBe(0);
  await dialog.getByLabel("Engine").selectOption("keel");
  await kind.selectOption("reviewer");
  await dialog.getByText("Looks at a change").waitFor();
  await dialog.getByLabel("What is to be done?").fill("Review it");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("I have looked.").waitFor();
  expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("You are the one who reviews.");
  await page.getByRole("navigation", { name: "Workers" }).getByRole("link", { name: "reviewer" }).waitFor();
});

test("workers and workspaces get other names and go; what cannot be done is said, and a phone finds the way back", async () => {
  verifies("S3.15", "S3.16", "P26");
  const stage = await openBrowserStage(browser(), []);
  const served = await stage.serve();
  const { page, workspace } = await startWork(stage, served, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    workers: [{ kind: "agent" }, { kind: "terminal", command: ["cat"] }],
  });
  const client = await stage.client(served);
  const tabs = page.getByRole("navigation", { name: "Workers" });
  const pick = async (item: string): Promise<void> => {
    await page.getByRole("button", { name: "More about this" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await tabs.getByRole("link", { name: "cat" }).click();
  await pick("Rename this worker …");
  await page.getByRole("dialog").getByLabel("Name").fill("Cat");
  await page.keyboard.press("Enter");
  await tabs.getByRole("link", { name: "Cat", exact: true }).waitFor();
  await pick("Remove this worker …");
  await page.getByRole("dialog").getByText("Its program ends").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await tabs.getByRole("link", { name: "Cat", exact: true }).waitFor({ state: "detached" });
  expect((await client.workspaces.list())[0]?.workers).toHaveLength(1);

  await pick("Rename the workspace …");
  await page.getByRole("dialog").getByLabel("Name").fill("Other work");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Other work", level: 1 }).waitFor();

  // Where its folder is gone, nothing can be started there: the page says why, and goes on.
  rmSync(stage.project, { recursive: true });
  await page.getByRole("button", { name: "Add a worker" }).click();
  await page.getByRole("menuitem", { name: "Agent", exact: true }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.innerText()).not.toBe("");
  await alert.getByRole("button", { name: "Close" }).click();
  await alert.waitFor({ state: "detached" });

  await pick("Remove the workspace …");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Nothing is at work yet" }).waitFor();
  await until("it is gone", async () => (await client.workspaces.list()).length === 0);
  // Its session is kept, and its address says what became of it and leads back.
  await page.goto(`${served.url}/workspaces/${workspace.id}`);
  await page.getByText("This workspace is gone. Its sessions are kept.").waitFor();
  await page.getByRole("link", { name: "All work" }).tap();
  await page.getByRole("heading", { name: "Nothing is at work yet" }).waitFor();
});
