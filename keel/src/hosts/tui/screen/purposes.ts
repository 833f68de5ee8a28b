/** The screens that commands open, by their names. */
import { configScreens } from "../screens/config.ts";
import { listScreens } from "../screens/lists.ts";
import { memoryScreens } from "../screens/memory.ts";
import { readingScreens } from "../screens/reading.ts";
import { sessionScreens } from "../screens/session.ts";
import { workScreens } from "../screens/work.ts";
import type { Effect, Got } from "./effects.ts";
import { just, type ScreenStep } from "./on-event.ts";
import type { ListPanel, Panel, PanelItem } from "./panel.ts";
import type { ScreenState } from "./state.ts";

const byName = new Map(
  [
    ...readingScreens,
    ...sessionScreens,
    ...listScreens,
    ...workScreens,
    ...configScreens,
    ...memoryScreens,
  ].flatMap((row) => row.names.map((name) => [name, row] as const)),
);

/** Whether a command opens a screen of ours; with words after it the session answers it itself. */
export function screenNamed(name: string, args: string): boolean {
  const row = byName.get(name);
  return row !== undefined && !row.inner && !(row.alone && args.trim() !== "");
}

export function openScreen(state: ScreenState, name: string, args = ""): ScreenStep {
  return byName.get(name)?.open(state, args) ?? just(state);
}

export function fillPanels(state: ScreenState, got: Got): ScreenState {
  const panels = state.panels.map((panel) => byName.get(panel.purpose)?.fill?.(panel, got, state) ?? panel);
  return panels.some((panel, at) => panel !== state.panels[at]) ? { ...state, panels } : state;
}

export const movedIn = (panel: Panel, before: Panel): readonly Effect[] =>
  panel.kind === "list" && before.kind === "list"
    ? (byName.get(panel.purpose)?.moved?.(panel, before) ?? [])
    : [];

export function choosePanel(state: ScreenState, panel: ListPanel, item: PanelItem, key: string): ScreenStep {
  return byName.get(panel.purpose)?.choose?.(state, item, key, panel) ?? just(state);
}
