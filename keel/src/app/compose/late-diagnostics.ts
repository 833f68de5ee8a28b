/** Diagnostics that are loaded with the first edit of a file that somebody looks after: most sessions have none. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
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
