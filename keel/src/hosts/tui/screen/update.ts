/** The whole screen as one reducer: a message in, the next state and what is to be done out. Pure. */
import { never } from "../../../kernel/result.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import type { SessionFacts } from "../../../protocol/inquiry.ts";
import { rowsOf } from "../../../view/transcript.ts";
import { withoutRow } from "../../../view/without-row.ts";
import { dialogKey, dialogPaste, isWriting } from "../dialog/dialog.ts";
import { edit } from "../input/editor.ts";
import { actionFor, keyMapOf } from "../input/key-map.ts";
import type { Key, TerminalInput } from "../input/terminal-input.ts";
import { type Printing, takeFinished } from "../rows/printing.ts";
import { searchAgain } from "../screens/memory.ts";
import { inertLines } from "../text/inert.ts";
import { dim, type PrintLine, words } from "../text/styled.ts";
import { backgroundOf } from "../text/theme.ts";
import type { Size } from "../writer/frame.ts";
import { withFiles, withSessions } from "./complete.ts";
import type { Effect, Got } from "./effects.ts";
import { dialogHasKeys, drawnDialog, footRoom } from "./layout.ts";
import { closeAsk, just, lookAt, onEvent, type ScreenStep } from "./on-event.ts";
import { hinted, onInputKey, onPaste } from "./on-key.ts";
import { type Panel, panelKey, shownItems } from "./panel.ts";
import { choosePanel, fillPanels, movedIn } from "./purposes.ts";
import { ask, closed } from "./screen-row.ts";
import { textLines } from "./screen-texts.ts";
import { rowContext, type ScreenState } from "./state.ts";

export type ScreenMessage =
  | { readonly type: "event"; readonly event: Envelope }
  /** All that the log had before is folded: from here on it is printed. */
  | { readonly type: "caught-up" }
  | { readonly type: "input"; readonly input: TerminalInput; readonly now: number }
  | { readonly type: "tick"; readonly now: number }
  | { readonly type: "resize"; readonly size: Size }
  | { readonly type: "look"; readonly look: Partial<ScreenState["look"]> }
  | { readonly type: "link"; readonly link: "open" | "lost" }
  | { readonly type: "facts"; readonly facts: SessionFacts }
  | { readonly type: "print"; readonly lines: readonly PrintLine[] }
  | { readonly type: "got"; readonly got: Got };

export function update(state: ScreenState, message: ScreenMessage): ScreenStep {
  switch (message.type) {
    case "event":
      return onSessionEvent(state, message.event);
    case "caught-up":
      return caughtUp(state);
    case "input":
      return onTerminalInput({ ...state, now: Math.max(state.now, message.now) }, message.input);
    case "tick":
      return just(ticked(state, message.now));
    case "resize":
      return just({ ...state, size: message.size });
    case "look":
      return just({ ...state, look: { ...state.look, ...message.look } });
    case "link":
      return just({ ...state, session: { ...state.session, link: message.link } });
    case "facts":
      return just(withFacts(state, message.facts));
    case "print":
      return just({ ...state, outbox: [...state.outbox, ...message.lines] });
    case "got":
      return onGot(state, message.got);
    default:
      return never(message);
  }
}

/** What is finished goes out with the frame, and leaves the state. */
export function takeOutbox(state: ScreenState): { state: ScreenState; printed: readonly PrintLine[] } {
  if (state.phase === "history") return { state, printed: [] };
  // What we say ourselves stands above what comes next as a note does.
  const start: Printing =
    state.outbox.length > 0 && state.printing.partial === null
      ? { ...state.printing, above: "apart" }
      : state.printing;
  const { lines, printing, transcript } = takeFinished(state.transcript, start, rowContext(state));
  const printed = [...state.outbox, ...lines];
  if (printed.length === 0 && printing === state.printing && transcript === state.transcript)
    return { state, printed };
  return { state: { ...state, outbox: [], printing, transcript }, printed };
}

function onSessionEvent(state: ScreenState, event: Envelope): ScreenStep {
  const top = state.panels.at(-1);
  // What a command says is read in the panel that waits for it.
  if (
    event.type === "command.answered" &&
    top?.kind === "text" &&
    top.state === "loading" &&
    top.purpose === event.name
  ) {
    const panel: Panel = { ...top, lines: textLines(event.text), state: "ready" };
    return just({ ...state, panels: [...state.panels.slice(0, -1), panel] });
  }
  return onEvent(state, event);
}

/** How many of the last turns of an old conversation are printed when it is taken up. */
const shownTurns = 3;

function caughtUp(state: ScreenState): ScreenStep {
  const rows = rowsOf(state.transcript).toArray();
  const said = rows.filter(
    (row) => row.kind === "user" && row.from.kind === "person" && row.status !== "waiting",
  );
  const first = said.at(-shownTurns);
  const from = first ? rows.indexOf(first) : 0;
  const transcript = rows
    .slice(0, from)
    .reduce(
      (left, row) => (row.kind === "agent" || row.kind === "task" ? left : withoutRow(left, row.id)),
      state.transcript,
    );
  const earlier = said.length - Math.min(said.length, shownTurns);
  const note =
    earlier === 0
      ? []
      : [
          words([
            dim(
              `${state.look.signs.dot} ${earlier} earlier ${earlier === 1 ? "message" : "messages"}: Ctrl-O shows them.`,
            ),
          ]),
        ];
  return lookAt({ ...state, phase: "live", transcript, outbox: [...state.outbox, ...note] });
}

