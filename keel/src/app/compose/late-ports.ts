/** Ports that are loaded with their first use: diagnostics, checkpoints, the web. Most sessions end before that. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { Checkpoints } from "../../ports/checkpoints.ts";
import type { Diagnostics } from "../../ports/diagnostics.ts";
import type { Web, WebSearch } from "../../ports/web.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { DiagnosticsEntry, DiagnosticsOptions } from "../../workspace/diagnostics/diagnostics.ts";
import type { WebOptions } from "../../workspace/web/web.ts";
import type { SearchEngine } from "../../workspace/web/web-search.ts";

/** Opens at the first call; `opened` waits for nothing that nobody has used. */
function late<T>(open: () => Promise<T>): { use(): Promise<T>; opened(): Promise<T> | undefined } {
  let loading: Promise<T> | undefined;
  return { use: () => (loading ??= open()), opened: () => loading };
}

type DiagnosticsSetting = NonNullable<KeelSettings["diagnostics"]>[number];

/** Undefined where the settings name nobody. */
export function lateDiagnostics(
  written: KeelSettings["diagnostics"],
  { cwd, commands, shell }: Pick<Workspace, "cwd" | "commands" | "shell">,
  context: Pick<DiagnosticsOptions, "env" | "guard">,
): Diagnostics | undefined {
  const entries = (written ?? []).flatMap(entryOf);
  if (entries.length === 0) return undefined;
  const port = late(async () => {
    const { nodeDiagnostics } = await import("../../workspace/diagnostics/diagnostics.ts");
    return nodeDiagnostics({ ...context, entries, root: cwd, userHome: commands?.home ?? "/", shell });
  });
  return {
    watch: async (file, signal) => (await port.use()).watch(file, signal),
    close: async () => (await port.opened())?.close(),
  };
}

/** What names neither or both has passed the schema and says nothing; the check of settings tells of it. */
function entryOf({ files, timeoutMs, check, ...server }: DiagnosticsSetting): DiagnosticsEntry[] {
  const { command, language, options } = server;
  const common = { files: typeof files === "string" ? [files] : files, timeoutMs };
  if (command !== undefined) return [{ ...common, command, language, options }];
  return check === undefined ? [] : [{ ...common, check }];
}

export function lateCheckpoints({
  home,
  workspace,
  clock,
  limits = {},
}: Pick<SessionPorts, "workspace" | "clock"> & {
  home: string;
  limits?: KeelSettings["checkpoints"];
}): Checkpoints {
  const port = late(async () => {
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
  });
  return {
    backUp: async (path) => (await port.use()).backUp(path),
    prepare: async (key, signal) => (await port.use()).prepare(key, signal),
    changes: async (signal) => (await port.use()).changes(signal),
    stamp: async (path) => (await port.use()).stamp(path),
    preview: async (files) => (await port.use()).preview(files),
    restore: async (file) => (await port.use()).restore(file),
    close: async () => (await port.opened())?.close(),
  };
}

export function lateWeb(options: Pick<WebOptions, "allowHosts" | "version">): Web {
  const port = late(async () => (await import("../../workspace/web/web.ts")).nodeWeb(options));
  return {
    address: async (url) => (await port.use()).address(url),
    fetch: async (url, signal) => (await port.use()).fetch(url, signal),
  };
}

type SearchSettings = { readonly settings: KeelSettings; readonly env: EnvironmentVariables };

export function lateSearch({ version, ...facts }: SearchSettings & { version: string }): WebSearch {
  const port = late(async () => {
    const { nodeWebSearch } = await import("../../workspace/web/web-search.ts");
    return nodeWebSearch({ engine: searchEngine(facts), version });
  });
  return {
    missing: async () => (await port.use()).missing(),
    search: async (request, signal) => (await port.use()).search(request, signal),
  };
}

/** The engine that the settings name, else the one that the environment has what is needed for. */
export function searchEngine({ settings, env }: SearchSettings): SearchEngine | undefined {
  const {
    provider,
    url = env["KEEL_SEARCH_URL"]?.trim(),
    key = env["BRAVE_API_KEY"]?.trim(),
  } = settings.search ?? {};
  const searxng: SearchEngine | undefined = url && URL.canParse(url) ? { kind: "searxng", url } : undefined;
  const brave: SearchEngine | undefined = key ? { kind: "brave", key, url: settings.search?.url } : undefined;
  if (provider !== undefined) return provider === "brave" ? brave : searxng;
  return searxng ?? brave;
}
