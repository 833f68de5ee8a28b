/** One question on the terminal before there is a session: which one to open, whether to trust, what to do without a key. */
import { actionFor, keyMapOf } from "./input/key-map.ts";
import { decodeKeys, flushKeys, noKeys, settlesIn } from "./input/keys.ts";
import type { Key } from "./input/terminal-input.ts";
import type { RowContext } from "./rows/context.ts";
import { drawPanel } from "./screen/draw-panel.ts";
import type { ScreenEnvironment } from "./screen/host.ts";
import { type ListPanel, type PanelItem, panelKey } from "./screen/panel.ts";
import { fullSigns, signsFor } from "./text/signs.ts";
import { blank, type PrintLine } from "./text/styled.ts";
import { depthFor } from "./text/theme.ts";
import { guessedReflow, guessedWidths } from "./writer/probe.ts";
import { ScreenTerminal, type TerminalPorts } from "./writer/terminal.ts";

export type ChoiceOptions = {
  readonly ports: TerminalPorts;
  readonly env: ScreenEnvironment;
  readonly panel: ListPanel;
  /** What is said above it, and stays. */
  readonly lines?: readonly PrintLine[];
  /** What is known of the marked one, where that takes a while. */
  preview?(item: PanelItem, context: RowContext): Promise<readonly PrintLine[]>;
  readonly signal?: AbortSignal | undefined;
};

export function lookFor(env: ScreenEnvironment) {
  const signs = signsFor(env);
  return {
    theme: { depth: depthFor(env), background: "dark" as const, links: false },
    profile: guessedWidths(signs === fullSigns),
    signs,
    reflow: guessedReflow(env),
    wrap: "words" as const,
  };
}

/** The item that was taken; undefined where the person left, or went away. */
export async function choose(options: ChoiceOptions): Promise<PanelItem | undefined> {
  const { ports, env, lines = [], signal } = options;
  const look = lookFor(env);
  const { map } = keyMapOf();
  const terminal = new ScreenTerminal(ports, { title: false });
  let panel = options.panel;
  let printed: readonly PrintLine[] = lines.length > 0 ? [...lines, blank] : [];
  let keys = noKeys;
  let timer: NodeJS.Timeout | undefined;
  const done = Promise.withResolvers<PanelItem | undefined>();
  const context = (): RowContext => ({
    columns: terminal.size.columns,
    profile: look.profile,
    signs: look.signs,
    links: false,
    marks: look.theme.depth === "none",
    cwd: env["PWD"] ?? "/",
    home: env["HOME"] ?? "/",
    thinking: "hidden",
    resultRows: 12,
  });
  const draw = (): void => {
    const room = Math.max(5, Math.floor(terminal.size.rows / 2));
    terminal.draw({ printed, foot: drawPanel(panel, context(), room), look });
    printed = [];
  };
  const lookUp = async (): Promise<void> => {
    const item = panel.items[panel.marked];
    if (!item || !options.preview) return;
    const found = await options.preview(item, context()).catch(() => []);
    panel = { ...panel, preview: { id: item.id, lines: found } };
    draw();
  };
  const onKey = (key: Key): void => {
    const action = actionFor(map, "panel", key.name);
    if (action === "stop" || (key.name === "ctrl+d" && panel.filter.text === ""))
      return done.resolve(undefined);
    const inner = actionFor(map, "input", key.name) ?? action;
    const before = panel.marked;
    const outcome = panelKey(panel, { action: inner, name: key.name, text: key.text }, 5);
    if (outcome.kind === "closed") return done.resolve(undefined);
    if (outcome.kind === "chosen") return outcome.key === "enter" ? done.resolve(outcome.item) : undefined;
    if (outcome.panel.kind === "list") panel = outcome.panel;
    draw();
    if (panel.marked !== before) void lookUp();
  };
  const hear = ({ state, inputs }: ReturnType<typeof flushKeys>): void => {
    keys = state;
    for (const input of inputs) if (input.kind === "key") onKey(input);
  };
  terminal.enter((bytes) => {
    clearTimeout(timer);
    const now = performance.now();
    hear(decodeKeys(keys, bytes, now));
    const waitMs = settlesIn(keys, now);
    if (waitMs !== undefined) timer = setTimeout(() => hear(flushKeys(keys)), waitMs);
  });
  const stopResize = terminal.onResize(draw);
  signal?.addEventListener("abort", () => done.resolve(undefined), { once: true });
  try {
    draw();
    void lookUp();
    return await done.promise;
  } finally {
    clearTimeout(timer);
    stopResize();
    terminal.leave();
  }
}