/** The sign of what runs turns about this often. */
export const turnMs = 240;

function ticked(state: ScreenState, now: number): ScreenState {
  const turn = Math.floor(now / turnMs);
  return { ...state, now, turn, hint: state.hint && state.hint.until <= now ? null : state.hint };
}

function withFacts(state: ScreenState, facts: SessionFacts): ScreenState {
  const { session } = state;
  const isFirst = session.facts === null;
  return {
    ...state,
    session: {
      ...session,
      facts,
      cwd: facts.cwd,
      model: isFirst || session.model === "" ? facts.model : session.model,
      mode: isFirst ? facts.permissionMode : session.mode,
    },
  };
}

function onTerminalInput(state: ScreenState, input: TerminalInput): ScreenStep {
  switch (input.kind) {
    case "key":
      return onKey(state, input);
    case "paste":
      return onPasted(state, input.text);
    case "focus":
      return just({ ...state, focus: input.isHere ? "here" : "away" });
    case "background": {
      const background = backgroundOf(input.colour);
      return just(
        background
          ? { ...state, look: { ...state.look, theme: { ...state.look.theme, background } } }
          : state,
      );
    }
    // Answers that `run.ts` asked for itself.
    case "cursor":
    case "version":
    case "attributes":
    case "graphics":
      return just(state);
    default:
      return never(input);
  }
}

function onKey(state: ScreenState, key: Key): ScreenStep {
  if (state.dialog && dialogHasKeys(state)) return onDialogKey(state, key);
  if (state.panels.length > 0 && !state.dialog) return onPanelKey(state, key);
  return onInputKey(state, key);
}

function onPasted(state: ScreenState, text: string): ScreenStep {
  if (state.dialog && dialogHasKeys(state))
    return just({ ...state, dialog: dialogPaste(state.dialog, text) });
  if (state.panels.length > 0 && !state.dialog)
    return onPanelKey(state, { kind: "key", name: "paste", text: text.replaceAll("\n", " ") });
  return onPaste(state, text);
}

function onDialogKey(state: ScreenState, key: Key): ScreenStep {
  const { dialog } = state;
  if (!dialog) return just(state);
  const place = isWriting(dialog) ? "input" : "panel";
  const action = actionFor(state.keyMap, place, key.name) ?? actionFor(state.keyMap, "panel", key.name);
  if (action === "stop")
    return just(state, { type: "submit", command: { type: "interrupt" }, tag: "interrupt" });
  if (action === "redraw") return just(state, { type: "clear-screen" });
  if (action === "suspend") return just(state, { type: "suspend" });
  if (action === "next-ask" && !isWriting(dialog)) return nextAsk(state);
  if (action === "page-up" || action === "page-down")
    return just({ ...state, dialog: { ...dialog, scroll: pagedTo(state, action) } });
  const outcome = dialogKey(dialog, { action, name: key.name, text: key.text });
  if (outcome.kind === "open") return just({ ...state, dialog: outcome.dialog });
  const { ask } = dialog;
  const { answer, keep } = outcome;
  const rule = ask.options.find(({ id }) => id === answer.option)?.rule;
  const kept: Effect[] =
    keep !== undefined && rule !== undefined ? [{ type: "keep-rule", askId: ask.id, rule, to: keep }] : [];
  const send: Effect = {
    type: "submit",
    command: { type: "answer", askId: ask.id, answer, by: "host" },
    tag: `answer:${ask.id}`,
  };
  // The next one is shown at once; its own time to be read begins now.
  const next = lookAt(closeAsk(state, ask.id));
  return { state: { ...next.state, dialogAt: state.now }, effects: [...kept, send, ...next.effects] };
}

/** By what is seen of it, so that no row is passed over; where there is room, one stays in sight. */
function pagedTo(state: ScreenState, way: "page-up" | "page-down"): number {
  const { rows, last } = drawnDialog(state).page ?? { rows: 0, last: 0 };
  const from = Math.min(state.dialog?.scroll ?? 0, last);
  const by = rows > 3 ? rows - 1 : Math.max(1, rows);
  return Math.max(0, Math.min(last, way === "page-down" ? from + by : from - by));
}

function nextAsk(state: ScreenState): ScreenStep {
  const [first, ...rest] = state.asks;
  if (!first || rest.length === 0) return just(state);
  return lookAt({ ...state, asks: [...rest, first], dialog: null });
}

