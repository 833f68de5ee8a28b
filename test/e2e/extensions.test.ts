// The example plugin for real: its table on a terminal, its panel and its form in a browser, and the page's policy refuses
// nothing because nothing of the plugin runs there.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { openScreenStage, ready } from "../tui/stage.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";

const example = path.join(import.meta.dirname, "../../examples/plugins/notes");
const browser = sharedBrowser();
/** Where somebody wants to look at them. */
const pictures = process.env["KEEL_PICTURES"];
const calls = () => [
  reply(toolUse("mcp__plugin_notes__add_note", { text: "**tea** is <b>at four</b>" })),
  reply("Kept it."),
];

test("on a terminal its tool shows a table and its command answers with one", async () => {
  verifies("P20");
  const stage = await openScreenStage(byPosition(calls()));
  const adding = stage.open(["plugin", "add", example], { unlogged: "it holds no conversation" });
  await adding.until("the question", ({ text }) => text().includes("Add this plugin?"));
  expect(adding.text()).toContain("extension.mjs (");
  adding.type("yes\r");
  await adding.until("added", ({ text }) => text().includes("Added: notes"));

  const screen = stage.open([], { unlogged: "what a command shows is in no log" });
  await ready(screen);
  screen.type("When is tea?\r");
  await screen.until("the question", ({ text }) => text().includes("add_note"));
  await screen.until("keys", ({ rows }) => !rows().some((row) => row.includes("pause typing")));
  await screen.settled(350);
  screen.type("\r");
  await screen.until("the table", ({ text }) => text().includes("Kept it."));
  // Nothing in a cell is read as Markdown.
  expect(screen.text()).toMatch(/Note +Kind/);
  expect(screen.text()).toMatch(/\*\*tea\*\* is <b>at four<\/b> +model/);
  screen.type("/notes:add the pot leaks\r");
  await screen.until("the answer", ({ text }) => /the pot leaks +person/.test(text()));
  if (pictures) process.stderr.write(`${screen.text()}\n`);
});

test("in a browser its tool shows a table, and its form adds what its panel then shows, without a refusal", async () => {
  verifies("P20");
  const stage = await openBrowserStage(browser(), calls());
  await stage.run(["plugin", "add", example, "--yes"]);
  const served = await stage.serve();
  const { page, notes } = await startWork(stage, served);
  await say(page, "When is tea?");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Kept it.").waitFor();
  const side = page.getByRole("complementary", { name: "Beside the conversation" });
  const rows = side.getByRole("table").getByRole("row");
  await side.getByText("at four").waitFor();
  expect(await rows.allTextContents()).toEqual(["NoteKind", "**tea** is <b>at four</b>model"]);
  await side.getByLabel("Note").fill("the pot <script>alert(1)</script>");
  await side.getByLabel("Kind").selectOption("bug");
  await side.getByRole("button", { name: "Add" }).click();
  await side.getByText("the pot").waitFor();
  expect(await rows.last().textContent()).toBe("the pot <script>alert(1)</script>bug");
  expect(readFileSync(path.join(stage.project, "notes.jsonl"), "utf8").trim().split("\n")).toHaveLength(2);
  // The command's answer stands in the conversation, as a table too.
  expect(await page.getByRole("main").getByRole("table").count()).toBeGreaterThan(0);
  expect(notes).toMatchObject({ refused: [], errors: [] });
  expect(
    notes.requests.filter((address) => !address.startsWith(served.url) && !address.startsWith("blob:")),
  ).toEqual([]);
  if (pictures) await page.screenshot({ path: path.join(pictures, "extension-console.png") });
});
