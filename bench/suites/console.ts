/** The page in a real browser: a reply that streams, long and big histories, many workspaces; beside bare pages. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { barePage } from "../console/bare-page.ts";
import { type Meter, openMeter } from "../console/meter.ts";
import {
  type ConsoleStage,
  openConsoleStage,
  type SessionWish,
  type WrittenSession,
} from "../console/stage.ts";
import type { Contest, Samples } from "../measure.ts";
import { hands } from "./console-hands.ts";
import { changedFiles, terminal } from "./console-workers.ts";
import type { Bench, Suite } from "./suite.ts";

const said = (count: number): string => count.toLocaleString("en-US");
/** At most, of `typicalEvents`. */
const eventsPerRow = 4;

export const consoleSuite: Suite = async (bench) => {
  const stage = await openConsoleStage(bench);
  return {
    contests: [
      streaming(bench, stage),
      firstPaint(bench, stage),
      bigHistory(bench, stage),
      neverSeen(bench, stage),
      overview(bench, stage),
      firstLoad(stage),
      terminal(bench, stage),
      changedFiles(bench, stage),
      hands(bench, stage),
    ],
    close: () => stage.close(),
  };
};

/** What a model writes: prose, a list, code. */
const prose = `## What was found

The **answer** depends on the length of the question, which \`question.length\` says; see [the notes](https://example.com/notes).

- first the file is read,
- then its lines are counted, and *nothing else* is done.

\`\`\`ts
export const answer = (question: string): number => question.length * 6 + 7; // "quoted"
const all = questions.map(answer).filter((one) => one > 42);
\`\`\`

`;

const idleTypingMs = 2_000;
const betweenKeysMs = 60;

/**
 * The 95th of a hundred keys that are typed until something has come about. No key waits for the one before it: a page
 * that hangs is typed into as one that does not.
 */
async function typeUntil(meter: Meter, end: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = end.finally(() => {
    isOver = true;
  });
  await meter.forgetKeys();
  const presses: Promise<void>[] = [];
  while (!isOver) {
    presses.push(meter.page.keyboard.press("x"));
    await pause(betweenKeysMs);
  }
  await Promise.all([over, ...presses]);
  // What was typed last is painted too.
  await pause(300);
  return meter.keyMs(presses.length);
}

/**
 * The bare page gets one of so many deltas, and what that costs counts so many times: its one node is laid out anew for
 * each frame, so that the whole of the text would cost it far more, and the run a quarter of an hour.
 */
const bareShare = 5;

