// The page in a real browser when the way to the server is cut: nothing is lost, doubled or out of order, what was typed
// stays, and what was sent arrives once.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import {
  foldTranscript,
  type KeyedTranscript,
  noTranscript,
  rowsOf,
} from "../../keel/src/view/transcript.ts";
import { cuttingProxy } from "../handle/cutting-proxy.ts";
import { randomOf } from "../store/random.ts";
import { sharedBrowser } from "../support/browser.ts";
import { countOf, seed } from "../support/budget.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { allowUnasked } from "./allow-unasked.ts";
import { type BrowserStage, keptEvents, keptLog, openBrowserStage, say, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();
const lost = "The connection is lost";
const rows = (page: Page) => page.getByRole("region", { name: "Conversation" });
const composer = (page: Page) => page.getByRole("textbox", { name: /Message to the agent/ });

/** The ids of the rows that the page shows, in order, and those that a fold of the log gives. */
async function bothFolds(page: Page, stage: BrowserStage): Promise<{ shown: string[]; folded: string[] }> {
  const shown = await page
    .locator("[data-row]")
    .evaluateAll((all) => all.map((one) => one.getAttribute("data-row") ?? ""));
  const log = stage.log() as unknown as readonly Durable[];
  const folded = rowsOf(log.reduce<KeyedTranscript>(foldTranscript, noTranscript)).toArray();
  return { shown, folded: folded.map(({ id }) => id) };
}

const finishedTurns = (stage: BrowserStage): number =>
  stage.log().filter(({ type }) => type === "turn.finished").length;

/** The page hears of an event a little after it stands in the log: waits until both tell the same. */
async function asTheLogIs(page: Page, stage: BrowserStage, where: string): Promise<void> {
  const isSame = async (): Promise<boolean> => {
    const { shown, folded } = await bothFolds(page, stage);
    return JSON.stringify(shown) === JSON.stringify(folded);
  };
  await until(`${where}: the page is as the log is`, isSame).catch(async () => {
    const { shown, folded } = await bothFolds(page, stage);
    expect(shown, where).toEqual(folded);
  });
}

test("a connection that is cut at seeded places leaves the page as the log is, once and in order", async () => {
  verifies("G43", "S3.7", "S3.12", "S3.13");
  const wanted = countOf("browser-cuts");
  const made = { reset: 0, goodbye: 0, silence: 0 };
  for (let done = 0, number = seed(); done < wanted; number++) {
    const random = randomOf(number);
    const turns = 4;
    const stage = await openBrowserStage(
      browser(),
      Array.from({ length: turns }, (_, turn) => [
        replyWith(
          { chunkChars: 8, betweenMs: 2 },
          `Turn ${turn} begins. ${"And goes on. ".repeat(20)}`,
          toolUse("Bash", { command: `echo ${turn}` }),
        ),
        replyWith({ chunkChars: 8, betweenMs: 2 }, `Turn ${turn} is over.`),
      ]).flat(),
    );
    allowUnasked(stage, ["Bash"]);
    const proxy = await cuttingProxy(random);
    const served = await stage.serve("--public-url", `http://127.0.0.1:${proxy.port}`);
    proxy.target = Number(new URL(served.url).port);
    const url = `http://127.0.0.1:${proxy.port}`;
    const behind = { ...served, url, link: served.link.replace(served.url, url) };
    const { page } = await startWork(stage, behind, {
      viewport: { width: 1440, height: 4_000 },
    });
    await composer(page).waitFor();
    await page.evaluate("navigator.serviceWorker.ready");
    proxy.cuts = Math.min(6, wanted - done);
    proxy.endAll();
    for (let turn = 0; turn < turns; turn++) {
      await say(page, `Go ${turn}`);
      await until(`seed ${number}: turn ${turn} is over`, () => finishedTurns(stage) === turn + 1);
    }
    proxy.cuts = 0;
    await asTheLogIs(page, stage, `seed ${number}`);
    await until("all is kept", async () => (await keptEvents(page)) >= stage.log().length);
    // A line of the log has a sum over it, which is not of the event.
    const log = stage.log().map(({ sum: _, ...event }) => event);
    expect(await keptLog(page), `seed ${number}`).toEqual(log);
    expect(stage.log().filter(({ type }) => type === "input.accepted")).toHaveLength(turns);
    for (let turn = 0; turn < turns; turn++)
      expect(await rows(page).getByText(`Turn ${turn} is over.`).count()).toBe(1);
    for (const kind of ["reset", "goodbye", "silence"] as const) made[kind] += proxy.made[kind];
    const cut = proxy.made.reset + proxy.made.goodbye + proxy.made.silence;
    done += Math.max(1, cut);
    await page.context().close();
  }
  note("counts", `browser-cuts by how: ${JSON.stringify(made)}`);
  expect(made.reset + made.goodbye + made.silence).toBeGreaterThan(0);
}, 3_600_000);

test("a server that is killed in mid-reply and started again tells the reply whole, once", async () => {
  verifies("S3.7", "S3.12");
  const stage = await openBrowserStage(browser(), [
    replyWith({ chunkChars: 6, betweenMs: 15 }, `It begins here. ${"More of it. ".repeat(60)}It ends here.`),
    reply("And after it."),
  ]);
  const served = await stage.serve();
  const { page, workspace } = await startWork(stage, served);
  await say(page, "Speak");
  await rows(page).getByText("It begins here.").waitFor();
  await served.kill();
  await page.getByText(lost).first().waitFor();
  await stage.serve();
  await page.getByText(lost).first().waitFor({ state: "detached" });
  await rows(page).getByText("It ends here.").waitFor();
  await until("the turn is over", () => stage.log().some(({ type }) => type === "turn.finished"));
  await page.getByRole("button", { name: "Interrupt" }).waitFor({ state: "detached" });
  expect(await rows(page).getByText("It begins here.").count()).toBe(1);
  await say(page, "On");
  await rows(page).getByText("And after it.").waitFor();
  expect(workspace.workers).toHaveLength(1);
  await until("the second turn is over", () => finishedTurns(stage) === 2);
  await asTheLogIs(page, stage, "after the restart");
}, 60_000);

test("an input that is sent while nobody is there arrives once, also when the page was loaded anew meanwhile", async () => {
  verifies("S3.13", "S3.9");
  const stage = await openBrowserStage(browser(), [reply("Heard."), reply("Heard again.")]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served);
  await say(page, "First");
  await rows(page).getByText("Heard.").waitFor();
  await page.evaluate("navigator.serviceWorker.ready");
  await until("it is kept", async () => (await keptEvents(page)) >= stage.log().length);
  await served.kill();
  const from = performance.now();
  await page.getByText(lost).first().waitFor();
  note("counts", `a loss is shown in the browser after ${Math.round(performance.now() - from)} ms`);
  await say(page, "Said into the void");
  const unsent = page.getByRole("list", { name: "Not sent yet" }).getByText("Said into the void");
  await unsent.waitFor();
  await composer(page).fill("and half a word");
  await page.reload();
  await unsent.waitFor();
  await page.getByText(lost).first().waitFor();
  expect(await composer(page).inputValue()).toBe("and half a word");
  await page.reload();
  await rows(page).getByText("Heard.").waitFor();
  await stage.serve();
  await rows(page).getByText("Heard again.").waitFor();
  const inputs = stage.log().filter(({ type }) => type === "input.accepted");
  expect(
    inputs.map((event) => JSON.stringify(event)).filter((text) => text.includes("into the void")),
  ).toHaveLength(1);
  expect(await rows(page).getByText("Said into the void").count()).toBe(1);
  expect(await unsent.count()).toBe(0);
  expect(await composer(page).inputValue()).toBe("and half a word");
});

test("a server that falls silent without a word is noticed, and what is said meanwhile arrives once when it speaks again", async () => {
  verifies("S3.13", "S3.9");
  const stage = await openBrowserStage(browser(), [reply("Heard."), reply("Heard again.")]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served);
  await say(page, "First");
  await rows(page).getByText("Heard.").waitFor();
  // It keeps its connections and answers nothing, as a machine that sleeps.
  process.kill(served.pid, "SIGSTOP");
  const from = performance.now();
  try {
    await page.getByText(lost).first().waitFor();
    note("counts", `silence is shown in the browser after ${Math.round(performance.now() - from)} ms`);
    await say(page, "Said into silence");
    await page.getByRole("list", { name: "Not sent yet" }).getByText("Said into silence").waitFor();
  } finally {
    process.kill(served.pid, "SIGCONT");
  }
  await rows(page).getByText("Heard again.").waitFor();
  await page.getByText(lost).first().waitFor({ state: "detached" });
  const said = stage.log().filter((event) => JSON.stringify(event).includes("Said into silence"));
  expect(said.filter(({ type }) => type === "input.accepted")).toHaveLength(1);
  expect(await rows(page).getByText("Said into silence").count()).toBe(1);
});
