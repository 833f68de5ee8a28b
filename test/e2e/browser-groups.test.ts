// The console's page of chat groups in a real browser: where each stands, what is said, and saying something.
import { expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage } from "./browser-stage.ts";

const browser = sharedBrowser();

test("a group is found, written to and read on the page, and its agent answers there", async () => {
  verifies("S2.56", "S2.59");
  const stage = await openBrowserStage(browser(), [
    reply("<internal>hm</internal>At noon."),
    reply("Yes, again."),
  ]);
  await stage.run(["groups", "add", "lunch", "--name", "Lunch & more", "--no-sandbox"]);
  await stage.run(["groups", "add", "quiet", "--name", "Quiet ones"]);
  await stage.run(["groups", "say", "lunch", "is anybody hungry?", "--from", "Ana"]);
  const served = await stage.serve();
  const { page, notes } = await stage.visit(served);
  await page.getByRole("link", { name: "Groups" }).click();
  await page.getByText("0 of at most 5 at work.").waitFor();
  await page.getByText("1 unheard").waitFor();
  await page.getByRole("link", { name: /^Lunch & more/ }).click();
  const log = page.getByRole("log", { name: "What was said" });
  await log.getByText("is anybody hungry?").waitFor();
  await page.getByRole("textbox", { name: "As", exact: true }).fill("Bo");
  await page.getByLabel("Say something; @keel calls the agent").fill("@keel when?");
  await page.keyboard.press("Enter");
  await log.getByText("At noon.").waitFor();
  expect(await log.getByRole("listitem").allInnerTexts()).toEqual([
    expect.stringMatching(/^Ana.*\n+is anybody hungry\?$/),
    expect.stringMatching(/^Bo.*\n+@keel when\?$/),
    expect.stringMatching(/^Agent.*\n+At noon\.$/),
  ]);
  await page.goto(`${served.url}/groups/nobody`);
  await page.getByText("There is no such group.").waitFor();
  expect(notes.errors).toEqual([]);
  const client = await stage.client(served);
  const { groups } = await client.groups.list();
  expect(groups.map(({ id, state, waiting }) => [id, state, waiting])).toEqual([
    ["lunch", "resting", 0],
    ["quiet", "resting", 0],
  ]);
  await client.groups.say({ group: "lunch", text: "@keel again?", id: "a1" });
  await client.groups.say({ group: "lunch", text: "@keel again?", id: "a1" });
  await expect
    .poll(async () => (await client.groups.log({ group: "lunch" })).lines.at(-1)?.text, { timeout: 15_000 })
    .toBe("Yes, again.");
  expect((await client.groups.log({ group: "lunch", last: 2 })).lines.map(({ text }) => text)).toEqual([
    "@keel again?",
    "Yes, again.",
  ]);
});
