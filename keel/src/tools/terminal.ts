/** Terminal: an interactive program on a terminal of its own: started, typed into, read, waited for, ended. */
import * as z from "zod/mini";
import { childOf } from "../kernel/abort.ts";
import type { LiveScreen, LiveTerminal, LiveTerminals } from "../ports/live-terminals.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { Claim } from "../protocol/tool.ts";
import { builtInTool, failure, numberField, said, textField } from "./built-in.ts";

const second = 1_000;
const defaultWaitMs = 10 * second;
const maxWaitMs = 300 * second;
/** A program that was just told something is given this long to answer before its screen is read. */
const settleMs = 300;
const maxOpen = 8;
const maxKeys = 20_000;
const defaultSize = { columns: 100, rows: 30 };

const actions = ["start", "send", "read", "wait", "stop"] as const;

const input = z.object({
  action: z.enum(actions).check(z.describe("What to do.")),
  terminal: z.optional(textField("The terminal's id, as `start` returned it; for all but `start`.")),
  command: z.optional(textField("For `start`: the command.")),
  text: z.optional(
    textField(
      "For `send`: what to type, as it is. For `wait`: the text to wait for on the screen; without one, until it ends.",
    ),
  ),
  keys: z.optional(
    z
      .array(z.string())
      .check(
        z.describe(
          "For `send`, after `text`: Enter, Tab, Escape, Backspace, Up, Down, Left, Right, PageUp, PageDown, Home, End, Ctrl-A to Ctrl-Z.",
        ),
      ),
  ),
  timeout: numberField(`For \`wait\`: milliseconds; default ${defaultWaitMs}.`, z.gte(1), z.lte(maxWaitMs)),
  columns: numberField("For `start`: the width; default 100.", z.gte(20), z.lte(300)),
  rows: numberField("For `start`: the height; default 30.", z.gte(5), z.lte(100)),
});
type TerminalCall = z.infer<typeof input>;

export const terminalTool = (terminals: LiveTerminals) =>
  builtInTool({
    name: "Terminal",
    family: "shell",
    description: `Runs an interactive program (an editor, a REPL, a debugger, a pager, a program that asks for something) on a terminal of its own. \`start\` a command, \`send\` text and keys, \`read\` the screen, \`wait\` for a text on it, \`stop\` it. Each returns the screen as it is then. What runs by itself is better run with Bash. Never type a password that the user has not given you for this.`,
    input,
    traits: ({ action }) => (isLook(action) ? { readOnly: true, concurrent: true } : {}),
    claims: async (given) => claimsOf(given, terminals),
    check: async (given) => whyNot(given, terminals),
    run: async function* (given, context, signal) {
      const { action } = given;
      if (action === "start") return startOne(given, terminals, context);
      const terminal = terminals.find(given.terminal ?? "");
      if (!terminal) return failure(`There is no terminal ${given.terminal}.`);
      switch (action) {
        case "send":
          if (!terminal.type(typed(given))) return outcomeOf(terminal, "It has ended: nothing was typed.");
          await settled(terminal, context, signal);
          return outcomeOf(terminal);
        case "wait":
          return waitFor(terminal, given, context, signal);
        case "stop":
          await terminal.end();
          return outcomeOf(terminal);
        default:
          return outcomeOf(terminal);
      }
    },
  });

const isLook = (action: TerminalCall["action"]): boolean => action === "read" || action === "wait";

/**
 * What is typed may be a command to a shell: rules that forbid it hold for the line as it stands then. It may as well be
 * anything else, in a program that nobody has judged: so it is asked about each time, unless a rule says that typing may be.
 */
function claimsOf(
  { action, command = "", terminal = "", text = "", keys = [] }: TerminalCall,
  terminals: LiveTerminals,
): Claim[] {
  if (action === "start") return [{ action: "execute", target: command }];
  if (action !== "send") return [];
  const line = `${terminals.find(terminal)?.line ?? ""}${text}`.trim();
  const typing: Claim = {
    action: "execute",
    target: `type-into ${terminal} ${JSON.stringify([text, ...keys].join(" "))}`,
  };
  return line === "" ? [typing] : [{ action: "execute", target: line }, typing];
}