function streaming({ counts }: Bench, stage: ConsoleStage): Contest {
  const { deltas, transcriptRows } = counts;
  const what = `${said(deltas)} deltas at ${said(transcriptRows)} rows`;
  const wish = { events: transcriptRows * eventsPerRow * 0.6, resultBytes: 64 };
  /** Types for a moment, says one thing, and types on until all deltas are shown. */
  const converse = async (
    session: string,
    meter: Meter,
    deltas: number,
    onText: (text: string) => void,
    hasAll: () => Promise<boolean>,
  ): Promise<Samples> => {
    await stage.model.follow({ toolTurns: 0, call: { name: "Read", input: {} }, deltas, words: prose });
    const { client } = stage;
    const stop = new AbortController();
    const handle = client.attach(session);
    const after = (await client.session(session)).seq;
    const ended = (async () => {
      for await (const event of handle.events(after, stop.signal)) {
        if (event.type === "text.delta") onText(event.text);
        if (event.type === "turn.finished") return;
      }
    })();
    await pause(300);
    await meter.page.getByRole("textbox").first().focus();
    const resting = await typeUntil(meter, pause(idleTypingMs));
    await meter.cpuMs();
    const before = await meter.longTasks();
    await handle.submit({ type: "input", content: [{ type: "text", text: "Tell me all." }] });
    const shown = (async () => {
      await ended;
      stop.abort();
      while (!(await hasAll())) await pause(100);
    })();
    const keys = await typeUntil(meter, shown);
    const cpu = await meter.cpuMs();
    const long = (await meter.longTasks()) - before;
    return { cpu: [cpu], long: [long], keys: [keys], resting: [resting] };
  };
  return {
    name: "streaming",
    floor: {
      name: `a bare page that appends the same text to one node; a fifth of it, its processor time counted ${bareShare} times`,
      run: async () => {
        const { id } = await stage.session(wish);
        const meter = await openMeter(stage.browser, stage.stranger);
        await meter.page.goto(stage.bare.url);
        let sent = 0;
        const readAll = async (): Promise<boolean> =>
          (await meter.page.evaluate<number>("window.received")) === sent;
        const tell = (text: string): void => {
          sent += 1;
          stage.bare.say(`+${text}`);
        };
        const few = deltas / bareShare;
        const samples = await converse(id, meter, few, tell, readAll);
        if (sent < few * 0.9) throw new Error(`Only ${sent} deltas were told.`);
        await meter.close();
        // Long tasks are not counted up: a bare page that has more of them would make ours look better.
        return { ...samples, cpu: (samples["cpu"] ?? []).map((each) => each * bareShare) };
      },
    },
    keel: {
      name: "keel",
      run: async () => {
        const { id, path: address } = await stage.session(wish);
        const meter = await openMeter(stage.browser, stage.visitor);
        await meter.page.goto(stage.url + address);
        await meter.page.locator("[data-row]").first().waitFor();
        await pause(1_000);
        let shown = 0;
        const count = (): void => {
          shown += 1;
        };
        const stop = meter.page.getByRole("button", { name: "Interrupt" });
        const samples = await converse(id, meter, deltas, count, async () => (await stop.count()) === 0);
        if (shown < deltas * 0.9) throw new Error(`Only ${shown} deltas were told.`);
        await meter.close();
        return samples;
      },
    },
    figures: [
      { key: "cpu", name: `${what}: processor time`, unit: "ms", goal: { kind: "ratio", most: 4 } },
      { key: "long", name: `${what}: tasks over 50 ms`, unit: "tasks", goal: { kind: "beyond", most: 2 } },
      { key: "keys", name: `${what}: key to paint, p95`, unit: "ms", goal: { kind: "value", most: 50 } },
      { key: "resting", name: "the same page at rest: key to paint, p95", unit: "ms" },
    ],
  };
}

/** Written when it is first needed, and shown until the browser keeps it. */
function visitedOnce(stage: ConsoleStage, wish: SessionWish): () => Promise<WrittenSession> {
  return once(async () => {
    const written = await stage.session(wish);
    await visit(stage, written);
    return written;
  });
}

async function visit(stage: ConsoleStage, session: WrittenSession): Promise<void> {
  const page = await stage.visitor.newPage();
  page.setDefaultTimeout(300_000);
  await page.goto(stage.url + session.path);
  await page.locator("[data-row]").first().waitFor();
  while ((await page.evaluate<number>(keptSeq(session.id))) < session.seq) await pause(250);
  await page.close();
}

/** How far the browser has it. */
const keptSeq = (session: string): string => `new Promise((resolve, reject) => {
  const opening = indexedDB.open("keel");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const found = opening.result.transaction("sessions").objectStore("sessions").get("${session}");
    found.onerror = () => reject(found.error);
    found.onsuccess = () => {
      opening.result.close();
      resolve(found.result?.seq ?? 0);
    };
  };
})`;

/** Time to the first row on the screen, then what the page holds once it has read everything. */
async function shownFromStore(
  stage: ConsoleStage,
  { path: address, turns }: WrittenSession,
  restMs: number,
): Promise<Samples> {
  const meter = await openMeter(stage.browser, stage.visitor, { first: "[data-row]" });
  await meter.page.goto(stage.url + address, { waitUntil: "commit" });
  const paint = await meter.firstMs();
  await pause(restMs);
  const samples = {
    paint: [paint],
    heap: [await meter.heapMb()],
    nodes: [await meter.nodes()],
    jump: [await jumpMs(meter, turns, 2 * restMs)],
  };
  await meter.close();
  return samples;
}

