/**
 * Which key means what: one table, of which the screen of keys is a picture and which settings may change by the name of
 * an action (`terminal.keys`). A key means what the place says in which it is pressed, and else what it means everywhere.
 */
import type { EditAction } from "./editor.ts";

export type Action = EditAction | (typeof otherActions)[number];

const otherActions = [
  "submit",
  "submit-other",
  "interrupt",
  "stop",
  "exit",
  "suspend",
  "redraw",
  "background",
  "mode",
  "transcript",
  "tasks",
  "thinking",
  "agents",
  "editor",
  "paste-image",
  "complete",
  "history-search",
  "keys",
  "next-ask",
  "stash",
  "choose",
  "cancel",
  "previous-choice",
  "next-choice",
  "page-up",
  "page-down",
  "toggle",
  "edit-input",
] as const;

/** Where a key is pressed: while typing, or in a question, a list or a screen. */
export type KeyPlace = "input" | "panel";

type KeyRow = {
  readonly action: Action;
  readonly keys: readonly string[];
  readonly says: string;
  /** Left out: wherever. */
  readonly in?: KeyPlace;
};

/** In the order in which the screen of keys shows them. */
export const keyRows: readonly KeyRow[] = [
  { action: "submit", keys: ["enter"], says: "Send it; steers while a turn runs", in: "input" },
  {
    action: "submit-other",
    keys: ["alt+enter"],
    says: "Send it the other way: queue instead of steer",
    in: "input",
  },
  {
    action: "newline",
    keys: ["shift+enter", "ctrl+j"],
    says: "A new line; also a backslash before Enter",
    in: "input",
  },
  {
    action: "interrupt",
    keys: ["escape"],
    says: "Interrupt; twice when idle: go back to an earlier message",
    in: "input",
  },
  {
    action: "exit",
    keys: ["ctrl+d"],
    says: "End, where nothing is typed; else delete the sign behind",
    in: "input",
  },
  {
    action: "background",
    keys: ["ctrl+b"],
    says: "Let what runs go on in the background; one sign back where nothing runs",
  },
  { action: "mode", keys: ["shift+tab"], says: "Next permission mode" },
  { action: "transcript", keys: ["ctrl+o"], says: "The whole transcript, to read and to search" },
  { action: "tasks", keys: ["ctrl+t"], says: "Tasks, agents and the list of what is to be done" },
  { action: "thinking", keys: ["alt+t"], says: "Show or hide the model's thinking" },
  { action: "agents", keys: ["alt+a"], says: "Unfold or fold what agents that run have done" },
  { action: "next-ask", keys: ["ctrl+n"], says: "The next question", in: "panel" },
  { action: "history-search", keys: ["ctrl+r"], says: "Search what was typed before", in: "input" },
  { action: "complete", keys: ["tab"], says: "Complete a command, a file or an agent", in: "input" },
  { action: "editor", keys: ["ctrl+g"], says: "Write it in your editor ($VISUAL, $EDITOR)", in: "input" },
  { action: "paste-image", keys: ["ctrl+v"], says: "A picture from the clipboard", in: "input" },
  { action: "stash", keys: ["ctrl+s"], says: "Put aside what is typed, and take it back", in: "input" },
  { action: "redraw", keys: ["ctrl+l"], says: "A clean screen; what was printed stays above" },
  { action: "suspend", keys: ["ctrl+z"], says: "Pause Keel; `fg` comes back" },
  { action: "keys", keys: ["?"], says: "This list, where nothing is typed", in: "input" },

  { action: "left", keys: ["left"], says: "One sign back", in: "input" },
  { action: "right", keys: ["right", "ctrl+f"], says: "One sign on", in: "input" },
  { action: "word-left", keys: ["alt+b", "alt+left", "ctrl+left"], says: "One word back", in: "input" },
  { action: "word-right", keys: ["alt+f", "alt+right", "ctrl+right"], says: "One word on", in: "input" },
  { action: "line-start", keys: ["ctrl+a", "home"], says: "To the start of the line", in: "input" },
  { action: "line-end", keys: ["ctrl+e", "end"], says: "To the end of the line", in: "input" },
  { action: "text-start", keys: ["alt+<", "ctrl+home"], says: "To the start of the text", in: "input" },
  { action: "text-end", keys: ["alt+>", "ctrl+end"], says: "To the end of the text", in: "input" },
  {
    action: "up",
    keys: ["up", "ctrl+p"],
    says: "Up; from the first row: what was typed before",
    in: "input",
  },
  {
    action: "down",
    keys: ["down", "ctrl+n"],
    says: "Down; from the last row: what was typed after",
    in: "input",
  },
  {
    action: "backspace",
    keys: ["backspace", "ctrl+h", "shift+backspace"],
    says: "Delete the sign before",
    in: "input",
  },
  { action: "delete", keys: ["delete"], says: "Delete the sign behind", in: "input" },
  {
    action: "delete-word-left",
    keys: ["alt+backspace", "ctrl+backspace"],
    says: "Cut the word before",
    in: "input",
  },
  { action: "delete-word-right", keys: ["alt+d", "ctrl+delete"], says: "Cut the word behind", in: "input" },
  { action: "delete-blank-left", keys: ["ctrl+w"], says: "Cut back to the last blank", in: "input" },
  { action: "delete-to-line-start", keys: ["ctrl+u"], says: "Cut to the start of the line", in: "input" },
  { action: "delete-to-line-end", keys: ["ctrl+k"], says: "Cut to the end of the line", in: "input" },
  { action: "yank", keys: ["ctrl+y"], says: "Put back what was cut", in: "input" },
  { action: "yank-older", keys: ["alt+y"], says: "Put back what was cut before that", in: "input" },
  { action: "transpose", keys: ["ctrl+x ctrl+t"], says: "Swap two signs", in: "input" },
  { action: "upper-word", keys: ["alt+u"], says: "The word in capitals", in: "input" },
  { action: "lower-word", keys: ["alt+l"], says: "The word in small letters", in: "input" },
  { action: "capital-word", keys: ["alt+c"], says: "The word with a capital", in: "input" },
  { action: "undo", keys: ["ctrl+_", "ctrl+x ctrl+u"], says: "Take back the last change", in: "input" },
  { action: "redo", keys: ["alt+_", "ctrl+x ctrl+r"], says: "Do it again", in: "input" },

  { action: "choose", keys: ["enter"], says: "Take what is marked", in: "panel" },
  { action: "cancel", keys: ["escape"], says: "Leave it; of a question: say no", in: "panel" },
  { action: "previous-choice", keys: ["up", "left", "ctrl+p"], says: "The choice before", in: "panel" },
  { action: "next-choice", keys: ["down", "right", "tab"], says: "The next choice", in: "panel" },
  { action: "page-up", keys: ["pageup", "ctrl+u"], says: "Further up", in: "panel" },
  { action: "page-down", keys: ["pagedown", "ctrl+f"], says: "Further down", in: "panel" },
  { action: "toggle", keys: [" "], says: "Mark or unmark, where several can be taken", in: "panel" },
  { action: "edit-input", keys: ["e"], says: "Change what would run before it is allowed", in: "panel" },
];

