// A real browser for tests of the page. Where it cannot start, the tests that need it say so by name.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { launchChromium } from "./chromium.ts";
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
async function startBrowser(): Promise<Browser | undefined> {
  try {
    return await launchChromium();
  } catch (thrown) {
    notRunHere("browser", thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown));
    return undefined;
  }
}

/** One browser for all tests of a file. */
export function sharedBrowser(): () => Browser {
  let shared: Browser | undefined;
  beforeAll(async () => {
    shared = await startBrowser();
  });
  afterAll(() => shared?.close());
  return () => {
    if (!shared) notRunHere("browser", "no browser starts here");
    return shared as Browser;
  };
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
  // Longer than anything takes on a busy machine: what is waited for decides, and not the clock.
  page.setDefaultTimeout(40_000);
  return { page, notes };
}
