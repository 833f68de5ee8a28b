// `npm run pictures [-- terminal | console]`: takes the pictures of README.md and the guide, one function for each face.
// Those of the terminal are drawn from the built command on a real PTY (`pictures/terminal.ts`); with `terminal DIR
// [scene]` every scene at every width in both themes, to be looked at. Those of the
// console come from the built page: from its gallery, whose events were recorded, and from a rehearsal that is played
// for it. `npm run pictures -- --all DIR [shelf …]` takes every state of the gallery in both themes and three widths, to
// be looked at beside one another.
import { spawn } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../test/support/chromium.ts";

const root = path.resolve(import.meta.dirname, "..");
const out = path.join(root, "docs/pictures");
/** A picture is loaded by everybody who reads the page that it stands on. */
const maxBytes = 150_000;

/** A little after the recordings of the gallery, so that nothing there is days old. */
const lookedAt = new Date(Date.UTC(2026, 10, 16, 9, 52));

type Theme = "light" | "dark";
type View = { readonly theme: Theme; readonly width: number; readonly height: number };

await mkdir(out, { recursive: true });
const all = process.argv.indexOf("--all");
const [face, folder, scene] = process.argv.slice(2);
if (face === "terminal") await picturesOfTerminal(folder, scene);
else if (all === -1) {
  await picturesOfConsole();
  if (face !== "console") await picturesOfTerminal();
} else await everyState(path.resolve(process.argv[all + 1] ?? "pictures"), process.argv.slice(all + 2));

async function picturesOfTerminal(where?: string, only?: string): Promise<void> {
  const { recordedScenes, shownInGuide, terminalScenes } = await import("./pictures/terminal.ts");
  const sizes =
    where === undefined
      ? [{ columns: 80, rows: 26, theme: "dark" as const }]
      : [60, 80, 140].flatMap((columns) =>
          (["dark", "light"] as const).map((theme) => ({ columns, rows: 30, theme })),
        );
  await mkdir(where ?? out, { recursive: true });
  for (const size of sizes) {
    const options = {
      ...size,
      only,
      async take(name: string, svg: string) {
        if (where !== undefined)
          await writeFile(path.join(where, `${name}-${size.columns}-${size.theme}.svg`), svg);
        else if (shownInGuide.has(name)) await writeFile(path.join(out, `terminal-${name}.svg`), svg);
      },
    };
    await terminalScenes(options);
    if (where !== undefined) await recordedScenes(options);
  }
}

async function picturesOfConsole(): Promise<void> {
  await withConsole(async ({ browser, link, url }) => {
    await take(browser, { theme: "light", width: 1_240, height: 780 }, "console.png", async (page) => {
      await page.clock.setFixedTime(lookedAt);
      await page.goto(`${url}/dev/gallery/conversation`);
      await settled(page);
    });
    await take(browser, { theme: "dark", width: 390, height: 780 }, "console-phone.png", async (page) => {
      await page.goto(`${url}/dev/gallery/conversation`);
      await settled(page);
    });
    await take(browser, { theme: "dark", width: 1_240, height: 780 }, "console-dark.png", async (page) => {
      await rehearsed(page, link);
      await settled(page);
    });
  });
}

/** The rehearsal, up to the first question that a person is asked. */
async function rehearsed(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page
    .getByRole("link", { name: /Rehearsal/ })
    .first()
    .click();
  await page.locator("[data-ask]").first().waitFor();
}

async function everyState(folder: string, only: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await withConsole(async ({ browser, url }) => {
    const shelves = only.length > 0 ? only : await shelvesAt(browser, url);
    for (const shelf of shelves)
      for (const theme of ["light", "dark"] as const)
        for (const width of [390, 1_024, 1_440]) {
          const view = { theme, width, height: 900 };
          const { page, close } = await open(browser, view);
          await page.clock.setFixedTime(lookedAt);
          await page.goto(`${url}/dev/gallery/${shelf}`);
          await settled(page);
          await page.screenshot({
            path: path.join(folder, `${shelf}-${theme}-${width}.png`),
            fullPage: true,
          });
          await close();
        }
    console.log(`pictures: ${shelves.length} states in ${folder}`);
  });
}

async function shelvesAt(browser: Browser, url: string): Promise<string[]> {
  const { page, close } = await open(browser, { theme: "light", width: 1_024, height: 900 });
  await page.goto(`${url}/dev/gallery`);
  const found = page.locator("main a");
  await found.first().waitFor();
  const links = await found.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  await close();
  return links.map((href) => href.split("/").at(-1) ?? "");
}

async function take(
  browser: Browser,
  view: View,
  name: string,
  play: (page: Page) => Promise<void>,
): Promise<void> {
  const { page, close } = await open(browser, view);
  await play(page);
  const file = path.join(out, name);
  await page.screenshot({ path: file });
  await close();
  const { size } = await stat(file);
  console.log(`pictures: ${name}, ${size} bytes`);
  if (size > maxBytes) throw new Error(`${name} has more than ${maxBytes} bytes`);
}

async function open(
  browser: Browser,
  { theme, width, height }: View,
): Promise<{ page: Page; close(): Promise<void> }> {
  const context = await browser.newContext({
    locale: "en-GB",
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: "reduce",
    hasTouch: width < 600,
    isMobile: width < 600,
  });
  // A machine that does much else takes its time.
  context.setDefaultTimeout(120_000);
  return { page: await context.newPage(), close: () => context.close() };
}

/** Nothing is being loaded any more, and the colours of code are there. */
async function settled(page: Page): Promise<void> {
  await page.locator("#main").waitFor();
  // A page that follows a session is never quite at rest.
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
  await page.waitForTimeout(400);
}

/** The built command rehearses in a console of its own, which ends with this. */
async function withConsole(
  use: (stage: { readonly browser: Browser; readonly link: string; readonly url: string }) => Promise<void>,
): Promise<void> {
  const keel = path.join(root, "keel/bin/keel");
  const child = spawn(keel, ["rehearse", "--console", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    // Listened to at once: a command that fails has said so, and ended, before a browser is there.
    const link = await linkIn(child.stdout);
    const browser = await launchChromium();
    await use({ browser, link, url: new URL(link).origin }).finally(() => browser.close());
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}

async function linkIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const link = /http:\/\/\S+/.exec(line)?.[0];
    if (link !== undefined) return link;
  }
  throw new Error("the rehearsal ended before it said where it is");
}
