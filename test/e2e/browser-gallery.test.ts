// Every page and state of the gallery in a real browser: nothing that keeps people out, nothing that the policy refuses,
// nothing that a hostile text could do.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { openPage, sharedBrowser } from "../support/browser.ts";
import { countOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { openBrowserStage } from "./browser-stage.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const browser = sharedBrowser();

const themes = ["light", "dark"] as const;
const widths = [390, 1024, 1440] as const;

/** Every shelf that the gallery itself names. */
async function shelvesOf(page: Page, url: string): Promise<readonly string[]> {
  await page.goto(`${url}/dev/gallery`);
  const links = page.locator('a[href^="/dev/gallery/"]');
  await links.first().waitFor();
  return [...new Set(await links.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? "")))];
}

/** What is too small to be hit, and what makes the page wider than the window. A link within a text is as high as its line. */
const findMisfits = `(() => {
  const wrong = [];
  const named = (node) => node.outerHTML.replace(/\\s+/g, " ").slice(0, 140);
  for (const node of document.querySelectorAll("button, summary, select, textarea, input, a[href]")) {
    if (node.matches("input[type=checkbox], input[type=radio]") && node.labels?.length) continue;
    const { display, visibility } = getComputedStyle(node);
    if (display === "inline" || visibility === "hidden" || !node.checkVisibility()) continue;
    if (node.closest(".unseen, .xterm")) continue;
    const { width, height } = node.getBoundingClientRect();
    if (width > 0 && Math.min(width, height) < 23.5) wrong.push("small: " + Math.round(width) + "x" + Math.round(height) + " " + named(node));
  }
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) wrong.push("wide: " + scrollWidth + " of " + clientWidth);
  return wrong;
})()`;

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

describe("the gallery", () => {
  test("keeps nobody out and breaks no rule of the page's policy, in both themes and three widths", async () => {
    verifies("P51", "S4.72");
    const stage = await openBrowserStage(browser(), []);
    const served = await stage.serve();
    const looks = await Promise.all(
      themes.flatMap((theme) =>
        widths.map(async (width) => {
          const options = { colorScheme: theme, viewport: { width, height: 900 } };
          return { look: `${theme} ${width}`, ...(await openPage(browser(), options)) };
        }),
      ),
    );
    const [first] = looks;
    if (!first) throw new Error("no look");
    const shelves = await shelvesOf(first.page, served.url);
    expect(shelves.length).toBeGreaterThan(15);
    // Each shelf in each look; a sample takes every so many of them, so that all looks come in turn.
    const states = shelves.flatMap((shelf) => looks.map((look) => ({ shelf, ...look })));
    const count = Math.min(countOf("gallery-states"), states.length);
    const chosen = states.filter((_, index) => (index * count) % states.length < count);
    const wrong: string[] = [];
    for (const { shelf, look, page, notes } of chosen) {
      await page.goto(served.url + shelf);
      await page.locator("main, dialog").first().waitFor();
      await page.waitForLoadState("networkidle");
      await page.evaluate(axeSource);
      const violations = await page.evaluate<Violation[]>(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
      );
      const where = `${shelf} ${look}`;
      for (const { id, nodes } of violations) wrong.push(`${where}: ${id}: ${nodes[0]?.html.slice(0, 160)}`);
      for (const misfit of await page.evaluate<string[]>(findMisfits)) wrong.push(`${where}: ${misfit}`);
      for (const refused of notes.refused.splice(0))
        wrong.push(`${where}: refused: ${refused.slice(0, 160)}`);
      for (const error of notes.errors.splice(0)) wrong.push(`${where}: ${error}`);
    }
    expect(wrong).toEqual([]);
  }, 1_200_000);

  test("shows hostile texts as words: no script runs, nothing is asked for elsewhere, no link leads astray", async () => {
    const stage = await openBrowserStage(browser(), []);
    const served = await stage.serve();
    const { page, notes } = await openPage(browser());
    await page.goto(`${served.url}/dev/gallery/hostile`);
    await page.locator("#main").waitFor();
    for (const line of await page.locator("button.line").all()) await line.click();
    expect(await page.evaluate("window.pwned")).toBeUndefined();
    expect(notes.requests.filter((url) => !url.startsWith(served.url))).toEqual([]);
    const links = await page
      .locator("main a")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
    expect(links.filter((href) => !/^https?:/.test(href))).toEqual([]);
    expect(await page.locator("main iframe, main script, main img").count()).toBe(0);
    expect(notes.refused).toEqual([]);
  });
});
