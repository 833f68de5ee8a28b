/** What can be done with a workspace and with the worker in it that is looked at: other names, and their end. */
import { visible } from "keel/view";
import { lazy, memo, type ReactElement, useState } from "react";
import { Loaded } from "../kit/loaded.tsx";
import { MenuButton, type MenuItem } from "../kit/menu.tsx";
import { useNavigation } from "../live/navigation.ts";
import { useAccess, useWorld } from "../live/world.ts";
import { words } from "../words.ts";

const RenameDialog = lazy(async () => ({ default: (await import("./change-dialogs.tsx")).RenameDialog }));
const RemoveDialog = lazy(async () => ({ default: (await import("./change-dialogs.tsx")).RemoveDialog }));

type WorkspaceMenuProps = {
  /** The ids of a workspace, and of its worker; none where the workspace is looked at from outside. */
  readonly workspace: string;
  readonly worker?: string | undefined;
  /** What else can be done there, before these. */
  readonly items?: readonly MenuItem[] | undefined;
};

type Change = "name" | "worker-name" | "gone" | "worker-gone";

/** Drawn once: what they are called and do now is looked up when it is opened. */
export const WorkspaceMenu = memo(function WorkspaceMenu({
  workspace: id,
  worker: workerId,
  items = noItems,
}: WorkspaceMenuProps): ReactElement | null {
  const world = useWorld();
  const { go } = useNavigation();
  const [changing, setChanging] = useState<Change>();
  const mayChange = useAccess() === "work";
  const { workspaces } = world.client;
  const workspace = world.workspaceList.one(id).get();
  const worker = workspace?.workers.find((one) => one.id === workerId);
  const all = (): readonly MenuItem[] => {
    const archived = world.workspaceList.one(id).get()?.archived ?? false;
    return [
      ...items,
      ...(workerId === undefined
        ? []
        : ([
            { label: words.change.renameWorker, icon: "edit", onPick: () => setChanging("worker-name") },
            { label: words.change.removeWorker, icon: "trash", onPick: () => setChanging("worker-gone") },
          ] as const)),
      { label: words.change.renameWorkspace, icon: "edit", onPick: () => setChanging("name") },
      {
        label: archived ? words.overview.takeBack : words.overview.archive,
        icon: archived ? "undo" : "archive",
        onPick: () => void world.attempt(workspaces.changeWorkspace({ workspace: id, archived: !archived })),
      },
      { label: words.change.removeWorkspace, icon: "trash", onPick: () => setChanging("gone") },
    ];
  };
  const removeWorkspace = async (): Promise<void> => {
    const { keptWorktree } = await workspaces.deleteWorkspace({ workspace: id });
    if (keptWorktree !== undefined)
      world.told.set({ kind: "note", says: words.change.keptWorktree(keptWorktree) });
    if (workerId !== undefined) go({ page: "overview" });
  };
  const removeWorker = async (of: string): Promise<void> => {
    await workspaces.deleteWorker({ worker: of });
    go({ page: "worker", workspace: id }, "replace");
  };
  const onClose = (): void => setChanging(undefined);
  if (!mayChange && items.length === 0) return null;
  return (
    <>
      <MenuButton icon="more" label={words.change.menu} items={mayChange ? all : items} />
      {changing !== undefined && (
        <Loaded>
          {changing === "name" ? (
            <RenameDialog
              title={words.change.renameTitle(visible(workspace?.title ?? ""))}
              name={workspace?.title ?? ""}
              onRename={(name) =>
                void world.attempt(workspaces.changeWorkspace({ workspace: id, title: name }))
              }
              onClose={onClose}
            />
          ) : changing === "gone" ? (
            <RemoveDialog
              title={words.change.removeTitle(visible(workspace?.title ?? ""))}
              about={words.change.aboutWorkspace}
              verb={words.change.remove}
              onRemove={() => void world.attempt(removeWorkspace())}
              onClose={onClose}
            />
          ) : worker && changing === "worker-name" ? (
            <RenameDialog
              title={words.change.renameTitle(visible(worker.name))}
              name={worker.name}
              onRename={(name) => void world.attempt(workspaces.changeWorker({ worker: worker.id, name }))}
              onClose={onClose}
            />
          ) : (
            worker && (
              <RemoveDialog
                title={words.change.removeTitle(visible(worker.name))}
                about={words.change.aboutWorker[worker.kind]}
                verb={words.change.remove}
                onRemove={() => void world.attempt(removeWorker(worker.id))}
                onClose={onClose}
              />
            )
          )}
        </Loaded>
      )}
    </>
  );
});

const noItems: readonly MenuItem[] = [];