function whyNot(given: TerminalCall, terminals: LiveTerminals): string | undefined {
  const { action, command, terminal, text, keys = [] } = given;
  if (action === "start") {
    if (!command || command.trim() === "") return "`start` needs a command.";
    if (command.includes("\0") || !command.isWellFormed()) return "The command is not valid text.";
    const running = terminals.list().filter((one) => !one.exit());
    return running.length >= maxOpen ? `${maxOpen} terminals are open already. Stop some.` : undefined;
  }
  const known = terminals.list().map(({ id }) => id);
  if (!terminal || !terminals.find(terminal))
    return `There is no terminal ${terminal ?? "without an id"}. ${known.length === 0 ? "There are none." : `There are: ${known.join(", ")}.`}`;
  if (action !== "send") return undefined;
  const odd = keys.filter((key) => keyCode(key) === undefined);
  if (odd.length > 0) return `There is no key ${odd.join(", ")}.`;
  if (!text && keys.length === 0) return "`send` needs text or keys.";
  return (text ?? "").length > maxKeys ? `At most ${maxKeys} characters can be typed at once.` : undefined;
}

async function startOne(
  { command = "", columns = defaultSize.columns, rows = defaultSize.rows }: TerminalCall,
  terminals: LiveTerminals,
  context: ToolContext,
): Promise<ToolOutcome> {
  const terminal = await terminals.start({ text: command, cwd: context.workspace.cwd, columns, rows });
  await settled(terminal, context, new AbortController().signal);
  return outcomeOf(terminal, `Started as ${terminal.id}.`);
}

/** Until nothing more comes for a moment, or that moment has come a few times. */
async function settled(terminal: LiveTerminal, { clock }: ToolContext, signal: AbortSignal): Promise<void> {
  for (let times = 0; times < 5 && !signal.aborted && !terminal.exit(); times++) {
    const { controller, release } = childOf(signal);
    const isQuiet = await Promise.race([
      clock.sleep(settleMs, controller.signal).then(() => true),
      terminal.changed(controller.signal).then(() => false),
    ]);
    controller.abort();
    release();
    if (isQuiet) return;
  }
}

async function waitFor(
  terminal: LiveTerminal,
  { text = "", timeout = defaultWaitMs }: TerminalCall,
  { clock }: ToolContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { controller, release } = childOf(signal);
  const late = clock.sleep(timeout, controller.signal).then(() => controller.abort());
  try {
    for (;;) {
      const shown = await terminal.screen();
      if (text && shown.rows.join("\n").includes(text)) return outcomeOf(terminal, "It is there.");
      if (terminal.exit()) return outcomeOf(terminal, text ? "It ended, and the text did not come." : "");
      if (controller.signal.aborted)
        return outcomeOf(terminal, `It did not come within ${timeout / second} seconds.`);
      await terminal.changed(controller.signal);
    }
  } finally {
    controller.abort();
    release();
    await late.catch(() => undefined);
  }
}

async function outcomeOf(terminal: LiveTerminal, note = ""): Promise<ToolOutcome> {
  const shown = await terminal.screen();
  const exit = terminal.exit();
  const state = exit
    ? `${terminal.id} has ended (${exit.signal ?? `code ${exit.code}`}).`
    : `${terminal.id} runs.`;
  return said([...(note === "" ? [] : [note]), state, sayScreen(shown)].join("\n"));
}

function sayScreen({ rows, cursor, isFull }: LiveScreen): string {
  const where = `The cursor is in row ${cursor.row}, column ${cursor.column}${isFull ? "; the program has the whole screen" : ""}.`;
  return rows.length === 0 ? `The screen is empty. ${where}` : `${where}\n\n${rows.join("\n")}`;
}

const typed = ({ text = "", keys = [] }: TerminalCall): string =>
  [text, ...keys.map((key) => keyCode(key) ?? "")].join("");

const codes: Readonly<Record<string, string>> = {
  Enter: "\r",
  Tab: "\t",
  Escape: "\u001b",
  Backspace: "\u007f",
  Up: "\u001b[A",
  Down: "\u001b[B",
  Right: "\u001b[C",
  Left: "\u001b[D",
  PageUp: "\u001b[5~",
  PageDown: "\u001b[6~",
  Home: "\u001b[H",
  End: "\u001b[F",
};

function keyCode(key: string): string | undefined {
  const [, letter] = /^Ctrl-([A-Za-z])$/.exec(key) ?? [];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64);
  return Object.hasOwn(codes, key) ? codes[key] : undefined;
}