/** To messages all over the conversation: the slowest of ten, until the row is on the screen or nobody waits longer. */
async function jumpMs({ page }: Meter, turns: number, mostMs: number): Promise<number> {
  const times: number[] = [];
  for (let done = 0; done < 10; done++) {
    const row = `input-${1 + ((done * 37) % turns)}`;
    const ms = await page.evaluate<number>(`new Promise((resolve) => {
      const startedAt = performance.now();
      location.hash = "#${row}";
      const look = () => {
        const place = document.querySelector('[data-row="${row}"]')?.getBoundingClientRect();
        const isThere = place && place.bottom > 0 && place.top < innerHeight;
        const ms = performance.now() - startedAt;
        if (isThere || ms > ${mostMs}) resolve(ms);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    })`);
    times.push(ms);
  }
  return Math.max(...times);
}

function firstPaint({ counts }: Bench, stage: ConsoleStage): Contest {
  const few = { events: 20 * eventsPerRow * 0.6, resultBytes: 64 };
  const many = { events: counts.consoleRows * eventsPerRow * 0.6, resultBytes: 64 };
  const short = visitedOnce(stage, few);
  const long = visitedOnce(stage, many);
  const what = `${said(counts.consoleRows)} rows from the browser's store`;
  return {
    name: "first paint",
    floor: {
      name: "the same page with 20 rows",
      run: async () => shownFromStore(stage, await short(), counts.consoleRestMs),
    },
    keel: { name: "keel", run: async () => shownFromStore(stage, await long(), counts.consoleRestMs) },
    figures: [
      { key: "paint", name: `${what}: first row painted`, unit: "ms", goal: { kind: "ratio", most: 2 } },
      { key: "heap", name: `${what}: memory`, unit: "MB", goal: { kind: "value", most: 150 } },
      { key: "nodes", name: `${what}: nodes`, unit: "nodes", goal: { kind: "value", most: 3_000 } },
    ],
  };
}

