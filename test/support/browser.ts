// A real browser for tests of the page. Where it cannot start, the tests that need it say so by name.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, inject, onTestFinished } from "vitest";
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
async function reachBrowser(): Promise<Browser | undefined> {
  const answer = await fetch(inject("browserDoor"));
  const said = await answer.text();
  if (!answer.ok) {
    notRunHere("browser", said);
    return undefined;
  }
  const { chromium } = await import("playwright-core");
  return chromium.connect(said);
}

/** The one browser of the run, as the tests of a file reach it; what they open in it is closed with them. */
export function sharedBrowser(): () => Browser {
  let shared: Browser | undefined;
  beforeAll(async () => {
    shared = await reachBrowser();
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
