// A long session in a real browser: its end is there first, an address leads to any of its rows, and whoever reads
// further up is left in peace.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { typicalEvents, wholeTurns } from "../../bench/workloads/events.ts";
import { encodeHeader, encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { verifies } from "../support/verifies.ts";
import { type BrowserStage, keptEvents, keptLog, openBrowserStage, say, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();

/** A log of so many events, or a few more, which ends where a turn does; its inputs are `input-1` and so on. */
function writeLog({ home, project }: BrowserStage, count: number): { session: string; events: number } {
  const session = randomUUID();
  const folder = path.join(home, "projects", "long");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const events = typicalEvents({ count: wholeTurns(count), resultBytes: 2_000, session, cwd: project });
  const bytes = [encodeHeader({ session, cwd: project, at: 1 }), ...events.map(encodeRecord)];
  writeFileSync(path.join(folder, `${session}.jsonl`), Buffer.concat(bytes), { mode: 0o600 });
  return { session, events: events.length };
}

/** Where a row stands on the screen of the list; undefined where it is not drawn, or out of sight. */
const placeOf = (page: Page, row: string): Promise<number | undefined> =>
  page.evaluate<number | undefined>(`(() => {
    const list = document.querySelector(".scroller")?.getBoundingClientRect();
    const place = document.querySelector('[data-row="${row}"]')?.getBoundingClientRect();
    if (!list || !place || place.bottom <= list.top || place.top >= list.bottom) return undefined;
    return Math.round(place.top - list.top);
  })()`);

const isSeen = async (page: Page, row: string): Promise<boolean> => (await placeOf(page, row)) !== undefined;

test("an address leads to a row, near or far, and whoever reads there is not taken to the end", async () => {
  verifies("S3.13", "S3.14");
  const stage = await openBrowserStage(browser(), (_, { assistantTurns }) =>
    Array.from({ length: assistantTurns + 1 }, () => reply("Said at the end.")),
  );
  const { session, events } = writeLog(stage, 1_500);
  const served = await stage.serve();
  const { page } = await startWork(stage, served, { workers: [{ kind: "agent", session }] });
  await page.locator("[data-row]").first().waitFor();
  await until("all of it is kept", async () => (await keptEvents(page)) >= events);

  // By an address that changes, as a link does it.
  for (const row of ["input-1", "input-20", "input-7"]) {
    await page.evaluate(`location.hash = "#${row}"`);
    await until(`${row} is seen`, () => isSeen(page, row));
    await until(`${row} has the focus`, () =>
      page.evaluate<boolean>(`document.activeElement?.getAttribute("data-row") === "${row}"`),
    );
  }
  await page.goBack();
  await until("the one before is seen", () => isSeen(page, "input-20"));

  // What is said at the end moves nothing here.
  const before = await placeOf(page, "input-20");
  await say(page, "Go on");
  await until(
    "it was answered",
    () => stage.log().filter(({ type }) => type === "turn.finished").length > 31,
  );
  await page.getByRole("button", { name: "Interrupt" }).waitFor({ state: "detached" });
  expect(await placeOf(page, "input-20")).toBe(before);
  await page.getByRole("button", { name: "To the end" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Said at the end.").waitFor();

  // A page that begins there: its end is read from the browser's store first, and the row is not in it.
  await page.goto(`${served.url}/sessions/${session}#input-3`);
  await until("the row of the address is seen", () => isSeen(page, "input-3"));

  // Of a long result the page holds little; the whole of it is read when somebody wants to see it.
  const calls = await page.locator(".kind-tool").evaluateAll((all) => all.map((one) => one.dataset["row"]));
  const shown = await Promise.all(calls.map(async (row = "") => ((await isSeen(page, row)) ? [row] : [])));
  const call = page.locator(`[data-row="${shown.flat()[0]}"]`);
  await call.getByRole("button").first().click();
  await call.getByRole("button", { name: "Show input and result" }).click();
  const seen = call.locator("dd").last();
  await until("the result is whole", async () => {
    const text = await seen.innerText();
    return text.length > 1_200 && !text.includes("not shown here");
  });
});

test("a browser that never saw a long session asks for its end first, and has all of it without a gap", async () => {
  verifies("S3.13");
  const stage = await openBrowserStage(browser(), [reply("Never asked for.")]);
  const { session, events } = writeLog(stage, 1_500);
  const served = await stage.serve();
  const { page } = await stage.visit(served);
  const asked: string[] = [];
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      const frame = JSON.parse(String(payload)) as { type: string; operation?: string; after?: number } & {
        question?: { after?: number; last?: number };
      };
      if (frame.type === "follow") asked.push(`follow after ${frame.after}`);
      if (frame.operation !== "history") return;
      asked.push(frame.question?.last === undefined ? `page after ${frame.question?.after}` : "the last");
    }),
  );
  await page.goto(`${served.url}/sessions/${session}#input-3`);
  await until("the row of the address is seen", () => isSeen(page, "input-3"));
  await until("all of it is kept", async () => (await keptEvents(page)) >= events);
  expect(asked.filter((one) => !one.startsWith("page"))).toEqual(["the last", `follow after ${events}`]);
  expect(asked.filter((one) => one.startsWith("page"))[0]).toBe("page after 0");
  expect((await keptLog(page)).map(({ seq }) => seq)).toEqual(
    Array.from({ length: events }, (_, at) => at + 1),
  );

  // Another page makes room meanwhile: what comes later does not count as all that there was.
  await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("keel");
    opening.onsuccess = () => {
      const change = opening.result.transaction(["events", "sessions"], "readwrite");
      change.objectStore("events").clear();
      change.objectStore("sessions").clear();
      change.onerror = () => reject(change.error);
      change.oncomplete = () => { opening.result.close(); resolve(); };
    };
  })`);
  const handle = (await stage.client(served)).attach(session);
  await handle.submit({ type: "set", patch: { model: "claude-opus-4-5" } });
  await until("it is told", async () => (await keptEvents(page)) > 0);
  await page.reload();
  await until("the row is seen again", () => isSeen(page, "input-3"));
});