/** A browser that has nothing of it: the end is to be there before the rest. */
function neverSeen({ counts }: Bench, stage: ConsoleStage): Contest {
  const { consoleEvents: events, consoleBytes } = counts;
  const many = { events, resultBytes: Math.round((consoleBytes * eventsPerRow) / events / 2) };
  const few = { events: 20 * eventsPerRow * 0.6, resultBytes: 64 };
  // The server has looked at it for its list before anybody comes.
  const settled = async (wish: SessionWish): Promise<WrittenSession> => {
    const written = await stage.session(wish);
    await pause(counts.consoleRestMs);
    return written;
  };
  const short = once(() => settled(few));
  const big = once(() => settled(many));
  const what = `${said(events / 2)} messages, ${Math.round(consoleBytes / 1e6)} MB, never seen before`;
  const shown = async ({ id, seq, path: address }: WrittenSession): Promise<Samples> => {
    const newcomer = await stage.newcomer();
    const meter = await openMeter(stage.browser, newcomer, { first: "[data-row]" });
    await meter.page.goto(stage.url + address, { waitUntil: "commit" });
    const startedAt = performance.now();
    const paint = await meter.firstMs();
    while ((await meter.page.evaluate<number>(keptSeq(id))) < seq) await pause(100);
    const all = performance.now() - startedAt;
    const long = await meter.longTasks();
    await meter.close();
    await newcomer.close();
    return { paint: [paint], all: [all], long: [long] };
  };
  return {
    name: "never seen",
    floor: { name: "the same page with 20 rows", run: async () => shown(await short()) },
    keel: { name: "keel", run: async () => shown(await big()) },
    figures: [
      {
        key: "paint",
        name: `${what}: last screen painted`,
        unit: "ms",
        goal: { kind: "value", most: 1_000 },
      },
      { key: "all", name: `${what}: all of it read and kept`, unit: "ms" },
      { key: "long", name: `${what}: tasks over 50 ms until then`, unit: "tasks" },
    ],
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function bigHistory({ counts }: Bench, stage: ConsoleStage): Contest {
  const { consoleEvents: events, consoleBytes } = counts;
  const few = { events: 20 * eventsPerRow * 0.6, resultBytes: 64 };
  // Each result stands in its event twice, and each fourth event is one.
  const many = { events, resultBytes: Math.round((consoleBytes * eventsPerRow) / events / 2) };
  const short = visitedOnce(stage, few);
  const big = visitedOnce(stage, many);
  const what = `${said(events / 2)} messages, ${Math.round(consoleBytes / 1e6)} MB`;
  return {
    name: "big history",
    floor: {
      name: "the same page with 20 rows",
      run: async () => shownFromStore(stage, await short(), counts.consoleRestMs),
    },
    keel: { name: "keel", run: async () => shownFromStore(stage, await big(), counts.consoleRestMs) },
    figures: [
      {
        key: "paint",
        name: `${what}: last screen painted`,
        unit: "ms",
        goal: { kind: "value", most: 1_000 },
      },
      { key: "nodes", name: `${what}: nodes`, unit: "nodes", goal: { kind: "value", most: 3_000 } },
      { key: "heap", name: `${what}: memory`, unit: "MB", goal: { kind: "value", most: 150 } },
      { key: "jump", name: `${what}: jump to a message`, unit: "ms", goal: { kind: "value", most: 300 } },
    ],
  };
}

function overview({ counts }: Bench, stage: ConsoleStage): Contest {
  const { consoleWorkspaces: workspaces, consoleSeconds: seconds } = counts;
  let made: Promise<string[]> | undefined;
  const makeAll = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let number = 0; number < workspaces; number++) {
      const { id } = await stage.client.workspaces.createWorkspace({
        cwd: stage.cwd,
        title: `Workspace ${number}`,
        workers: [{ kind: "agent" }],
      });
      ids.push(id);
    }
    return ids;
  };
  const perSecond = 10;
  /** Ten changes in each second, for as long as it is watched. */
  const change = async (meter: Meter, make: (at: number) => Promise<void>): Promise<Samples> => {
    await pause(counts.consoleRestMs);
    await meter.cpuMs();
    const startedAt = performance.now();
    for (let done = 0; done < seconds * perSecond; done++) {
      await make(done);
      await pause(Math.max(0, startedAt + (done + 1) * (1_000 / perSecond) - performance.now()));
    }
    const cpu = await meter.cpuMs();
    await meter.close();
    return { cpu: [cpu] };
  };
  /** Another one each time, also in the next round: what stays the same is not drawn. */
  let changes = 0;
  const titleAt = (done: number): string => `Changed ${done} ${changes++}`;
  return {
    name: "overview",
    floor: {
      name: "a bare page that sets ten text nodes a second",
      run: async () => {
        const meter = await openMeter(stage.browser, stage.stranger);
        await meter.page.goto(`${stage.bare.url}/?lines=${workspaces}`);
        return change(meter, async (done) => stage.bare.say(`${(done * 7) % workspaces} ${titleAt(done)}`));
      },
    },
    keel: {
      name: "keel",
      run: async () => {
        made ??= makeAll();
        const ids = await made;
        const meter = await openMeter(stage.browser, stage.visitor);
        await meter.page.goto(stage.url);
        await meter.page.getByRole("main").getByRole("listitem").first().waitFor();
        return change(meter, async (done) => {
          const workspace = ids[(done * 7) % workspaces] ?? "";
          await stage.client.workspaces.changeWorkspace({ workspace, title: titleAt(done) });
        });
      },
    },
    figures: [
      {
        key: "cpu",
        name: `${workspaces} workspaces, ten changes a second for ${seconds} s: processor time`,
        unit: "ms",
        goal: { kind: "ratio", most: 1.5 },
      },
    ],
  };
}

const built = path.resolve(import.meta.dirname, "../../keel/dist/web");

function firstLoad(stage: ConsoleStage): Contest {
  const packed = (bytes: Buffer | string): number => gzipSync(bytes, { level: 9 }).length / 1_000;
  return {
    name: "first load",
    floor: { name: "the bare page", run: async () => ({ bytes: [packed(barePage(0))] }) },
    keel: {
      name: "keel",
      run: async () => {
        const fresh = await stage.browser.newContext();
        const page = await fresh.newPage();
        const asked = new Set<string>();
        page.on("request", (request) => asked.add(new URL(request.url()).pathname));
        await page.goto(await stage.client.devices.link());
        await page.getByRole("main").waitFor();
        await pause(300);
        await fresh.close();
        const files = [...asked].filter((name) => name.startsWith("/assets/"));
        const bytes = files.reduce((sum, name) => sum + packed(readFileSync(path.join(built, name))), 0);
        return { bytes: [bytes] };
      },
    },
    figures: [{ key: "bytes", name: "first visit, packed", unit: "kB", goal: { kind: "value", most: 130 } }],
  };
}
