/** What a page costs: processor time of its process, tasks that hold it up, keys that wait, memory and nodes. */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { megabytes } from "../suites/suite.ts";

/** Runs before the page: notes what the browser tells of long tasks and slow keys. */
const observe = `
  window.longTasks = 0;
  new PerformanceObserver((list) => { window.longTasks += list.getEntries().length; })
    .observe({ type: "longtask", buffered: true });
  window.slowKeys = [];
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === "keydown") window.slowKeys.push(duration);
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
`;

/** Notes when the first of these is painted. It looks at every frame until then: not for a page that has none. */
const observeFirst = (selector: string): string => `
  const look = () => {
    if (!document.querySelector(${JSON.stringify(selector)})) return requestAnimationFrame(look);
    // The next frame begins when this one is on the screen.
    requestAnimationFrame(() => { window.firstMs = performance.now(); });
  };
  if (window.top === window) requestAnimationFrame(look);
`;

export type Meter = {
  readonly page: Page;
  /** Of all processes that show pages, since it was opened or was last asked. */
  cpuMs(): Promise<number>;
  longTasks(): Promise<number>;
  /** The 95th of a hundred keys since the last were forgotten, from the key to the paint; those below 16 ms count as 16. */
  keyMs(typed: number): Promise<number>;
  forgetKeys(): Promise<void>;
  heapMb(): Promise<number>;
  nodes(): Promise<number>;
  /** From the address to the first of `first` on the screen, by the page's own clock. */
  firstMs(): Promise<number>;
  close(): Promise<void>;
};

export async function openMeter(
  browser: Browser,
  context: BrowserContext,
  { first }: { readonly first?: string } = {},
): Promise<Meter> {
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  await page.addInitScript(observe);
  if (first !== undefined) await page.addInitScript(observeFirst(first));
  const whole = await browser.newBrowserCDPSession();
  const own = await context.newCDPSession(page);
  type Processes = { processInfo: { type: string; cpuTime: number; id: number }[] };
  let before = new Map<number, number>();
  return {
    page,
    async cpuMs() {
      const { processInfo } = (await whole.send("SystemInfo.getProcessInfo")) as Processes;
      const now = new Map(
        processInfo.filter(({ type }) => type === "renderer").map(({ id, cpuTime }) => [id, cpuTime]),
      );
      const spent = [...now].reduce((sum, [id, cpu]) => sum + cpu - (before.get(id) ?? 0), 0);
      before = now;
      return spent * 1_000;
    },
    longTasks: () => page.evaluate<number>("window.longTasks"),
    async keyMs(typed) {
      const slow = await page.evaluate<number[]>("window.slowKeys");
      const all = [...Array<number>(Math.max(0, typed - slow.length)).fill(16), ...slow];
      const sorted = all.sort((left, right) => left - right);
      return sorted[Math.floor(sorted.length * 0.95)] ?? 16;
    },
    forgetKeys: () => page.evaluate("window.slowKeys.length = 0"),
    async heapMb() {
      await own.send("HeapProfiler.collectGarbage");
      const { usedSize } = (await own.send("Runtime.getHeapUsage")) as { usedSize: number };
      return megabytes(usedSize);
    },
    nodes: () =>
      page.evaluate<number>(`(() => {
        const walker = document.createTreeWalker(document);
        let count = 1;
        while (walker.nextNode()) count += 1;
        return count;
      })()`),
    async firstMs() {
      const look = (): Promise<number | null> => page.evaluate("window.firstMs ?? null");
      let ms = await look();
      for (; ms === null; ms = await look()) await pause(100);
      return ms;
    },
    async close() {
      await page.close();
      await whole.detach();
    },
  };
}
