// What a model, a tool, a file's name and a title say is shown as words: in a real browser nothing of it runs, nothing is
// asked for elsewhere, nothing looks like something else.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { pagePayloads } from "../hostile/page-payloads.ts";
import type { PageNotes } from "../support/browser.ts";
import { sharedBrowser } from "../support/browser.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { allowUnasked } from "./allow-unasked.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();

/** Counts who comes. */
async function openTrap(): Promise<{ readonly url: string; readonly visits: string[] }> {
  const visits: string[] = [];
  const server = createServer((request, response) => {
    visits.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, visits };
}

/** Whatever the page has that a text must never bring about. */
const findHarm = `(() => {
  const harm = [];
  if (window.pwned !== undefined) harm.push("a script ran");
  if (/owned title/.test(document.title)) harm.push("the title was set");
  for (const node of document.querySelectorAll("*")) {
    const name = node.localName;
    if (["iframe", "object", "embed", "base", "math", "noscript"].includes(name)) harm.push("<" + name + ">");
    if (name === "script" && !node.src.startsWith(location.origin)) harm.push("<script>");
    if (name === "form" && node.hasAttribute("action")) harm.push("a form that goes somewhere");
    for (const { name: attribute, value } of node.attributes) {
      if (attribute.startsWith("on")) harm.push(attribute + "=" + value);
      if (["href", "src", "action", "formaction", "srcdoc", "data", "xlink:href", "poster"].includes(attribute)) {
        const isOurs = value.startsWith("/") || value.startsWith("#") || value.startsWith(location.origin);
        const isLink = name === "a" && attribute === "href" && /^https?:/.test(value);
        if (!isOurs && !isLink && !/^(data|blob):/.test(name === "img" ? value : "")) harm.push(name + " " + attribute + "=" + value);
      }
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const found = /[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f\\u061c\\u0000-\\u0008\\u001b\\u0080-\\u009f]/.exec(walker.currentNode.data);
    if (found) harm.push("U+" + found[0].codePointAt(0).toString(16) + " in " + walker.currentNode.data.slice(0, 40));
  }
  return harm;
})()`;

test("two hundred hostile texts, results, names and titles do nothing", async () => {
  verifies("P51", "S3.14");
  const trap = await openTrap();
  const payloads = pagePayloads.map((text) => text.replaceAll("TRAP", trap.url));
  expect(payloads).toHaveLength(50);
  const names = payloads.map((text, index) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no name of a file can have it
    const name = text.replace(/[/\u0000]/g, "_").replace(/[\ud800-\udfff]/g, "_");
    return `${index} ${Buffer.from(name)
      .subarray(0, 180)
      .toString("utf8")
      .replace(/\ufffd/g, "_")}`;
  });
  const stage = await openBrowserStage(browser(), [
    reply(...payloads),
    reply(
      ...Array.from({ length: 10 }, (_, group) => toolUse("Bash", { command: `cat payload-*${group}` })),
      toolUse("Glob", { pattern: "names/*" }),
    ),
    reply("It is over."),
  ]);
  for (const [index, text] of payloads.entries())
    writeFileSync(path.join(stage.project, `payload-${index}`), text);
  mkdirSync(path.join(stage.project, "names"));
  for (const name of names) writeFileSync(path.join(stage.project, "names", name), "x\n");
  allowUnasked(stage, ["Bash"]);
  const served = await stage.serve();
  const { page, notes, workspace } = await startWork(stage, served, {
    viewport: { width: 1440, height: 16_000 },
    workers: [
      { kind: "agent" },
      { kind: "terminal", command: ["sh", "-c", "cat payload-*; echo the end; cat"] },
    ],
  });
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  const harmless = async (where: string): Promise<void> => {
    expect([where, await page.evaluate<string[]>(findHarm)]).toEqual([where, []]);
    expectQuiet(notes, served.url);
    expect([where, dialogs, trap.visits]).toEqual([where, 0, []]);
  };
  const conversation = page.getByRole("region", { name: "Conversation" });

  await say(page, "Say it all");
  await until("the words are there", async () => (await conversation.getByText("constructor").count()) > 0);
  await page.getByRole("button", { name: "Interrupt" }).waitFor({ state: "detached" });
  await harmless("words of the model");

  await say(page, "Show it all");
  await conversation.getByText("It is over.").waitFor({ timeout: 60_000 });
  const closed = conversation.getByRole("button", { name: /Bash|Glob/, expanded: false });
  const calls = await closed.count();
  expect(calls).toBe(11);
  for (let left = calls; left > 0; left--) await closed.first().click();
  await harmless("results and names of files");

  const client = await stage.client(served);
  for (const title of payloads) await client.workspaces.createWorkspace({ cwd: stage.project, title });
  await page.goto(served.url);
  await until(
    "the titles are there",
    async () => (await page.getByRole("main").getByRole("link").count()) >= payloads.length,
  );
  await harmless("titles");
  const last = (await client.workspaces.list()).find(({ title }) => title.includes("owned title"));
  await page.goto(`${served.url}/workspaces/${last?.id}`);
  await page.getByRole("heading", { level: 1 }).waitFor();

  await page.goto(`${served.url}/workspaces/${workspace.id}/${workspace.workers[1]?.id}`);
  await page.getByText("the end").first().waitFor();
  expect(await page.evaluate<unknown>("window.pwned")).toBeUndefined();
  expect(await page.title()).not.toContain("owned title");
  expectQuiet(notes, served.url);
  expect([dialogs, trap.visits]).toEqual([0, []]);
  note("counts", `browser-hostile ${payloads.length * 4}`);
}, 120_000);

function expectQuiet(notes: PageNotes, url: string): void {
  expect(notes.refused).toEqual([]);
  expect(notes.errors).toEqual([]);
  const elsewhere = notes.requests.filter((one) => !one.startsWith(url) && !/^(data|blob):/.test(one));
  expect(elsewhere).toEqual([]);
}