export type KeyMap = ReadonlyMap<string, Action>;

/** By the place and the key, `input enter`. Settings name an action and its keys; an empty list takes it away. */
export function keyMapOf(changed: Readonly<Record<string, string | readonly string[]>> = {}): {
  readonly map: KeyMap;
  readonly problems: readonly string[];
} {
  const map = new Map<string, Action>();
  const rows = keyRows.map((row) => ({ ...row, keys: keysFor(row, changed) }));
  // What is changed on purpose comes last: it takes a key from what had it before.
  const ordered = rows.toSorted(
    (one, other) => Number(one.action in changed) - Number(other.action in changed),
  );
  for (const { action, keys, in: place } of ordered)
    for (const key of keys)
      for (const where of place ? [place] : (["input", "panel"] as const)) {
        const known = map.get(`${where} ${key}`);
        // Of two defaults the first in the table is meant where both are possible.
        if (known === undefined || action in changed) map.set(`${where} ${key}`, action);
      }
  const names = new Set<string>(keyRows.map(({ action }) => action));
  const problems = Object.keys(changed)
    .filter((name) => !names.has(name))
    .map((name) => `terminal.keys: there is no action called ${JSON.stringify(name.slice(0, 40))}.`);
  return { map, problems };
}

function keysFor(
  row: KeyRow,
  changed: Readonly<Record<string, string | readonly string[]>>,
): readonly string[] {
  const wanted = changed[row.action];
  if (wanted === undefined) return row.keys;
  return (typeof wanted === "string" ? [wanted] : wanted).map((key) => key.trim().toLowerCase() || key);
}

export const actionFor = (map: KeyMap, place: KeyPlace, key: string): Action | undefined =>
  map.get(`${place} ${key}`);

/** Whether a key only begins one of two keys: `ctrl+x`. */
export const beginsKeys = (map: KeyMap, place: KeyPlace, key: string): boolean =>
  [...map.keys()].some((known) => known.startsWith(`${place} ${key} `));

/** The keys of an action as people write them. */
export function sayKeys(map: KeyMap, action: Action): string {
  const keys = [...map]
    .filter(([, known]) => known === action)
    .map(([key]) => key.slice(key.indexOf(" ") + 1));
  return [...new Set(keys)].map(sayKey).join(" or ");
}

export const sayKey = (key: string): string =>
  key === " "
    ? "Space"
    : key
        .split(" ")
        .map((one) => one.split("+").map(sayPart).join("-"))
        .join(" ");

const sayPart = (part: string): string => {
  const names: Readonly<Record<string, string>> = {
    ctrl: "Ctrl",
    alt: "Alt",
    shift: "Shift",
    cmd: "Cmd",
    escape: "Esc",
    enter: "Enter",
    pageup: "PgUp",
    pagedown: "PgDn",
    "": "+",
  };
  return (
    names[part] ?? (part.length === 1 ? part.toUpperCase() : part.slice(0, 1).toUpperCase() + part.slice(1))
  );
};
