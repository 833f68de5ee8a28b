/** The whole foot from the state: at most half the screen, no row at the edge. What needs the person comes first. */

import { sayDuration } from "../../../view/say.ts";
import { textOfParts } from "../../../view/shown.ts";
import { rowsOf } from "../../../view/transcript.ts";
import type { DrawnPanel } from "../dialog/dialog-look.ts";
import { drawDialog } from "../dialog/draw.ts";
import { inputLines } from "../foot/input-view.ts";
import { liveLines } from "../foot/live.ts";
import { doingLine, statusLine } from "../foot/status.ts";
import { sayKeys } from "../input/key-map.ts";
import { gapBefore } from "../rows/printing.ts";
import { inertOne } from "../text/inert.ts";
import { bold, clip, dim, role, span, type TextLine } from "../text/styled.ts";
import type { Foot, FootPlace } from "../writer/frame.ts";
import { drawPanel, itemRows } from "./draw-panel.ts";
import { isBusy, rowContext, runningWork, type ScreenState, waitingInputs } from "./state.ts";

/** A question is read before it is answered, and not answered by what was meant for the input. */
const readingMs = 300;
const typingMs = 700;

export const footRoom = ({ size }: Pick<ScreenState, "size">): number =>
  Math.max(3, Math.floor(size.rows / 2));

export const dialogHasKeys = ({ dialog, dialogAt, typedAt, now }: ScreenState): boolean =>
  dialog !== null && now - dialogAt >= readingMs && now - typedAt >= typingMs;

/** A low screen has room for a question, and for nothing beside it. */
const besideRows = 2;
const isLow = (state: ScreenState): boolean => footRoom(state) < 4 + besideRows;

/** Whether something on the screen moves by itself. */
export const needsClock = (state: ScreenState): boolean =>
  (isBusy(state) && state.activity.state !== "asking") ||
  state.hint !== null ||
  (state.dialog !== null && !dialogHasKeys(state)) ||
  (state.isTaskPanelOpen && runningWork(state).length > 0);

/** Parts of a foot that are made anew only where what they are made of has changed. */
export type LayoutMemo = <T>(part: string, of: readonly unknown[], make: () => T) => T;

export function layoutMemo(): LayoutMemo {
  const made = new Map<string, { readonly of: readonly unknown[]; readonly what: unknown }>();
  return <T>(part: string, of: readonly unknown[], make: () => T): T => {
    const known = made.get(part);
    if (known && known.of.length === of.length && known.of.every((one, at) => one === of[at]))
      return known.what as T;
    const what = make();
    made.set(part, { of, what });
    return what;
  };
}

export function layout(state: ScreenState, memo: LayoutMemo = (_part, _of, make) => make()): Foot {
  const room = footRoom(state);
  const { size, look, session, settings, transcript, totals, vi, ownStatus, contextTokens } = state;
  const { activity, now, turn, written, todos, printing, agents } = state;
  const statusRow = memo(
    "status",
    [size, look, session, settings, transcript, totals, vi, ownStatus, contextTokens],
    () => statusOf(state),
  );
  const status: DrawnPanel = { lines: [statusRow], cursor: null };
  const panel = state.panels.at(-1);
  if (state.dialog) {
    const dialog = drawnDialog(state);
    if (isLow(state)) return joined([dialog], 0, state);
    const left = room - besideRows - dialog.lines.length;
    const top = above(liveOf(state, Math.min(3, left)), [], left, state);
    const hasKeys = dialogHasKeys(state);
    const gap: TextLine[] = top.length + dialog.lines.length + besideRows < room ? [[]] : [];
    return joined([top, dialog, gap, inputOf(state, 1), status], hasKeys ? 1 : 3, state);
  }
  if (panel) {
    const hint = hintOf(state);
    const drawn = drawPanel(panel, rowContext(state), room - 2 - hint.length);
    return joined([above([], [], 1, state), drawn, hint, status], 1, state);
  }
  const input = inputOf(state, Math.max(1, Math.min(10, room - 3)));
  const completion = completionOf(state, Math.min(8, room - input.lines.length - 1));
  const doing = memo("doing", [size, look, activity, now, turn, written, todos, state.keyMap], () =>
    doingOf(state),
  );
  const beside = [...doing, ...tasksOf(state, state.isTaskPanelOpen ? 10 : 0), ...queueOf(state, 3)];
  const hint = hintOf(state);
  const left = Math.max(0, room - input.lines.length - 1 - completion.length - hint.length);
  const shown = beside.slice(0, left);
  const most = Math.max(0, left - shown.length - 2);
  const live = memo(
    "live",
    [size, look, session, settings, transcript, printing, now, turn, agents, most],
    () => liveOf(state, most),
  );
  return joined([above(live, shown, left, state), completion, hint, input, status], 3, state);
}

/** What goes on, a blank row apart from what stays and from what is typed, as long as there is room for that. */
function above(
  live: readonly TextLine[],
  beside: readonly TextLine[],
  room: number,
  state: ScreenState,
): TextLine[] {
  const { printing, transcript } = state;
  const first = rowsOf(transcript)
    .toArray()
    .find(({ kind }) => kind === "text" || kind === "tool");
  const lead: TextLine[] =
    live.length > 0 && !(printing.partial && printing.partial.key === first?.id)
      ? gapBefore(printing.above, first?.kind === "text" ? "text" : "call").map(() => [])
      : [];
  const between: TextLine[] = live.length > 0 || printing.above !== "nothing" ? [[]] : [];
  const used = live.length + beside.length;
  const spaced = used + lead.length + between.length <= room;
  return spaced ? [...lead, ...live, ...between, ...beside] : [...live, ...beside];
}

