/** Where a session works: its folders with their files, searches and commands, each loaded when it is used. */
import { boundShell, type TreeBudget } from "../../agents/budget.ts";
import type { Grammar } from "../../ports/shell.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { OpenOptions } from "../options.ts";
import type { LiveFolders } from "./folders.ts";
import {
  type filesWith,
  type LateGuard,
  lateDiagnostics,
  lateDocuments,
  lateFileSearch,
  latePlace,
  lateShell,
} from "./late-ports.ts";
import type { OwnFiles } from "./own-files.ts";
import { type SettingsInForce, withoutOwnPath } from "./settings.ts";

/** Makes the workspace of a folder; whatever of it works in which folder, guard, budget and grammar are the same. */
export function workspaces({
  env,
  commandEnv,
  settings,
  trust,
  budget,
  guard,
  kept,
  named,
  grammar,
  files,
  terminals,
}: Pick<SettingsInForce, "env" | "commandEnv" | "settings" | "trust"> & {
  budget: TreeBudget;
  guard: LateGuard;
  kept: OwnFiles;
  named: () => ReadonlyMap<string, string>;
  grammar: Grammar;
  files: Awaited<ReturnType<typeof filesWith>>;
  terminals: { terminals: OpenOptions["terminals"]; hostEnv: OpenOptions["env"] };
}): (folders: Pick<LiveFolders, "cwd" | "roots">) => Workspace {
  const shell = boundShell(lateShell({ env: commandEnv, guard, ...terminals }), budget);
  const commands = {
    grammar,
    home: commandEnv["HOME"] ?? "/",
    isTrusted: trust.state !== "untrusted",
    place: latePlace({ project: trust.root, env: commandEnv }),
  };
  return (folders) => {
    const { cwd } = folders;
    const place = {
      cwd,
      own: [kept.folder],
      given: kept.given,
      named,
      // Looked up each time: folders come and go.
      get roots() {
        return folders.roots;
      },
    };
    return {
      cwd,
      get roots() {
        return folders.roots;
      },
      own: place.own,
      files: files(place),
      search: lateFileSearch(env, place.own),
      documents: lateDocuments(),
      shell,
      commands,
      diagnostics: lateDiagnostics(
        settings.diagnostics,
        { cwd, commands, shell },
        { env: withoutOwnPath(commandEnv, folders.roots), guard },
      ),
    };
  };
}
