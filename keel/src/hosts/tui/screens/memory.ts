/** What memory told this session, and what earlier conversations said of what is typed; each can be read and forgotten. */
import type { Effect } from "../screen/effects.ts";
import { just } from "../screen/on-event.ts";
import { type ListPanel, listPanel, type PanelScope, textPanel } from "../screen/panel.ts";
import { closed, push, type ScreenRow } from "../screen/screen-row.ts";
import { textLines } from "../screen/screen-texts.ts";
import type { ScreenState } from "../screen/state.ts";

const titles: Readonly<Record<PanelScope, string>> = {
  project: "Memory of this project",
  session: "Memory of this session",
  person: "Memory of all projects",
};

const nothingSaid: Readonly<Record<PanelScope, string>> = {
  project: "Nothing of this project says that. Tab looks elsewhere.",
  session: "Nothing of this session says that. Tab looks elsewhere.",
  person: "Nothing says that.",
};

/** The list again, by what is typed in it now. */
export function searchAgain({ panels }: ScreenState): readonly Effect[] {
  const list = panels.find(({ purpose }) => purpose === "memory");
  return list?.kind === "list" ? [searchFor(list)] : [];
}

const searchFor = ({ filter, scope = "project" }: ListPanel): Effect => ({
  type: "search-memory",
  words: filter.text.trim(),
  scope,
});

const idOfPiece = (id: string): number | undefined => {
  const [, piece] = /^piece:(\d+)$/.exec(id) ?? [];
  return piece === undefined ? undefined : Number(piece);
};

export const memoryScreens: readonly ScreenRow[] = [
  {
    names: ["memory"],
    alone: true,
    open: (state) => {
      const panel: ListPanel = {
        ...listPanel("memory", titles.project, "loading", "Enter reads, Delete forgets, Tab looks elsewhere"),
        scope: "project",
      };
      return push(state, panel, searchFor(panel));
    },
    fill: (panel, got) => {
      if (panel.kind !== "list" || got.what !== "memory") return panel;
      // What was typed since then has an answer of its own.
      if (got.words !== panel.filter.text.trim() || got.scope !== panel.scope) return panel;
      const { scope, items } = got;
      return {
        ...panel,
        title: titles[scope],
        items,
        state: "ready",
        marked: Math.max(0, Math.min(panel.marked, items.length - 1)),
        empty: nothingSaid[scope],
      };
    },
    moved: (panel, before) =>
      panel.filter.text.trim() === before.filter.text.trim() && panel.scope === before.scope
        ? []
        : [searchFor(panel)],
    choose: (state, item, key) => {
      if (item.id === "files")
        return key === "enter"
          ? push(state, textPanel("memory", "Instruction files", "loading"), {
              type: "submit",
              command: { type: "input", content: [{ type: "text", text: "/memory" }] },
              tag: "input",
            })
          : just(state);
      if (key === "enter")
        return push(state, textPanel("passage", item.note, textLines(item.whole ?? item.label)));
      if (key !== "delete" || idOfPiece(item.id) === undefined) return just(state);
      const away = {
        id: item.id,
        label: "Forget it",
        note: "its whole message leaves the index for good; the log stays",
      };
      const stay = { id: "leave", label: "Leave it", note: "" };
      return push(state, listPanel("forget", item.label, [away, stay], item.note));
    },
  },
  {
    names: ["passage"],
    inner: true,
    open: (state) => just(state),
  },
  {
    names: ["forget"],
    inner: true,
    open: (state) => just(state),
    choose: (state, item) => {
      const piece = idOfPiece(item.id);
      return just(closed(state), ...(piece === undefined ? [] : [{ type: "forget-memory" as const, piece }]));
    },
  },
];
