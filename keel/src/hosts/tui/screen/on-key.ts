/** A key while nothing is open above the input: it edits, completes, sends, or acts on the session. Pure. */

import { type PermissionMode, permissionModes } from "../../../protocol/settings.ts";
import { textOfParts } from "../../../view/shown.ts";
import { inputCells } from "../foot/input-view.ts";
import { blocksOf, expanded, isLong } from "../input/attachments.ts";
import { cleared, type EditAction, edit, editActions, isAtEdge } from "../input/editor.ts";
import { newer, older, remembered } from "../input/history.ts";
import { type Action, actionFor, beginsKeys } from "../input/key-map.ts";
import type { Key } from "../input/terminal-input.ts";
import { toNormal, viKey } from "../input/vi.ts";
import { accept, completed, moved } from "./complete.ts";
import type { Effect } from "./effects.ts";
import { just, type ScreenStep } from "./on-event.ts";
import { openScreen, screenNamed } from "./purposes.ts";
import { isBusy, type ScreenState, waitingInputs } from "./state.ts";

/** The second press of a key that does something large comes within this time. */
const againMs = 1_500;
const hintMs = 2_500;

export function onInputKey(before: ScreenState, key: Key): ScreenStep {
  const state: ScreenState = { ...before, typedAt: before.now, prefix: "" };
  const name = before.prefix === "" ? key.name : `${before.prefix} ${key.name}`;
  if (before.prefix === "" && beginsKeys(state.keyMap, "input", key.name))
    return just({ ...state, prefix: key.name });
  const action = actionFor(state.keyMap, "input", name);
  if (state.settings.editing === "vi" && state.vi.mode === "normal") {
    const step = inNormalMode(state, key, action);
    if (step) return step;
  }
  if (state.completion && state.completion.items.length > 0) {
    const step = inCompletion(state, action);
    if (step) return step;
  }
  // A sign that means something only where nothing is typed.
  if (action === "keys" && state.editor.text !== "") return typeText(state, key.text);
  if (action !== undefined) return act(state, action);
  return key.text === "" ? just(state) : typeText(state, key.text);
}

export function onPaste(before: ScreenState, text: string): ScreenStep {
  const state: ScreenState = { ...before, typedAt: before.now };
  const path = droppedPath(text);
  if (path !== undefined) return just(state, { type: "attach-path", path, typed: text });
  if (!isLong(text)) return typeText(state, text);
  return completed({
    ...state,
    editor: edit(state.editor, { type: "attach", attachment: { kind: "paste", text } }),
  });
}

/** A picture that was dropped comes as its path, alone, perhaps quoted. */
function droppedPath(text: string): string | undefined {
  const said = text
    .trim()
    .replace(/^'(.*)'$/, "$1")
    .replace(/^"(.*)"$/, "$1")
    .replaceAll("\\ ", " ");
  const path = said.startsWith("file://") ? decodeURIComponent(said.slice(7)) : said;
  return /^(?:\/|~\/)[^\n]+\.(?:png|jpe?g|gif|webp)$/i.test(path) ? path : undefined;
}

function typeText(state: ScreenState, text: string): ScreenStep {
  return completed({ ...state, armed: null, editor: edit(state.editor, { type: "insert", text }) });
}

function inNormalMode(state: ScreenState, key: Key, action: Action | undefined): ScreenStep | undefined {
  const isOurs = action !== undefined && !isEdit(action) && action !== "keys" && action !== "history-search";
  if (key.name === "escape" && state.vi.typed !== "")
    return just({ ...state, vi: { ...state.vi, typed: "" } });
  if (isOurs && !(key.name.length === 1)) return undefined;
  if ((key.name === "k" || key.name === "j") && state.vi.typed === "") {
    const isUp = key.name === "k";
    if (isAtEdge(state.editor, isUp ? "first" : "last", inputCells(state.size.columns)))
      return recall(state, isUp ? "older" : "newer");
  }
  const { vi, editor } = viKey(state.vi, state.editor, key.name);
  return just({ ...state, vi, editor });
}

const edits: ReadonlySet<string> = new Set(editActions);
const isEdit = (action: Action): action is EditAction => edits.has(action);

