/** The LiveTerminals port on real pseudo-terminals: each program ends with its session, and with Keel. */
import headless from "@xterm/headless";
import type { LiveCommand, LiveScreen, LiveTerminal, LiveTerminals } from "../../ports/live-terminals.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import { type ProgramExit, startInPty } from "./pty-program.ts";

/** Lines above the screen: nobody reads them here, and a program may print for ever. */
const scrollback = 200;
/** What is kept of a line that is being typed. */
const maxLine = 10_000;

export function nodeLiveTerminals({
  env,
  guard,
}: {
  readonly env: ProcessEnvironment;
  readonly guard: () => Promise<ProcessGuard>;
}): LiveTerminals {
  const open = new Map<string, LiveTerminal>();
  let count = 0;
  return {
    async start(command) {
      count += 1;
      const terminal = await startLive(`terminal-${count}`, command, { env, guard: await guard() });
      open.set(terminal.id, terminal);
      return terminal;
    },
    find: (id) => open.get(id),
    list: () => [...open.values()],
    async close() {
      await Promise.all([...open.values()].map((terminal) => terminal.end()));
      open.clear();
    },
  };
}

async function startLive(
  id: string,
  { text, cwd, columns, rows }: LiveCommand,
  around: { readonly env: ProcessEnvironment; readonly guard: ProcessGuard },
): Promise<LiveTerminal> {
  const screen = new headless.Terminal({
    cols: columns,
    rows,
    scrollback,
    allowProposedApi: true,
    logLevel: "off",
  });
  const waiting = new Set<() => void>();
  const rouse = (): void => {
    for (const wake of waiting) wake();
    waiting.clear();
  };
  let exit: ProgramExit | undefined;
  let line = "";
  const program = await startInPty(
    { file: "/bin/sh", args: ["-c", text], cwd, env: around.env, keys: "withheld", columns, rows },
    { guard: around.guard, heard: (heard) => screen.write(heard, rouse) },
  );
  // What the terminal answers to questions of the program.
  const answers = screen.onData((keys) => program.write(keys));
  void program.exit.then((ended) => {
    exit = ended;
    answers.dispose();
    rouse();
  });
  return {
    id,
    command: text,
    get line() {
      return line;
    },
    type(keys) {
      if (exit) return false;
      line =
        `${line}${keys}`
          .split(/[\r\n]/)
          .at(-1)
          ?.slice(-maxLine) ?? "";
      program.write(keys);
      return true;
    },
    screen: () =>
      new Promise((resolve) => {
        screen.write("", () => resolve(shownOn(screen)));
      }),
    async changed(signal) {
      if (exit || signal.aborted) return;
      await new Promise<void>((resolve) => {
        waiting.add(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
    exit: () => exit,
    async end() {
      await program.end();
      await program.exit;
    },
  };
}

function shownOn({ buffer: { active }, rows }: InstanceType<typeof headless.Terminal>): LiveScreen {
  const lines = Array.from(
    { length: rows },
    (_, at) => active.getLine(active.baseY + at)?.translateToString(true) ?? "",
  );
  const last = lines.findLastIndex((text) => text !== "");
  return {
    rows: lines.slice(0, last + 1),
    cursor: { row: active.cursorY + 1, column: active.cursorX + 1 },
    isFull: active.type === "alternate",
  };
}
