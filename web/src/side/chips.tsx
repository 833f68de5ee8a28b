/** Where there is no room for what stands beside a conversation: its figures as a row, each of which opens it. */
import { rowsOf, sayCost, sayUsd } from "keel/view";
import type { ReactElement } from "react";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";

type SideChipsProps = { readonly view: SessionView; readonly onOpen: () => void };

export function SideChips({ view, onOpen }: SideChipsProps): ReactElement | null {
  const { standing, changes, totals } = view;
  const files = Object.keys(changes.files).length;
  const done = standing.todos.filter(({ status }) => status === "completed").length;
  const running = rowsOf(view.transcript)
    .toArray()
    .filter((row) => (row.kind === "agent" || row.kind === "task") && row.status === "running").length;
  const chips: readonly (readonly [name: string, figure: string])[] = [
    ...(standing.todos.length > 0 ? [[words.side.todo, `${done} / ${standing.todos.length}`] as const] : []),
    ...(files > 0 ? [[words.side.files, String(files)] as const] : []),
    ...(running > 0 ? [[words.side.tasks, String(running)] as const] : []),
    ...(totals.turns > 0
      ? [[words.side.cost, totals.costUsd > 0 ? sayUsd(totals.costUsd) : sayCost(totals)] as const]
      : []),
  ];
  if (chips.length === 0) return null;
  return (
    <div className="chips">
      {chips.map(([name, figure]) => (
        <button key={name} type="button" onClick={onOpen}>
          <span className="quiet">{name}</span> <span className="figures">{figure}</span>
        </button>
      ))}
    </div>
  );
}