function inCompletion(state: ScreenState, action: Action | undefined): ScreenStep | undefined {
  switch (action) {
    case "up":
      return just(moved(state, -1));
    case "down":
      return just(moved(state, 1));
    case "complete":
      return completed(accept(state));
    case "submit": {
      const { completion, editor } = state;
      const item = completion?.items[completion.marked];
      // A command that is typed out is sent; what is only begun is completed.
      if (completion?.kind === "command" && item?.insert.trim() === editor.text.trim()) return undefined;
      const accepted = accept(state);
      const takesMore = completion?.kind !== "command" || /\[|</.test(item?.label ?? "");
      return takesMore ? just(accepted) : submit(accepted, "usual");
    }
    case "interrupt":
      return just({ ...state, completion: null });
    default:
      return undefined;
  }
}

function act(state: ScreenState, action: Action): ScreenStep {
  switch (action) {
    case "submit":
      return enter(state);
    case "submit-other":
      return submit(state, "other");
    case "complete":
      return completed(state);
    case "up":
      return upDown(state, "up");
    case "down":
      return upDown(state, "down");
    case "interrupt":
      return interrupt(state);
    case "stop":
      return stop(state);
    case "exit":
      return state.editor.text === "" ? just(state, { type: "end" }) : edited(state, "delete");
    case "background":
      return isBusy(state)
        ? just(state, { type: "submit", command: { type: "background" }, tag: "background" })
        : edited(state, "left");
    case "mode":
      return nextMode(state);
    case "transcript":
      return openScreen(state, "transcript");
    case "tasks":
      return just({ ...state, isTaskPanelOpen: !state.isTaskPanelOpen });
    case "thinking": {
      const thinking = state.settings.thinking === "shown" ? "hidden" : "shown";
      return just(
        hinted(
          { ...state, settings: { ...state.settings, thinking } },
          `Thinking is ${thinking} from now on.`,
        ),
      );
    }
    case "agents":
      return just({ ...state, agents: state.agents === "open" ? "closed" : "open" });
    case "history-search":
      return openScreen(state, "history");
    case "keys":
      return openScreen(state, "keys");
    case "editor":
      return just(state, {
        type: "edit-outside",
        text: expanded(state.editor.text, state.editor.attachments),
      });
    case "paste-image":
      return just(state, { type: "clipboard" });
    case "stash":
      return state.editor.text === ""
        ? just(state.stash ? { ...state, editor: state.stash, stash: null } : state)
        : just(
            hinted(
              { ...state, stash: state.editor, editor: cleared(state.editor) },
              "Put aside. Ctrl-S with an empty input takes it back.",
            ),
          );
    case "redraw":
      return just(state, { type: "clear-screen" });
    case "suspend":
      return just(state, { type: "suspend" });
    default:
      return isEdit(action) ? edited(state, action) : just(state);
  }
}

const edited = (state: ScreenState, action: EditAction): ScreenStep =>
  completed({
    ...state,
    armed: null,
    editor: edit(state.editor, { type: action, cells: inputCells(state.size.columns) }),
  });

export const hinted = (state: ScreenState, text: string): ScreenState => ({
  ...state,
  hint: { text, until: state.now + hintMs },
});

/** A backslash before Enter is a new line, for terminals that cannot tell Shift-Enter. */
function enter(state: ScreenState): ScreenStep {
  const { editor } = state;
  if (editor.text.slice(0, editor.cursor).endsWith("\\")) {
    const without = edit(editor, { type: "backspace" });
    return just({ ...state, editor: edit(without, { type: "newline" }) });
  }
  return submit(state, "usual");
}

/** To the session, or to a screen of ours; what is sent can be had back. */
export function submit(state: ScreenState, how: "usual" | "other"): ScreenStep {
  const { editor, settings } = state;
  const text = expanded(editor.text, editor.attachments);
  if (text.trim() === "") return just(state);
  const sent: ScreenState = {
    ...state,
    editor: cleared(editor),
    vi: { ...state.vi, mode: "insert", typed: "" },
    history: remembered(state.history, text),
    completion: null,
    armed: null,
    hint: null,
  };
  const keep = { type: "remember-input", text } as const;
  const [, command = "", args = ""] = /^\/([\w?.:-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (command === "exit" || command === "quit") return just(sent, keep, { type: "end" });
  if (command !== "" && screenNamed(command, args)) {
    const step = openScreen(sent, command, args);
    return { state: step.state, effects: [keep, ...step.effects] };
  }
  const steers = (settings.whileRunning === "steer") === (how === "usual");
  const when = steers ? ("now" as const) : ("after" as const);
  if (text.startsWith("!") && text.trim().length > 1)
    return just(sent, keep, ownWords("shell", text.slice(1).trim()));
  if (text.startsWith("#") && text.trim().length > 1 && !text.startsWith("##"))
    return just(sent, keep, ownWords("note", text.slice(1).trim()));
  const content = blocksOf(editor.text, editor.attachments);
  return just(sent, keep, { type: "submit", command: { type: "input", content, when }, tag: "input" });
}

/** A command of one's own, or something to remember: the session's side does it. */
const ownWords = (words: "shell" | "note", text: string): Effect => ({
  type: "submit",
  command: { type: "input", content: [{ type: "text", text }], words },
  tag: "input",
});

function upDown(state: ScreenState, way: "up" | "down"): ScreenStep {
  const cells = inputCells(state.size.columns);
  if (!isAtEdge(state.editor, way === "up" ? "first" : "last", cells)) return edited(state, way);
  if (way === "up" && state.editor.text === "") {
    const last = waitingInputs(state).at(-1);
    if (last) return takeBack(state, last.id, textOfParts(last.content));
  }
  return recall(state, way === "up" ? "older" : "newer");
}

/** What waits for its turn is had back to be changed. */
function takeBack(state: ScreenState, inputId: string, text: string): ScreenStep {
  const editor = edit(state.editor, { type: "set", text });
  return just({ ...state, editor }, { type: "submit", command: { type: "drop", inputId } });
}

function recall(state: ScreenState, which: "older" | "newer"): ScreenStep {
  const found =
    which === "older"
      ? older(state.history, expanded(state.editor.text, state.editor.attachments))
      : newer(state.history);
  if (!found) return edited(state, which === "older" ? "text-start" : "text-end");
  return just({
    ...state,
    history: found.history,
    editor: edit(state.editor, { type: "set", text: found.text }),
    completion: null,
  });
}

function interrupt(state: ScreenState): ScreenStep {
  if (state.settings.editing === "vi" && state.vi.mode === "insert" && state.editor.text !== "") {
    const { vi, editor } = toNormal(state.vi, state.editor);
    return just({ ...state, vi, editor });
  }
  if (isBusy(state)) return just(state, { type: "submit", command: { type: "interrupt" }, tag: "interrupt" });
  if (state.editor.text !== "") return just(state);
  const isAgain = state.armed?.what === "rewind" && state.now - state.armed.at <= againMs;
  if (isAgain) return openScreen({ ...state, armed: null, hint: null }, "rewind");
  return just(
    hinted(
      { ...state, armed: { what: "rewind", at: state.now } },
      "Esc again goes back to an earlier message.",
    ),
  );
}

function stop(state: ScreenState): ScreenStep {
  if (state.editor.text !== "") {
    const text = expanded(state.editor.text, state.editor.attachments);
    return just({
      ...state,
      editor: cleared(state.editor),
      history: remembered(state.history, text),
      completion: null,
      armed: null,
    });
  }
  if (isBusy(state)) return just(state, { type: "submit", command: { type: "interrupt" }, tag: "interrupt" });
  const isAgain = state.armed?.what === "end" && state.now - state.armed.at <= againMs;
  if (isAgain) return just(state, { type: "end" });
  return just(
    hinted({ ...state, armed: { what: "end", at: state.now } }, "Ctrl-C again ends. The session is kept."),
  );
}

/** Around those that ask; what bypasses questions is chosen by its name, never by a key. */
const cycled: readonly PermissionMode[] = permissionModes.filter(
  (mode) => mode === "default" || mode === "acceptEdits" || mode === "plan",
);

function nextMode(state: ScreenState): ScreenStep {
  const at = cycled.indexOf(state.session.mode);
  const permissionMode = cycled[(at + 1) % cycled.length] ?? "default";
  return just(state, { type: "submit", command: { type: "set", patch: { permissionMode } } });
}
