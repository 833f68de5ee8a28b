/** Diagnostics and checkpoints, loaded with the first edit and the first checkpoint: most sessions end before that. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Checkpoints } from "../../ports/checkpoints.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Diagnostics } from "../../ports/diagnostics.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { DiagnosticsEntry, DiagnosticsOptions } from "../../workspace/diagnostics/diagnostics.ts";

type DiagnosticsSetting = NonNullable<KeelSettings["diagnostics"]>[number];

/** Undefined where the settings name nobody. */
export function lateDiagnostics(
  written: KeelSettings["diagnostics"],
  { cwd, commands, shell }: Pick<Workspace, "cwd" | "commands" | "shell">,
  context: Pick<DiagnosticsOptions, "env" | "guard">,
): Diagnostics | undefined {
  const entries = (written ?? []).flatMap(entryOf);
  if (entries.length === 0) return undefined;
  let loading: Promise<Diagnostics> | undefined;
  const open = async (): Promise<Diagnostics> => {
    const { nodeDiagnostics } = await import("../../workspace/diagnostics/diagnostics.ts");
    return nodeDiagnostics({ ...context, entries, root: cwd, userHome: commands?.home ?? "/", shell });
  };
  return {
    async watch(file, signal) {
      loading ??= open();
      return (await loading).watch(file, signal);
    },
    close: async () => (await loading)?.close(),
  };
}

/** What names neither or both has passed the schema and says nothing; the check of settings tells of it. */
function entryOf({
  files,
  command,
  check,
  language,
  options,
  timeoutMs,
}: DiagnosticsSetting): DiagnosticsEntry[] {
  const common = { files: typeof files === "string" ? [files] : files, timeoutMs };
  if (command !== undefined) return [{ ...common, command, language, options }];
  return check === undefined ? [] : [{ ...common, check }];
}

export function lateCheckpoints({
  home,
  workspace,
  clock,
  limits = {},
}: {
  home: string;
  workspace: Workspace;
  clock: Clock;
  limits?: KeelSettings["checkpoints"];
}): Checkpoints {
  let loading: Promise<Checkpoints> | undefined;
  const load = (): Promise<Checkpoints> => {
    loading ??= open();
    return loading;
  };
  const open = async (): Promise<Checkpoints> => {
    const [{ nodeCheckpoints }, { defaultBounds }] = await Promise.all([
      import("../../workspace/checkpoints/checkpoints.ts"),
      import("../../workspace/checkpoints/snapshot.ts"),
    ]);
    const bounds = {
      files: limits.mostFiles ?? defaultBounds.files,
      fileBytes: limits.mostFileBytes ?? defaultBounds.fileBytes,
      allBytes: limits.mostBytes ?? defaultBounds.allBytes,
    };
    const { cwd: root, files } = workspace;
    const { quotaBytes, exclude } = limits;
    const userHome = workspace.commands?.home;
    return nodeCheckpoints({ home, root, files, now: clock.now, bounds, quotaBytes, exclude, userHome });
  };
  return {
    backUp: async (path) => (await load()).backUp(path),
    prepare: async (key, signal) => (await load()).prepare(key, signal),
    changes: async (signal) => (await load()).changes(signal),
    stamp: async (path) => (await load()).stamp(path),
    preview: async (files) => (await load()).preview(files),
    restore: async (file) => (await load()).restore(file),
    close: async () => (await loading)?.close(),
  };
}
