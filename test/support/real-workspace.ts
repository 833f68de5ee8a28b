// The real place to work in: real files, real search, real processes, real time.
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import type { Clock } from "../../keel/src/ports/clock.ts";
import type { Workspace } from "../../keel/src/ports/workspace.ts";
import { nodeDocuments } from "../../keel/src/workspace/files/documents.ts";
import { nodeFiles } from "../../keel/src/workspace/files/files.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";
import { nodeSearch } from "../../keel/src/workspace/search/search.ts";
import { plainEnvironment } from "./real-shell.ts";

export function realWorkspace({ cwd, roots = [cwd] }: { cwd: string; roots?: readonly string[] }): Workspace {
  return {
    cwd,
    roots,
    files: nodeFiles({ cwd, roots }),
    search: nodeSearch({ env: plainEnvironment }),
    documents: nodeDocuments(),
    shell: nodeShell({ env: plainEnvironment }),
  };
}

/** Real processes take real time. */
export const realClock: Clock = nodeClock();
