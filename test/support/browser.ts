// A real browser for tests of the page. It is unpacked once into a folder of its own; where it cannot start, the tests
// that need it say so by name.
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { notRunHere } from "./not-run.ts";

export type PageNotes = {
  /** What the policy of the page refused. */
  readonly refused: string[];
  /** What went wrong in its scripts. */
  readonly errors: string[];
  /** Every address that was asked for. */
  readonly requests: string[];
};

/** Undefined where no browser can be started here; the reason is told once. */
export async function startBrowser(): Promise<Browser | undefined> {
  try {
    const executablePath = await unpacked();
    const { chromium } = await import("playwright-core");
    // No sandbox: tests may run as root, and the pages are ours. Site isolation and the policy of pages stay on.
    return await chromium.launch({ executablePath, args: ["--no-sandbox", "--headless=shell"] });
  } catch (thrown) {
    notRunHere("browser", thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown));
    return undefined;
  }
}

/** It unpacks under fixed names into whatever the temporary folder is: here into one that nobody else uses. */
async function unpacked(): Promise<string> {
  const folder = path.join(tmpdir(), "keel-test-chromium");
  await mkdir(folder, { recursive: true });
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    return await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

/** A page of a visitor of its own; closed with the test. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly notes: PageNotes }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  onTestFinished(() => context.close());
  return notedPage(await context.newPage());
}

export function notedPage(page: Page): { readonly page: Page; readonly notes: PageNotes } {
  const notes: PageNotes = { refused: [], errors: [], requests: [] };
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) notes.refused.push(message.text());
  });
  page.on("pageerror", (error) => notes.errors.push(error.message));
  page.on("request", (request) => notes.requests.push(request.url()));
  page.setDefaultTimeout(15_000);
  return { page, notes };
}
