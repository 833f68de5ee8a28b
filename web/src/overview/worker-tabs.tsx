/** The workers of a workspace, and the way to add one. */
import type { NewWorker, WorkerEntry, WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Icon, type IconName } from "../kit/icon.tsx";
import { Link } from "../kit/link.tsx";
import { MenuButton } from "../kit/menu.tsx";
import { Sign } from "../kit/sign.tsx";
import { useNavigation } from "../live/navigation.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { activitySigns } from "./rail.tsx";

export const workerIcons = { agent: "agent", terminal: "terminal", diff: "diff" } as const satisfies Record<
  WorkerEntry["kind"],
  IconName
>;

export function WorkerTabs({
  workspace,
  current,
}: {
  readonly workspace: WorkspaceEntry;
  readonly current: string | undefined;
}): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const chosen = current ?? workspace.workers[0]?.id;
  const add = async (worker: NewWorker): Promise<void> => {
    const made = await world.client.workspaces.createWorker({ workspace: workspace.id, worker });
    go({ page: "worker", workspace: workspace.id, worker: made.id });
  };
  const hasDiff = workspace.workers.some(({ kind }) => kind === "diff");
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
      <MenuButton
        icon="plus"
        label={words.workers.add}
        items={[
          {
            label: words.workers.agent,
            icon: "agent",
            onPick: () => void add({ kind: "agent", name: words.workers.agent }),
          },
          {
            label: words.workers.terminal,
            icon: "terminal",
            onPick: () => void add({ kind: "terminal", name: words.workers.terminal }),
          },
          ...(hasDiff
            ? []
            : [
                {
                  label: words.workers.diff,
                  icon: "diff" as const,
                  onPick: () => void add({ kind: "diff", name: words.workers.diff }),
                },
              ]),
        ]}
      />
    </nav>
  );
}