type FootPart = readonly TextLine[] | DrawnPanel;

function joined(parts: readonly FootPart[], focus: number, state: ScreenState): Foot {
  const lines: TextLine[] = [];
  let cursor: FootPlace | null = null;
  for (const [index, part] of parts.entries()) {
    const drawn = isDrawn(part) ? part : { lines: [...part], cursor: null };
    if (index === focus && drawn.cursor)
      cursor = { row: lines.length + drawn.cursor.row, column: drawn.cursor.column };
    lines.push(...drawn.lines);
  }
  const shown = lines.slice(0, footRoom(state));
  // What is not seen has no cursor: from there no way would lead back.
  return { lines: shown, cursor: cursor !== null && cursor.row < shown.length ? cursor : null };
}

const isDrawn = (part: FootPart): part is DrawnPanel => !Array.isArray(part);

function liveOf(state: ScreenState, most: number): TextLine[] {
  return liveLines(state.transcript, state.printing, rowContext(state), most);
}

function inputOf(state: ScreenState, most: number): DrawnPanel {
  const { text } = state.editor;
  const kind = text.startsWith("!") ? "shell" : text.startsWith("#") ? "note" : "words";
  return inputLines(state.editor, { ...rowContext(state), hint: inputHint(state), kind }, most);
}

function inputHint(state: ScreenState): string {
  if (state.dialog) return "";
  if (!isBusy(state)) return "type, / commands, @ files, ? keys";
  return state.settings.whileRunning === "steer" ? "type to steer" : "type to queue";
}

function statusOf(state: ScreenState): TextLine {
  const { session, totals, vi, settings } = state;
  const window = session.facts?.models[session.model]?.windowTokens;
  return statusLine(
    {
      model: session.model,
      mode: session.mode,
      branch: session.branch,
      editor: session.editor,
      context: window ? state.contextTokens / window : undefined,
      totals,
      budgetUsd: session.budgetUsd,
      tasks: runningWork(state).length,
      queued: waitingInputs(state).length,
      own: state.ownStatus,
      link: session.link,
      vi: settings.editing === "vi" ? vi.mode : undefined,
    },
    rowContext(state),
  );
}

function doingOf(state: ScreenState): TextLine[] {
  const todo = state.todos.find(({ status }) => status === "in_progress");
  const line = doingLine(
    {
      activity: state.activity,
      now: state.now,
      turn: state.turn,
      tokens: Math.round(state.written / 4),
      todo: todo && inertOne(todo.activeForm ?? todo.text),
      interrupt: sayKeys(state.keyMap, "interrupt").split(" or ")[0] ?? "Esc",
    },
    rowContext(state),
  );
  return line ? [line] : [];
}

/** All of the foot but a row of what goes on, the input and the status: what needs the person comes first. */
export function drawnDialog(state: ScreenState): DrawnPanel {
  const { dialog, asks } = state;
  if (!dialog) return { lines: [], cursor: null };
  return drawDialog(dialog, {
    ...rowContext(state),
    most: isLow(state)
      ? footRoom(state)
      : Math.max(4, footRoom(state) - besideRows - liveOf(state, 1).length),
    place: asks.findIndex(({ id }) => id === dialog.ask.id) + 1,
    count: asks.length,
    explanation: state.explanations[dialog.ask.id],
    hasKeys: dialogHasKeys(state),
  });
}

function completionOf(state: ScreenState, most: number): TextLine[] {
  const { completion } = state;
  if (!completion || completion.items.length === 0 || most <= 0) return [];
  const items = completion.items.map(({ insert, label, note }) => ({ id: insert, label, note }));
  return itemRows(items, completion.marked, most, rowContext(state));
}

function queueOf(state: ScreenState, most: number): TextLine[] {
  const waiting = waitingInputs(state);
  const context = rowContext(state);
  const rows = waiting
    .slice(0, most)
    .map((row) =>
      clip(
        [dim(`${context.signs.rule}queued  `), span(inertOne(textOfParts(row.content)), { dim: true })],
        context.columns - 2,
        context,
      ),
    );
  const more = waiting.length - rows.length;
  const help = `${more > 0 ? `and ${more} more; ` : ""}Up takes the last one back`;
  return rows.length === 0 ? [] : [...rows, [dim(`  ${help}`)]];
}

function tasksOf(state: ScreenState, most: number): TextLine[] {
  if (most === 0) return [];
  const context = rowContext(state);
  const { signs } = context;
  const work = runningWork(state).map((row) =>
    clip(
      [
        role("running", `${signs.turning[state.turn % signs.turning.length] ?? ""} `),
        span(`${row.kind === "agent" ? inertOne(row.agent) : "Task"} `),
        dim(`${inertOne(row.title)}  ${sayDuration(Math.max(0, state.now - row.at))}`),
      ],
      context.columns - 2,
      context,
    ),
  );
  const todos = state.todos.map(({ text, status }): TextLine => {
    const words = inertOne(text);
    if (status === "completed")
      return clip([role("done", `${signs.ticked} `), dim(words)], context.columns - 2, context);
    if (status === "in_progress")
      return clip([role("running", `${signs.turning[0] ?? ""} `), bold(words)], context.columns - 2, context);
    return clip([dim(`${signs.unticked} `), span(words)], context.columns - 2, context);
  });
  const rows = [...work, ...todos];
  return rows.length > 0 ? rows.slice(0, most) : [[dim("No tasks, and nothing on the list.")]];
}

function hintOf({ hint, now, size, look }: ScreenState): TextLine[] {
  return hint && hint.until > now ? [clip([dim(`  ${hint.text}`)], size.columns - 2, look)] : [];
}
