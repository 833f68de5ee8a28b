/** The workers of a workspace, and the way to add one. */
import type { NewWorker, WorkerEntry, WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import { lazy, type ReactElement, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Icon, type IconName } from "../kit/icon.tsx";
import { Link } from "../kit/link.tsx";
import { Loaded } from "../kit/loaded.tsx";
import { MenuButton, type MenuItem } from "../kit/menu.tsx";
import { activitySigns, Sign } from "../kit/sign.tsx";
import { useNavigation } from "../live/navigation.ts";
import { useAccess, useWorld } from "../live/world.ts";
import { words } from "../words.ts";

const NewAgent = lazy(async () => ({ default: (await import("./new-agent.tsx")).NewAgent }));

export const workerIcons = { agent: "agent", terminal: "terminal", diff: "diff" } as const satisfies Record<
  WorkerEntry["kind"],
  IconName
>;

type WorkerTabsProps = { readonly workspace: WorkspaceEntry; readonly current: string | undefined };

export function WorkerTabs({ workspace, current }: WorkerTabsProps): ReactElement {
  const chosen = current ?? workspace.workers[0]?.id;
  const { items, dialog } = useNewWorkers(workspace);
  return (
    <nav className="tabs" aria-label={words.workers.label}>
      {workspace.workers.map(({ id, kind, name, activity }) => (
        <Link
          key={id}
          to={{ page: "worker", workspace: workspace.id, worker: id }}
          aria-current={id === chosen ? "page" : undefined}
          title={visible(name)}
        >
          {kind === "agent" && activity !== "idle" ? (
            <Sign kind={activitySigns[activity]} says={words.activity[activity]} />
          ) : (
            <Icon name={workerIcons[kind]} />
          )}
          <span className="one-line">{visible(name)}</span>
        </Link>
      ))}
      {items.length > 0 && <MenuButton icon="plus" label={words.workers.add} items={items} />}
      {dialog}
    </nav>
  );
}

/** Where nobody works yet: the ways to begin. */
export function NoWorkers({ workspace }: { readonly workspace: WorkspaceEntry }): ReactElement {
  const { items, dialog } = useNewWorkers(workspace);
  return (
    <div className="state">
      <p className="quiet">{words.workers.none}</p>
      <div className="answers">
        {items.map(({ label, icon, onPick }) => (
          <Button key={label} icon={icon} onClick={onPick}>
            {label}
          </Button>
        ))}
      </div>
      {dialog}
    </div>
  );
}

/** What can be added, and the dialog of what asks for more first. Nothing for whoever may not. */
function useNewWorkers(workspace: WorkspaceEntry): {
  readonly items: readonly MenuItem[];
  readonly dialog: ReactElement | null;
} {
  const world = useWorld();
  const { go } = useNavigation();
  const [isAsking, setAsking] = useState(false);
  const mayAdd = useAccess() === "work";
  const create = async (worker: NewWorker): Promise<void> => {
    const made = await world.client.workspaces.createWorker({ workspace: workspace.id, worker });
    go({ page: "worker", workspace: workspace.id, worker: made.id });
  };
  const adds = (kind: NewWorker["kind"]): MenuItem => ({
    label: words.workers[kind],
    icon: workerIcons[kind],
    onPick: () => void world.attempt(create({ kind, name: words.workers[kind] })),
  });
  const hasDiff = workspace.workers.some(({ kind }) => kind === "diff");
  const items = [
    adds("agent"),
    { label: words.workers.otherAgent, icon: workerIcons.agent, onPick: () => setAsking(true) },
    adds("terminal"),
    ...(hasDiff ? [] : [adds("diff")]),
  ];
  return {
    items: mayAdd ? items : [],
    dialog: isAsking ? (
      <Loaded>
        <NewAgent workspace={workspace} onClose={() => setAsking(false)} />
      </Loaded>
    ) : null,
  };
}
