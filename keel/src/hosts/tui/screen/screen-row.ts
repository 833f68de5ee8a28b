/**
 * A screen that a command opens: what it asks for when it opens, how the answer becomes a panel, and what picking
 * something in it does. Pure.
 */
import type { SettingsPatch } from "../../../protocol/settings.ts";
import type { Effect, Got } from "./effects.ts";
import { just, type ScreenStep } from "./on-event.ts";
import type { ListPanel, Panel, PanelItem } from "./panel.ts";
import type { ScreenState } from "./state.ts";

export type ScreenRow = {
  readonly names: readonly string[];
  /** Only without words after its name; with some it is the session's command. */
  readonly alone?: boolean;
  /** Reached from other screens only. */
  readonly inner?: boolean;
  open(state: ScreenState, args: string): ScreenStep;
  /** What an answer that was asked for makes of the panel. */
  fill?(panel: Panel, got: Got, state: ScreenState): Panel;
  /** What is to be done when something else is marked or typed in it. */
  moved?(panel: ListPanel, before: ListPanel): readonly Effect[];
  choose?(state: ScreenState, item: PanelItem, key: string, panel: ListPanel): ScreenStep;
};

export const push = (state: ScreenState, panel: Panel, ...effects: Effect[]): ScreenStep =>
  just({ ...state, panels: [...state.panels, panel], completion: null }, ...effects);

export const closed = (state: ScreenState): ScreenState => ({ ...state, panels: state.panels.slice(0, -1) });
export const allClosed = (state: ScreenState): ScreenState => ({ ...state, panels: [] });

/** An inquiry without a question of its own. */
export const ask = (name: Extract<Got, { what: "inquiry" }>["name"], tag: string): Effect =>
  ({ type: "inquire", name, question: {}, tag }) as Effect;

export const ready = (panel: Panel, items: readonly PanelItem[]): Panel =>
  panel.kind === "list" ? { ...panel, items, state: "ready" } : panel;

export const set = (patch: SettingsPatch, tag?: string): Effect => ({
  type: "submit",
  command: { type: "set", patch },
  ...(tag === undefined ? {} : { tag }),
});

export function sayAgo(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
