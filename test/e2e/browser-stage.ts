// A server with the scripted model behind it, and a browser that is let in by its link.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import type { NewWorker, WorkspaceEntry } from "../../keel/src/protocol/workspace.ts";
import type { Asked } from "../../keel/src/testing/answers.ts";
import type { ModelServerOptions } from "../../keel/src/testing/model-server.ts";
import { byPosition } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { openPage, type PageNotes } from "../support/browser.ts";
import { command, type LoggedEvent, openStage, type Stage } from "./stage.ts";

export type Served = {
  readonly url: string;
  readonly link: string;
  readonly pid: number;
  kill(): Promise<void>;
};

export type BrowserStage = Stage & {
  /** At the port that it had before, where it had one. */
  serve(...flags: readonly string[]): Promise<Served>;
  /** With other things in its environment, or without them. */
  serveWith(env: Readonly<Record<string, string | undefined>>): Promise<Served>;
  client(served: Served): Promise<KeelClient>;
  /** For one more browser. */
  newLink(served: Served): Promise<string>;
  /** A visitor whom nobody let in. */
  stranger(): Promise<{ readonly page: Page; readonly notes: PageNotes }>;
  /** A visitor of its own, let in. */
  visit(
    served: Served,
    options?: BrowserContextOptions,
  ): Promise<{ readonly page: Page; readonly notes: PageNotes }>;
};

export async function openBrowserStage(
  browser: Browser,
  replies: readonly Reply[] | ((project: string, asked: Asked, request: unknown) => readonly Reply[]),
): Promise<BrowserStage> {
  let project = "";
  const script: ModelServerOptions["script"] = (request, asked) =>
    byPosition(typeof replies === "function" ? replies(project, asked, request) : replies)(request, asked);
  const stage = await openStage(script, { law: "none" });
  project = stage.project;
  const client = async ({ url }: Served): Promise<KeelClient> => {
    const secret = (await readFile(`${stage.home}/server/secret`, "utf8")).trim();
    const made = connect({ url, secret });
    onTestFinished(() => made.close());
    return made;
  };
  let port = "0";
  const start = async (
    flags: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<Served> => {
    const child = spawn(command, ["serve", "--port", port, "--json", ...flags], {
      cwd: stage.project,
      env: { PATH: process.env["PATH"], ...stage.env, ANTHROPIC_API_KEY: "none", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface({ input: child.stdout })) {
      const { url, link, pid } = JSON.parse(line) as { url: string; link: string; pid: number };
      port = new URL(url).port;
      return {
        url,
        link,
        pid,
        async kill() {
          child.kill("SIGKILL");
          await ended;
        },
      };
    }
    throw new Error("the server said nothing");
  };
  return {
    ...stage,
    serve: (...flags) => start(flags, {}),
    serveWith: (env) => start([], env),
    client,
    newLink: async (served) => (await client(served)).devices.link(),
    stranger: () => openPage(browser),
    async visit({ link }, options) {
      const visitor = await openPage(browser, options);
      await visitor.page.goto(link);
      return visitor;
    },
  };
}

/** The page, asked through its own words. */
export const say = async (page: Page, text: string): Promise<void> => {
  const field = page.getByRole("textbox", { name: /Message to the agent/ });
  await field.fill(text);
  await field.press("Enter");
};

/** A workspace with an agent, open in a browser. */
export async function startWork(
  stage: BrowserStage,
  served: Served,
  { workers = [{ kind: "agent" }], ...options }: BrowserContextOptions & { workers?: NewWorker[] } = {},
): Promise<{ readonly page: Page; readonly notes: PageNotes; readonly workspace: WorkspaceEntry }> {
  const made = await (await stage.client(served)).workspaces.createWorkspace({
    cwd: stage.project,
    title: "Work",
    workers,
  });
  const visitor = await stage.visit(served, options);
  await visitor.page.goto(`${served.url}/workspaces/${made.id}`);
  return { ...visitor, workspace: made };
}

/** How many events the browser keeps. */
export const keptEvents = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("keel");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const counting = opening.result.transaction("events").objectStore("events").count();
      counting.onerror = () => reject(counting.error);
      counting.onsuccess = () => {
        opening.result.close();
        resolve(counting.result);
      };
    };
  })`);

/** The events that the browser keeps of its only session, in order. */
export const keptLog = (page: Page): Promise<LoggedEvent[]> =>
  page.evaluate<LoggedEvent[]>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("keel");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const reading = opening.result.transaction("events").objectStore("events").getAll();
      reading.onerror = () => reject(reading.error);
      reading.onsuccess = () => {
        opening.result.close();
        resolve(reading.result);
      };
    };
  })`);
