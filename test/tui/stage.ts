// A project, a home and a scripted model, with the built command on a terminal in between; and the law of the screen,
// which every test of it ends with.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import type { RowContext } from "../../keel/src/hosts/tui/rows/context.ts";
import { nothingPrinted, takeFinished } from "../../keel/src/hosts/tui/rows/printing.ts";
import { fullSigns } from "../../keel/src/hosts/tui/text/signs.ts";
import { clip, type PrintLine, textOfLine } from "../../keel/src/hosts/tui/text/styled.ts";
import { classicWidths } from "../../keel/src/hosts/tui/text/width.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../keel/src/testing/model-server.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { foldTranscript, noTranscript } from "../../keel/src/view/transcript.ts";
import { openScreen, type Screen, type ScreenOptions } from "./screen.ts";

const root = path.resolve(import.meta.dirname, "../..");
export const command: string = path.join(root, "node_modules/.bin/keel");

export type ScreenStage = {
  readonly folder: string;
  readonly project: string;
  readonly home: string;
  readonly server: ModelServer;
  readonly env: Record<string, string | undefined>;
  /** The command on a terminal; killed when the test ends. */
  open(parameters?: readonly string[], more?: Partial<ScreenOptions>): Screen;
  /** The newest session's log. */
  log(): Promise<Durable[]>;
};

export async function openScreenStage(
  script: Script | ModelServerOptions["script"],
  options: Partial<ModelServerOptions> = {},
): Promise<ScreenStage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-tui-")));
  const project = path.join(folder, "project");
  const home = path.join(folder, "home");
  mkdirSync(project);
  const server = await startModelServer({ script, ...options });
  const open: Screen[] = [];
  onTestFinished(async () => {
    for (const screen of open) screen.kill("SIGKILL");
    await server.close();
    rmSync(folder, { recursive: true, force: true });
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
      open.push(screen);
      return screen;
    },
    async log() {
      const kept = openHome({ cwd: project, env });
      const [newest] = await kept.sessions.list({ cwd: project, limit: 1 });
      const events: Durable[] = [];
      if (newest) for await (const event of kept.sessions.read(newest.id)) events.push(event);
      return events;
    },
  };
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

const squeezed = (text: string): string => text.replace(/ {2,}/g, " ").trim();

/** What of a log is printed, line by line, at a width. */
export function printedOf(
  events: readonly Durable[],
  columns: number,
  more: Partial<RowContext> = {},
): string[] {
  const context: RowContext = {
    columns,
    profile: classicWidths,
    signs: fullSigns,
    links: true,
    marks: false,
    cwd: "/",
    home: "/",
    thinking: "hidden",
    resultRows: 12,
    ...more,
  };
  let transcript = noTranscript;
  let printing = nothingPrinted;
  const lines: PrintLine[] = [];
  for (const event of events) {
    transcript = foldTranscript(transcript, event);
    const taken = takeFinished(transcript, printing, context);
    ({ transcript, printing } = taken);
    lines.push(...taken.lines);
  }
  return lines.map(({ spans, wrap }) =>
    textOfLine(wrap === "cut" ? clip(spans, columns - 2, context) : spans),
  );
}

/**
 * The law of the screen: above the foot stands each finished row exactly once, in order, and nothing else. Checked when
 * the screen is gone. `live`: what was told and is in no log, such as notices.
 */
export function expectLaw(
  screen: Screen,
  events: readonly Durable[],
  { project, folder, live = [] }: Pick<ScreenStage, "project" | "folder"> & { live?: readonly RegExp[] },
): void {
  const seen = screen.lines().map(({ text }) => squeezed(text));
  const expected = printedOf(events, screen.terminal.cols, { cwd: project, home: folder }).map(squeezed);
  const isOurs = (line: string): boolean =>
    /^Keel \d|^Ended\. The session is kept/.test(line) || live.some((one) => one.test(line));
  const found = seen.filter((line) => !isOurs(line));
  expect(withoutEdges(found)).toEqual(withoutEdges(expected));
}

/** Blank lines at the edges belong to what we say ourselves. */
function withoutEdges(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}
