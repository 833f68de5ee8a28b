// A project, a home and a scripted model, with the built command on a terminal in between. Every screen is held to the
// law of the screen when its test ends, without a word of the test.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../keel/src/testing/model-server.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { expectFrames, expectPrinted } from "./law.ts";
import { openScreen, type Screen, type ScreenOptions } from "./screen.ts";

const root = path.resolve(import.meta.dirname, "../..");
export const command: string = path.join(root, "node_modules/.bin/keel");

export type ScreenStage = {
  readonly folder: string;
  readonly project: string;
  readonly home: string;
  readonly server: ModelServer;
  readonly env: Record<string, string | undefined>;
  /** The command on a terminal. When the test ends it is ended too, and held to the law of the screen. */
  open(parameters?: readonly string[], more?: Partial<ScreenOptions> & LawOptions): Screen;
  /** The newest session's log. */
  log(): Promise<Durable[]>;
};

/** Gone with the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-tui-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type LawOptions = {
  /** What this screen tells beside its log, such as notices. */
  readonly live?: readonly RegExp[] | undefined;
  /** Why what it prints is not held to the newest log; its frames always are to the law. */
  readonly unlogged?: string | undefined;
};

/** A screen that is told to end has gone by then. */
const endMs = 10_000;

export async function openScreenStage(
  script: Script | ModelServerOptions["script"],
  options: Partial<ModelServerOptions> = {},
): Promise<ScreenStage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-tui-")));
  const project = path.join(folder, "project");
  const home = path.join(folder, "home");
  mkdirSync(project);
  const server = await startModelServer({ script, ...options });
  const open: Opened[] = [];
  onTestFinished(async ({ task }) => {
    try {
      if (task.result?.state !== "fail") for (const one of open) await holdToLaw(one, { project, folder });
    } finally {
      for (const { screen } of open) screen.kill("SIGKILL");
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    PWD: project,
    KEEL_HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test-key-that-is-none",
    KEEL_MODEL: "claude-haiku-4-5",
    IS_SANDBOX: "1",
  };
  async function log(): Promise<Durable[]> {
    const kept = openHome({ cwd: project, env });
    const [newest] = await kept.sessions.list({ cwd: project, limit: 1 });
    const events: Durable[] = [];
    if (newest) for await (const event of kept.sessions.read(newest.id)) events.push(event);
    return events;
  }
  return {
    folder,
    project,
    home,
    server,
    env,
    open(parameters = [], more = {}) {
      const [program, ...first] = more.command === undefined ? startedBy() : [more.command];
      const screen = openScreen({
        command: program ?? command,
        parameters: [...first, ...parameters],
        cwd: project,
        columns: more.columns,
        rows: more.rows,
        env: { ...env, ...more.env },
      });
      open.push({
        screen,
        live: more.live,
        unlogged: more.unlogged,
        log: more.unlogged === undefined ? screen.ended.then(log) : Promise.resolve([]),
      });
      return screen;
    },
    log,
  };
}

type Opened = LawOptions & {
  readonly screen: Screen;
  /** As it stood when the screen had gone: a later one may go on with it. */
  readonly log: Promise<readonly Durable[]>;
};

/** What was not ended is ended by a signal: it leaves the terminal as a person would want it to. */
async function holdToLaw(
  { screen, live, unlogged, log }: Opened,
  { project, folder }: Pick<ScreenStage, "project" | "folder">,
): Promise<void> {
  screen.kill("SIGTERM");
  const late = setTimeout(() => screen.kill("SIGKILL"), endMs);
  const { code } = await screen.ended;
  clearTimeout(late);
  await screen.settled(30);
  expectFrames(screen);
  if (unlogged !== undefined) return;
  expectPrinted(screen, await log, { project, folder, live, extent: code === 0 ? "all" : "start" });
}

/** The built command; or its sources, for whoever works on the screen. */
function startedBy(): [string, ...string[]] {
  const source = process.env["KEEL_SCREEN_SOURCE"];
  return source ? [process.execPath, source] : [command];
}

/** Waits for the input of an idle session. */
export const ready = (screen: Screen): Promise<void> =>
  screen.until("the input", ({ rows }) => rows().some((row) => row.includes("type, / commands")));

/** Types it and sends it. */
export function say(screen: Screen, words: string): void {
  screen.type(words);
  screen.type("\r");
}

/** Until the question can be answered. */
export async function asked(screen: Screen, title: string): Promise<void> {
  await screen.until(title, ({ rows }) => rows().some((row) => row.includes(title)));
  await screen.until("keys", ({ rows }) => !rows().some((row) => row.includes("pause typing")));
  await screen.settled(350);
}

/** Ends it as a person does. */
export async function leave(screen: Screen): Promise<void> {
  screen.type("\u0004");
  const { code } = await screen.ended;
  await screen.settled(50);
  expect(code).toBe(0);
}
