/** Workers that are no conversation, in a real browser: a program that never stops talking, and very many changed files. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { openMeter } from "../console/meter.ts";
import type { ConsoleStage } from "../console/stage.ts";
import type { Contest, Samples } from "../measure.ts";
import { type Bench, megabytes } from "./suite.ts";

/** What the server holds now. */
const heldMb = ({ pid }: ConsoleStage): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;

/** The most that it holds beyond what it held before, while something goes on. */
async function grownMb<T>(stage: ConsoleStage, work: () => Promise<T>): Promise<{ grown: number; done: T }> {
  const before = heldMb(stage);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, heldMb(stage));
  }, 100);
  try {
    return { done: await work(), grown: Math.max(most, heldMb(stage)) - before };
  } finally {
    clearInterval(watch);
  }
}

/** From a key to words on the screen, both by the page's own clock. */
async function untilShown(page: Page, words: string, key: string): Promise<number> {
  await page.evaluate(`void (window.shown = new Promise((resolve, reject) => {
    let from;
    setTimeout(() => reject(new Error("It was never shown.")), 20_000);
    addEventListener("keydown", () => { from ??= performance.now(); }, { capture: true });
    const look = () => {
      const rows = [...document.querySelectorAll(".xterm-rows > div")].map((row) => row.textContent);
      if (from !== undefined && rows.some((row) => row.includes(${JSON.stringify(words)})))
        requestAnimationFrame(() => resolve(performance.now() - from));
      else requestAnimationFrame(look);
    };
    look();
  }))`);
  await page.keyboard.press(key);
  return page.evaluate<number>("window.shown");
}

export function terminal({ counts }: Bench, stage: ConsoleStage): Contest {
  const seconds = 3 * counts.consoleSeconds;
  /** A program that is begun by Enter and runs until it is told to end; then its shell says so. */
  const interrupted = async (program: string): Promise<Samples> => {
    const script = `trap : INT; read begin; ${program}; printf 'over-and-%s\\n' out; cat`;
    const workspace = await stage.client.workspaces.createWorkspace({
      cwd: stage.cwd,
      title: program,
      workers: [{ kind: "terminal", command: ["sh", "-c", script] }],
    });
    const page = await stage.visitor.newPage();
    await page.goto(`${stage.url}/workspaces/${workspace.id}`);
    const field = page.getByRole("textbox");
    await field.waitFor({ state: "attached" });
    await field.focus();
    await pause(1_000);
    const { grown, done } = await grownMb(stage, async () => {
      await page.keyboard.press("Enter");
      await pause(seconds * 1_000);
      return untilShown(page, "over-and-out", "Control+c");
    });
    await page.close();
    await stage.client.workspaces.deleteWorkspace({ workspace: workspace.id });
    return { memory: [grown], stop: [done] };
  };
  return {
    name: "terminal",
    floor: { name: "the same with a program that says nothing", run: () => interrupted("sleep 1000") },
    keel: { name: "keel", run: () => interrupted("yes") },
    figures: [
      {
        key: "memory",
        name: `\`yes\` in a terminal for ${seconds} s: memory of the server beyond what it had`,
        unit: "MB",
        goal: { kind: "value", most: 64 },
      },
      {
        key: "stop",
        name: "then Ctrl-C, until the page shows that it has ended",
        unit: "ms",
        goal: { kind: "value", most: 500 },
      },
    ],
  };
}

const run = promisify(execFile);

/** A commit, and behind it a changed line in each of its files and one big new file. */
async function changedTree(
  folder: string,
  { files, bytes }: { files: number; bytes: number },
): Promise<void> {
  const git = (...words: string[]) =>
    run("git", ["-c", "user.name=a", "-c", "user.email=a@a", ...words], { cwd: folder });
  const perFolder = 25;
  const write = async (text: (number: number) => string): Promise<void> => {
    for (let number = 0; number < files; number += perFolder) {
      const place = path.join(folder, `folder-${number / perFolder}`);
      await mkdir(place, { recursive: true });
      for (let at = number; at < Math.min(files, number + perFolder); at++)
        await writeFile(path.join(place, `file-${at}.txt`), text(at));
    }
  };
  await git("init", "-q");
  await write((number) => `one\ntwo of ${number}\nthree\n`);
  await git("add", ".");
  await git("commit", "-qm", "first");
  await write((number) => `one\ntwo of ${number}, changed\nthree\n`);
  await writeFile(
    path.join(folder, "big.txt"),
    "A line of a big file that nobody wants to see as a whole.\n".repeat(bytes / 58),
  );
}

export function changedFiles({ counts, folder }: Bench, stage: ConsoleStage): Contest {
  const { consoleChanges: files, consoleBigFile: bytes } = counts;
  let made: Promise<string> | undefined;
  const tree = (): Promise<string> => {
    made ??= folder().then(async (place) => {
      await changedTree(place, { files, bytes });
      return place;
    });
    return made;
  };
  const what = `${files.toLocaleString("en-US")} changed files and one of ${Math.round(megabytes(bytes))} MB`;
  return {
    name: "changed files",
    floor: {
      name: "git status and git diff --numstat, one after the other",
      run: async () => {
        const cwd = await tree();
        const from = performance.now();
        const most = { cwd, maxBuffer: 2 ** 26 };
        await run("git", ["status", "--porcelain=v2", "-z", "--untracked-files=all"], most);
        const list = performance.now() - from;
        await run("git", ["diff", "--numstat", "-z", "HEAD"], most);
        return { list: [list], counts: [performance.now() - from], memory: [0] };
      },
    },
    keel: {
      name: "keel",
      run: async () => {
        const cwd = await tree();
        const { grown, done } = await grownMb(stage, async () => {
          const workspace = await stage.client.workspaces.createWorkspace({
            cwd,
            title: what,
            workers: [{ kind: "diff" }],
          });
          const meter = await openMeter(stage.browser, stage.visitor, { first: ".changed-file" });
          await meter.page.goto(`${stage.url}/workspaces/${workspace.id}`, { waitUntil: "commit" });
          const from = performance.now();
          const list = await meter.firstMs();
          await meter.page.locator(".changed-file .added").first().waitFor();
          const counts = performance.now() - from;
          await meter.close();
          return { list, counts, workspace };
        });
        await stage.client.workspaces.deleteWorkspace({ workspace: done.workspace.id });
        return { list: [done.list], counts: [done.counts], memory: [grown] };
      },
    },
    figures: [
      {
        key: "list",
        name: `${what}: from the address to the list`,
        unit: "ms",
        goal: { kind: "value", most: 1_000 },
      },
      { key: "counts", name: `${what}: to the lines of each`, unit: "ms" },
      {
        key: "memory",
        name: `${what}: memory of the server beyond what it had`,
        unit: "MB",
        goal: { kind: "value", most: 100 },
      },
    ],
  };
}
