/** Where a workspace works and what has changed there, for the head of a page; the count leads to the changes. */
import type { WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Link } from "../kit/link.tsx";
import { words } from "../words.ts";

type WorkspaceFactsProps = {
  readonly workspace: WorkspaceEntry | undefined;
  /** Where there is no workspace around it. */
  readonly cwd?: string | undefined;
};

export function WorkspaceFacts({ workspace, cwd = "" }: WorkspaceFactsProps): ReactElement {
  const { added = 0, removed = 0, branch, worktree, workers = [] } = workspace ?? {};
  const diff = workers.find(({ kind }) => kind === "diff");
  const lines = (
    <>
      <span className="added">+{added}</span> <span className="removed">−{removed}</span>
    </>
  );
  return (
    <>
      <span className="one-line where">
        {visible(shortHome((worktree ? workspace?.folder : workspace?.cwd) ?? cwd))}
      </span>
      {branch !== undefined && <span>{worktree ? words.worktree(visible(branch)) : visible(branch)}</span>}
      {added + removed > 0 && (
        <span className="figures">
          {workspace && diff ? (
            <Link to={{ page: "worker", workspace: workspace.id, worker: diff.id }} title={words.diff}>
              {lines}
            </Link>
          ) : (
            lines
          )}
        </span>
      )}
    </>
  );
}

const shortHome = (path: string): string => path.replace(/^\/(?:home|Users)\/[^/]+/, "~");
