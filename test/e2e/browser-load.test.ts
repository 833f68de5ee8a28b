// What a visit loads before it shows anything, by its address; and that the rest may be late, or never come.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";

const browser = sharedBrowser();
const built = path.resolve(import.meta.dirname, "../../keel/dist/web");
const most = 130_000;

/** Files for later: what is opened, what colours code; and beside, above and below rows the rail, a menu, the side and the field with what they need. */
const later = /\/assets\/(palette|terminal-worker|highlight|remend|dist)-/;
const laterThanRows =
  /\/assets\/(palette|terminal-worker|highlight|remend|dist|composer|completion|pictures|side|inbox|overview|rail|workspace-menu|terminal-display|diff-display)-/;

const packed = (file: string): number => gzipSync(readFileSync(path.join(built, file)), { level: 9 }).length;

test("each page shows what it is about with at most 130 kB, and the rest of it later", async () => {
  verifies("P51");
  const stage = await openBrowserStage(browser(), [reply("```ts\nconst heard = 1;\n```\n\nHeard.")]);
  execFileSync("git", ["init", "-q"], { cwd: stage.project });
  writeFileSync(path.join(stage.project, "new.txt"), "new\n");
  const served = await stage.serve();
  // Nothing comes out of a store of the page's own.
  const { page, notes, workspace } = await startWork(stage, served, {
    serviceWorkers: "block",
    workers: [{ kind: "agent" }, { kind: "terminal", command: ["sh"] }, { kind: "diff" }],
  });
  await say(page, "Hear me");
  await page.locator(".reply", { hasText: "Heard." }).waitFor();
  const [agent, terminal, diff] = workspace.workers;
  const at = `/workspaces/${workspace.id}`;
  const heard = (one: Page): Locator => one.locator(".reply", { hasText: "Heard." });
  const pages: Readonly<Record<string, { path: string; sign: Locator; late?: RegExp }>> = {
    overview: { path: "/", sign: page.getByRole("main").getByRole("link", { name: "Work" }) },
    conversation: { path: `${at}/${agent?.id}`, sign: heard(page), late: laterThanRows },
    session: { path: `/sessions/${agent?.session}`, sign: heard(page), late: laterThanRows },
    terminal: { path: `${at}/${terminal?.id}`, sign: page.getByRole("heading", { name: "Work" }) },
    diff: {
      path: `${at}/${diff?.id}`,
      sign: page.getByRole("region", { name: "Changed files" }).getByText("new.txt"),
    },
    asks: { path: "/asks", sign: page.getByRole("heading", { name: "Questions", level: 1 }) },
    permissions: {
      path: "/settings/permissions",
      sign: page.getByRole("heading", { name: "Settings", level: 1 }),
    },
    devices: { path: "/settings/devices", sign: page.getByRole("button", { name: "Show a code" }) },
    pairing: { path: "/pair", sign: page.getByRole("button", { name: "Pair", exact: true }) },
  };
  const tooMuch: string[] = [];
  for (const [name, { path: address, sign, late = later }] of Object.entries(pages)) {
    await page.route(late, (route) => route.abort());
    notes.requests.length = 0;
    await page.goto(served.url + address);
    await sign.first().waitFor();
    const asked = new Set(notes.requests.map((url) => new URL(url).pathname));
    const files = [...asked].filter((file) => file.startsWith("/assets/") && !late.test(file));
    expect(files.length, name).toBeGreaterThan(1);
    const bytes = files.reduce((sum, file) => sum + packed(file), 0);
    note("counts", `first load of ${name}: ${(bytes / 1_000).toFixed(1)} kB in ${files.length} files`);
    if (bytes > most) tooMuch.push(`${name}: ${bytes} bytes in ${files.join(" ")}`);
    await page.unroute(late);
  }
  expect(tooMuch).toEqual([]);

  // What could not be loaded says so in its place; with it there, the page is whole.
  await page.route(laterThanRows, (route) => route.abort());
  await page.goto(served.url + (pages["conversation"]?.path ?? ""));
  await heard(page).waitFor();
  await page.getByText("This part of the page could not be shown.").first().waitFor();
  await page.unroute(laterThanRows);
  await page.getByRole("button", { name: "Load the page anew" }).first().click();
  await page.getByRole("textbox", { name: /Message to the agent/ }).waitFor();
  await page.getByRole("complementary", { name: "Beside the conversation" }).waitFor();
  expect(await page.getByText("This part of the page could not be shown.").count()).toBe(0);
});
