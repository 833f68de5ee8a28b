// A real program in a real PTY, with a headless terminal that shows what a person would see.

import { setTimeout as pause } from "node:timers/promises";
import pty from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { patienceMs } from "../support/budget.ts";
import { type FrameWatch, watchFrames } from "./law.ts";

export type ScreenOptions = {
  readonly command: string;
  readonly parameters?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
};

export type SeenLine = {
  /** The whole line, as somebody would copy it: what the terminal broke is joined. */
  readonly text: string;
  /** How many rows it takes. */
  readonly rows: number;
};

export type Screen = {
  readonly terminal: InstanceType<typeof xterm.Terminal>;
  readonly pid: number;
  /** Every byte that was written, and in which pieces. */
  readonly written: string[];
  /** Looks at every frame for the law of the screen. */
  readonly watch: FrameWatch;
  /** When each piece came. */
  readonly times: number[];
  type(text: string): void;
  /** Bytes as they are: a sign may be cut in two. */
  send(bytes: Buffer): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** The same while the program is held and nothing of it is under way: no frame was made for another size. */
  resizeStill(columns: number, rows: number): Promise<void>;
  /** Everything: what scrolled away, and what is seen. */
  lines(): SeenLine[];
  text(): string;
  /** The rows that are seen now. */
  rows(): string[];
  until(what: string, condition: (screen: Screen) => boolean): Promise<void>;
  /** Nothing was written for a while. */
  settled(ms?: number): Promise<void>;
  kill(signal?: string): void;
  readonly ended: Promise<{ code: number; signal: number | undefined }>;
};

export function openScreen(options: ScreenOptions): Screen {
  const { columns = 80, rows = 24 } = options;
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 200_000, allowProposedApi: true });
  const child = pty.spawn(options.command, [...(options.parameters ?? [])], {
    cols: columns,
    rows,
    cwd: options.cwd,
    env: Object.fromEntries(
      Object.entries({ TERM: "xterm-256color", LANG: "C.UTF-8", ...options.env }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    ),
  });
  const watch = watchFrames(terminal);
  const written: string[] = [];
  const times: number[] = [];
  let pending = 0;
  child.onData((data) => {
    written.push(data);
    times.push(performance.now());
    pending++;
    terminal.write(data, () => pending--);
  });
  // The terminal's answers to questions of the program.
  terminal.onData((data) => child.write(data));
  let isOver = false;
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) =>
    child.onExit(({ exitCode, signal }) => {
      isOver = true;
      resolve({ code: exitCode, signal });
    }),
  );
  const screen: Screen = {
    terminal,
    pid: child.pid,
    written,
    watch,
    times,
    type: (text) => child.write(text),
    // It takes bytes too, and only its types do not say so.
    send: (bytes) => child.write(bytes as unknown as string),
    paste: (text) => child.write(`\u001b[200~${text}\u001b[201~`),
    resize(width, height) {
      terminal.resize(width, height);
      child.resize(width, height);
    },
    async resizeStill(width, height) {
      process.kill(-child.pid, "SIGSTOP");
      try {
        await screen.settled(25);
        screen.resize(width, height);
      } finally {
        process.kill(-child.pid, "SIGCONT");
      }
    },
    lines: () => linesOf(terminal),
    text: () =>
      linesOf(terminal)
        .map(({ text }) => text)
        .join("\n"),
    rows() {
      const { active } = terminal.buffer;
      return Array.from(
        { length: terminal.rows },
        (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
      );
    },
    async until(what, condition) {
      const deadline = performance.now() + patienceMs;
      while (pending > 0 || !condition(screen)) {
        if (performance.now() > deadline)
          throw new Error(`waited in vain: ${what}\n${screen.rows().join("\n")}`);
        await pause(10);
      }
    },
    async settled(ms = 150) {
      let before = -1;
      while (before !== written.length || pending > 0) {
        before = written.length;
        await pause(ms);
      }
    },
    kill(signal) {
      if (!isOver) child.kill(signal);
    },
    ended,
  };
  return screen;
}

function linesOf(terminal: Screen["terminal"]): SeenLine[] {
  const { active } = terminal.buffer;
  const lines: { text: string; rows: number }[] = [];
  for (let row = 0; row < active.length; row++) {
    const line = active.getLine(row);
    if (!line) continue;
    const last = lines.at(-1);
    // The row before was filled to its edge: nothing of it is trimmed.
    const text = line.translateToString(false);
    if (line.isWrapped && last) {
      last.text += text;
      last.rows++;
    } else lines.push({ text, rows: 1 });
  }
  const trimmed = lines.map(({ text, rows }) => ({ text: text.trimEnd(), rows }));
  while (trimmed.at(-1)?.text === "") trimmed.pop();
  return trimmed;
}