function onPanelKey(state: ScreenState, key: Key): ScreenStep {
  const panel = state.panels.at(-1);
  if (!panel) return just(state);
  const action = actionFor(state.keyMap, "panel", key.name);
  if (action === "stop") return just({ ...state, panels: [] });
  if (action === "redraw") return just(state, { type: "clear-screen" });
  if (action === "suspend") return just(state, { type: "suspend" });
  const isList = panel.kind === "list" || panel.search?.isWriting === true;
  const inner = isList ? (actionFor(state.keyMap, "input", key.name) ?? action) : action;
  const outcome = panelKey(
    panel,
    { action: key.name.startsWith("page") ? action : inner, name: key.name, text: key.text },
    Math.max(3, footRoom(state) - 4),
  );
  if (outcome.kind === "closed") return just(closed(state));
  if (outcome.kind === "chosen") return choosePanel(state, outcome.panel, outcome.item, outcome.key);
  const next = { ...state, panels: [...state.panels.slice(0, -1), outcome.panel] };
  return just(next, ...movedIn(outcome.panel, panel));
}

function onGot(state: ScreenState, got: Got): ScreenStep {
  switch (got.what) {
    case "inquiry":
      if (got.name === "files") return just(withFiles(state, got.tag.slice("files:".length), got.answer));
      if (got.name === "explain") {
        const id = got.tag.slice("explain:".length);
        return just({ ...state, explanations: { ...state.explanations, [id]: got.answer } });
      }
      if (got.name === "facts") return just(withFacts(state, got.answer));
      return just(fillPanels(state, got));
    case "receipt":
      return onReceipt(state, got.tag, got);
    case "edited":
      return just({ ...state, editor: edit(state.editor, { type: "set", text: got.text }) });
    case "image": {
      const { name, mediaType, data } = got;
      const editor = edit(state.editor, {
        type: "attach",
        attachment: { kind: "image", name, mediaType, data },
      });
      return just({ ...state, editor });
    }
    case "sessions":
    case "preview":
    case "changes":
    case "transcript": {
      const next = fillPanels(state, got);
      const top = next.panels.at(-1);
      const first = got.what === "sessions" && top?.kind === "list" ? shownItems(top)[0] : undefined;
      return just(next, ...(first ? [{ type: "preview-session", id: first.id } as const] : []));
    }
    case "memory":
      return just(fillPanels(state, got));
    case "forgotten":
      return just(hinted(state, got.text), ...searchAgain(state));
    case "other-sessions":
      return just(withSessions(state, got.items));
    case "rules-changed":
      return just(hinted(state, got.text), ask("rules", "permissions"));
    case "said":
      return just(hinted(state, got.text));
    case "schema":
      return just({ ...state, settingsSchema: got.schema }, ask("settings", "config"));
    case "settings": {
      const { settings } = got;
      return just(hinted({ ...state, settings, keyMap: keyMapOf(settings.keys).map }, got.text));
    }
    case "status":
      return just({ ...state, ownStatus: got.text });
    case "around":
      return just({ ...state, session: { ...state.session, branch: got.branch, editor: got.editor } });
    case "failed":
      return onFailed(state, got.tag, got.text);
    default:
      return never(got);
  }
}

function onReceipt(state: ScreenState, tag: string, got: Extract<Got, { what: "receipt" }>): ScreenStep {
  const { receipt } = got;
  if (receipt.type === "late" && tag.startsWith("answer:")) {
    const who = receipt.who ?? receipt.by;
    return just(hinted(state, `It was answered before${who ? ` by ${who}` : ""}.`));
  }
  if (receipt.type === "backgrounded")
    return just(
      hinted(
        state,
        receipt.callIds.length === 0
          ? "Nothing that runs can go to the background."
          : "It goes on in the background.",
      ),
    );
  if (receipt.type === "rewound" && !receipt.preview)
    return just(
      hinted(state, `${receipt.files.length} ${receipt.files.length === 1 ? "file" : "files"} put back.`),
    );
  // What was done with a server is seen in the list of them.
  return just(fillPanels(state, got), ...(tag === "servers" ? [ask("servers", "mcp")] : []));
}

const isShownBelow = (tag: string): boolean =>
  tag.startsWith("rewind-preview:") || tag === "read-changes" || tag === "preview-session";

/** What could not be done is said where people look; what was typed is not lost. */
function onFailed(state: ScreenState, tag: string, text: string): ScreenStep {
  const lines = inertLines(text).map((line) => words([dim(`${state.look.signs.warning} ${line}`)], 2));
  const top = state.panels.at(-1);
  if (top?.state === "loading") {
    const panel: Panel =
      top.kind === "text" ? { ...top, lines, state: "ready" } : { ...top, state: "ready", help: text };
    return just({ ...state, panels: [...state.panels.slice(0, -1), panel] });
  }
  // What was only to be shown below a list is told there, or nowhere: nothing was to be done.
  if (isShownBelow(tag)) {
    const panel = top?.kind === "list" ? { ...top, preview: { id: "", lines } } : undefined;
    return just(panel ? { ...state, panels: [...state.panels.slice(0, -1), panel] } : state);
  }
  const last = state.history.entries.at(-1) ?? "";
  const isLost = tag === "input" && state.editor.text === "";
  const editor = isLost ? edit(state.editor, { type: "set", text: last }) : state.editor;
  return just({ ...state, editor, outbox: [...state.outbox, ...lines] });
}
