/**
 * What opens above the input: a list to pick from, or a text to read. Every screen of a command is one of the two; what
 * picking does is the matter of its purpose (`purposes.ts`). Reducers, pure.
 */
import { namesOf, rankNames } from "../../../kernel/fuzzy.ts";
import { type DialogKey, typed } from "../dialog/typing.ts";
import { type Editor, emptyEditor } from "../input/editor.ts";
import { type PrintLine, textOfLine } from "../text/styled.ts";

export type PanelItem = {
  readonly id: string;
  readonly label: string;
  readonly note: string;
  /** A sign before it: what is chosen now, what failed. */
  readonly mark?: "done" | "failed" | "running" | undefined;
  /** What stands behind it, shown below the list while it is marked. */
  readonly whole?: string | undefined;
};

/** Where is looked for what is typed; Tab goes to the next. */
export type PanelScope = "project" | "session" | "person";
const scopes = ["project", "session", "person"] as const satisfies readonly PanelScope[];

export type ListPanel = {
  readonly kind: "list";
  readonly purpose: string;
  readonly title: string;
  readonly items: readonly PanelItem[];
  /** What is typed to find one. */
  readonly filter: Editor;
  /** In a list that is asked for by what is typed: it holds only what was found, and nothing of it is sorted out here. */
  readonly scope?: PanelScope | undefined;
  readonly marked: number;
  /** What stands below: the keys that mean something here. */
  readonly help: string;
  /** What is said of the marked one, once it is known; without an id, of all of them. */
  readonly preview: { readonly id: string; readonly lines: readonly PrintLine[] } | null;
  readonly state: "loading" | "ready";
  /** What is said where there is nothing to pick. */
  readonly empty: string;
};

export type TextPanel = {
  readonly kind: "text";
  readonly purpose: string;
  readonly title: string;
  readonly lines: readonly PrintLine[];
  readonly scroll: number;
  /** What is looked for; null where nobody looks. */
  readonly search: { readonly editor: Editor; readonly isWriting: boolean } | null;
  readonly state: "loading" | "ready";
};

export type Panel = ListPanel | TextPanel;

export const listPanel = (
  purpose: string,
  title: string,
  items: readonly PanelItem[] | "loading",
  help = "Enter takes it, Esc leaves",
  empty = "There is nothing here.",
): ListPanel => ({
  kind: "list",
  purpose,
  title,
  items: items === "loading" ? [] : items,
  filter: emptyEditor,
  marked: 0,
  help,
  preview: null,
  empty,
  state: items === "loading" ? "loading" : "ready",
});

export const textPanel = (
  purpose: string,
  title: string,
  lines: readonly PrintLine[] | "loading",
): TextPanel => ({
  kind: "text",
  purpose,
  title,
  lines: lines === "loading" ? [] : lines,
  scroll: 0,
  search: null,
  state: lines === "loading" ? "loading" : "ready",
});

/** The items that fit what is typed, the best first. */
export function shownItems({ items, filter, scope }: ListPanel): readonly PanelItem[] {
  const wanted = filter.text.trim();
  if (wanted === "" || scope !== undefined) return items;
  const byText = new Map(items.map((item) => [`${item.label} ${item.note}`, item]));
  return rankNames(namesOf([...byText.keys()]), wanted, 200).flatMap((text) => byText.get(text) ?? []);
}

export type PanelOutcome =
  | { readonly kind: "open"; readonly panel: Panel }
  | { readonly kind: "chosen"; readonly panel: ListPanel; readonly item: PanelItem; readonly key: string }
  | { readonly kind: "closed" };

const open = (panel: Panel): PanelOutcome => ({ kind: "open", panel });

export const panelKey = (panel: Panel, key: DialogKey, rows: number): PanelOutcome =>
  panel.kind === "list" ? listKey(panel, key, rows) : textKey(panel, key, rows);

function listKey(panel: ListPanel, key: DialogKey, rows: number): PanelOutcome {
  const shown = shownItems(panel);
  const to = (place: number): PanelOutcome =>
    open({ ...panel, marked: Math.max(0, Math.min(shown.length - 1, place)) });
  const item = shown[panel.marked];
  switch (key.name) {
    case "up":
    case "ctrl+p":
      return panel.marked === 0 ? to(shown.length - 1) : to(panel.marked - 1);
    case "down":
    case "ctrl+n":
      return panel.marked === shown.length - 1 ? to(0) : to(panel.marked + 1);
    case "enter":
      return item ? { kind: "chosen", panel, item, key: "enter" } : open(panel);
    case "escape":
      return panel.filter.text === ""
        ? { kind: "closed" }
        : open({ ...panel, filter: emptyEditor, marked: 0 });
    case "tab":
      return open(panel.scope === undefined ? panel : { ...panel, scope: nextScope(panel.scope), marked: 0 });
    default:
      break;
  }
  if (key.action === "page-up") return to(panel.marked - rows);
  if (key.action === "page-down") return to(panel.marked + rows);
  // Keys that are no letters may mean something in a list: to delete, to rename.
  if (key.text === "" && key.name !== "backspace" && item && /^(?:ctrl|alt)\+|^delete$/.test(key.name))
    return { kind: "chosen", panel, item, key: key.name };
  const filter = typed(panel.filter, key);
  return filter.text === panel.filter.text
    ? open({ ...panel, filter })
    : open({ ...panel, filter, marked: 0 });
}

const nextScope = (scope: PanelScope): PanelScope =>
  scopes[(scopes.indexOf(scope) + 1) % scopes.length] ?? "project";

function textKey(panel: TextPanel, key: DialogKey, rows: number): PanelOutcome {
  const { search } = panel;
  const to = (line: number): PanelOutcome =>
    open({ ...panel, scroll: Math.max(0, Math.min(panel.lines.length - 1, line)) });
  if (search?.isWriting) {
    if (key.name === "enter") return found({ ...panel, search: { ...search, isWriting: false } }, 1, "here");
    if (key.name === "escape") return open({ ...panel, search: null });
    return open({ ...panel, search: { ...search, editor: typed(search.editor, key) } });
  }
  switch (key.name) {
    case "up":
    case "k":
    case "ctrl+p":
      return to(panel.scroll - 1);
    case "down":
    case "j":
    case "ctrl+n":
    case "enter":
      return to(panel.scroll + 1);
    case " ":
    case "pagedown":
    case "ctrl+f":
      return to(panel.scroll + rows);
    case "b":
    case "pageup":
    case "ctrl+u":
      return to(panel.scroll - rows);
    case "g":
    case "home":
      return to(0);
    case "G":
    case "end":
      return to(panel.lines.length - rows);
    case "/":
      return open({ ...panel, search: { editor: emptyEditor, isWriting: true } });
    case "n":
      return found(panel, 1, "next");
    case "N":
      return found(panel, -1, "next");
    case "escape":
      return search ? open({ ...panel, search: null }) : { kind: "closed" };
    case "q":
      return { kind: "closed" };
    default:
      return key.action === "transcript" ? { kind: "closed" } : open(panel);
  }
}

/** The next line that has the words, around the end. */
function found(panel: TextPanel, by: 1 | -1, from: "here" | "next"): PanelOutcome {
  const wanted = panel.search?.editor.text.toLowerCase() ?? "";
  const count = panel.lines.length;
  if (wanted === "" || count === 0) return open(panel);
  for (let step = from === "here" ? 0 : 1; step <= count; step++) {
    const at = (panel.scroll + by * step + count * 2) % count;
    const line = panel.lines[at];
    if (line && textOfLine(line.spans).toLowerCase().includes(wanted)) return open({ ...panel, scroll: at });
  }
  return open(panel);
}
