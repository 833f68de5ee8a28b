/** Ports whose adapters are loaded when they are first used: most sessions end before that. */
import path from "node:path";
import { readGitHead } from "../../config/definitions/git-head.ts";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { readPlainText } from "../../config/settings/plain-text.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fileMemory } from "../../memory/notes.ts";
import type { CallReviewer } from "../../ports/call-review.ts";
import type { Checkpoints } from "../../ports/checkpoints.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Diagnostics, Formatter } from "../../ports/diagnostics.ts";
import type { RunProgram } from "../../ports/hook-programs.ts";
import type { Memory } from "../../ports/memory.ts";
import type { Search } from "../../ports/search.ts";
import type { CommandPlace, Grammar, Shell } from "../../ports/shell.ts";
import type { Web, WebSearch } from "../../ports/web.ts";
import type { Documents, Workspace } from "../../ports/workspace.ts";
import { projectKey } from "../../store/jsonl/log-locations.ts";
import type { DiagnosticsEntry } from "../../workspace/diagnostics/diagnostics.ts";
import type { EditorBuffers } from "../../workspace/files/buffers.ts";
import { nodeFiles } from "../../workspace/files/files.ts";
import type { PlaceOptions } from "../../workspace/git/command-place.ts";
import type { GitState } from "../../workspace/git/git-state.ts";
import type { EditorTerminals } from "../../workspace/processes/editor-terminals.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import type { ProcessGuard } from "../../workspace/processes/process-guard.ts";
import type { WebOptions } from "../../workspace/web/web.ts";
import type { SearchEngine } from "../../workspace/web/web-search.ts";
import type { SessionAudit } from "../audit/audit.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import type { OpenOptions } from "../options.ts";
import type { TranscriptCopy } from "../transcripts/copy.ts";
import type { TranscribedSession, TranscriptOptions } from "../transcripts/session-transcript.ts";
import type { CostAlarms, costAlarms } from "./cost-alarms.ts";
import type { IndexedHome, SessionRecall } from "./recall.ts";

/** What ends processes, once the first is about to start. */
export type LateGuard = () => Promise<ProcessGuard>;

type ProcessContext = { readonly env: ProcessEnvironment; readonly guard: LateGuard };

/** Where an editor has terminals, they take what is welcome there. */
export function lateShell({
  env,
  guard,
  inside,
  terminals,
  hostEnv = env,
}: ProcessContext & {
  /** Of commands that are confined. */
  readonly inside?: LateGuard | undefined;
  readonly terminals?: EditorTerminals | undefined;
  /** What an editor's terminals have as well. */
  readonly hostEnv?: ProcessEnvironment | undefined;
}): Shell {
  const load = once(async () => {
    const [{ nodeShell }, opened, confined] = await Promise.all([
      import("../../workspace/processes/shell.ts"),
      guard(),
      inside?.(),
    ]);
    const own = nodeShell({ env, guard: opened, inside: confined });
    // A terminal of an editor is outside.
    if (!terminals || confined) return own;
    const { withTerminals } = await import("../../workspace/processes/editor-terminals.ts");
    return withTerminals(own, { terminals, env, hostEnv });
  });
  return {
    async *run(command, signal) {
      return yield* (await load()).run(command, signal);
    },
    start: async (command) => (await load()).start(command),
  };
}

export type LateTranscript = {
  /** A session that is kept nowhere has none. */
  follow(session: TranscribedSession & { readonly location: string | undefined }): void;
  /** Where it stands, or that of an agent, with all that has happened; undefined where there is none. */
  path(agentId?: string): Promise<string | undefined>;
  /** Settles when all that has happened is written. Never rejects. */
  flush(): Promise<void>;
};

/** Written from the start of a session where somebody wants it, else from the first hook on that is told of it. */
export function lateTranscript(
  options: TranscriptOptions & { readonly settings: Pick<KeelSettings, "copyTranscripts"> },
): LateTranscript {
  // A host that says who it is looks there; a person's own word counts more.
  const isWanted = options.settings.copyTranscripts ?? Boolean(options.env["CLAUDE_CODE_ENTRYPOINT"]);
  let followed: TranscribedSession | undefined;
  let opened: Promise<TranscriptCopy> | undefined;
  const load = async (session: TranscribedSession): Promise<TranscriptCopy> => {
    const { openTranscript } = await import("../transcripts/session-transcript.ts");
    return openTranscript(session, options, isWanted ? "shared" : "own");
  };
  const open = (): Promise<TranscriptCopy> | undefined => {
    if (followed) opened ??= load(followed);
    return opened;
  };
  return {
    follow(session) {
      if (session.location === undefined) return;
      followed = session;
      if (isWanted) open()?.catch(() => undefined);
    },
    async path(agentId) {
      const copy = await open();
      await copy?.begin();
      return agentId === undefined ? copy?.file : copy?.agentFile(agentId);
    },
    flush: async () => (await opened?.catch(() => undefined))?.flush(),
  };
}

export function latePlace(options: PlaceOptions): CommandPlace {
  const load = once(async () =>
    (await import("../../workspace/git/command-place.ts")).nodeCommandPlace(options),
  );
  return {
    find: async (folder, names, reach) => (await load()).find(folder, names, reach),
    repository: async (folder) => (await load()).repository(folder),
    search: async () => (await load()).search(),
  };
}

/** What git says of a project's own repository; of one that nobody trusts only if its settings are the usual ones. */
export async function lateGitState(
  root: string,
  { env, commands }: { env: ProcessEnvironment; commands: Workspace["commands"] },
): Promise<GitState | undefined> {
  if ((await readGitHead(root)) === undefined) return undefined;
  if ((await commands?.place?.repository(root))?.kind !== "own") return undefined;
  const config = commands?.isTrusted
    ? undefined
    : await readPlainText(path.join(root, ".git", "config"), { links: "refuse" });
  if (config && config.kind !== "text") return undefined;
  const { readGitState } = await import("../../workspace/git/git-state.ts");
  return readGitState({ root, env, untrustedConfig: config && [config.text] });
}

export const latePrograms =
  ({ env, guard }: ProcessContext): RunProgram =>
  async (request, signal) => {
    const { programs } = await import("../../workspace/processes/program.ts");
    return programs({ env, guard: await guard() })(request, signal);
  };

export function lateFileSearch(env: ProcessEnvironment, own: readonly string[]): Search {
  const load = once(async () => (await import("../../workspace/search/search.ts")).nodeSearch({ env, own }));
  return {
    files: async (request, signal) => (await load()).files(request, signal),
    text: async (request, signal) => (await load()).text(request, signal),
  };
}

export const lateDocuments = (): Documents => ({
  pdfText: async (request, signal) =>
    (await import("../../workspace/files/documents.ts")).nodeDocuments().pdfText(request, signal),
});

/** The disk's files; with what an editor has open, where a host has one. */
export async function filesWith(buffers: EditorBuffers | undefined): Promise<typeof nodeFiles> {
  if (!buffers) return nodeFiles;
  const { withBuffers } = await import("../../workspace/files/buffers.ts");
  return (place) => withBuffers(nodeFiles(place), buffers);
}

export function lateGrammar(): Grammar {
  const load = once(async () => (await import("../../workspace/processes/grammar.ts")).openGrammar());
  return { parse: async (text) => (await load()).parse(text) };
}

/** Loads once; whoever comes meanwhile waits for the same. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}

type DiagnosticsSetting = NonNullable<KeelSettings["diagnostics"]>[number];

/** Undefined where the settings name nobody. */
export function lateDiagnostics(
  written: KeelSettings["diagnostics"],
  { cwd, commands, shell }: Pick<Workspace, "cwd" | "commands" | "shell">,
  { env, guard }: ProcessContext,
): Diagnostics | undefined {
  const entries = (written ?? []).flatMap(entryOf);
  if (entries.length === 0) return undefined;
  let loading: Promise<Diagnostics> | undefined;
  const open = async (): Promise<Diagnostics> => {
    const { nodeDiagnostics } = await import("../../workspace/diagnostics/diagnostics.ts");
    const userHome = commands?.home ?? "/";
    return nodeDiagnostics({ env, guard: await guard(), entries, root: cwd, userHome, shell });
  };
  return {
    async watch(file, signal) {
      loading ??= open();
      return (await loading).watch(file, signal);
    },
    close: async () => (await loading)?.close(),
  };
}

export function lateFormatter(
  written: KeelSettings["formatters"],
  { cwd, commands, shell }: Pick<Workspace, "cwd" | "commands" | "shell">,
): Formatter | undefined {
  const entries = (written ?? []).map(({ files, ...entry }) => ({ ...entry, files: [files].flat() }));
  if (entries.length === 0) return undefined;
  const about = { entries, root: cwd, userHome: commands?.home ?? "/", shell };
  const load = once(async () =>
    (await import("../../workspace/diagnostics/formatter.ts")).nodeFormatter(about),
  );
  return { format: async (file, signal) => (await load()).format(file, signal) };
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

/** The web's ports as the user has set them up. What reaches out is loaded at the first use: most sessions stay at home. */
export function lateWeb(options: Pick<WebOptions, "allowHosts" | "version">): Web {
  const load = once(async () => (await import("../../workspace/web/web.ts")).nodeWeb(options));
  return {
    address: async (url) => (await load()).address(url),
    fetch: async (url, signal) => (await load()).fetch(url, signal),
  };
}

type SearchSettings = { readonly settings: KeelSettings; readonly env: EnvironmentVariables };

export function lateSearch({ version, ...facts }: SearchSettings & { version: string }): WebSearch {
  const load = once(async () => {
    const { nodeWebSearch } = await import("../../workspace/web/web-search.ts");
    return nodeWebSearch({ engine: searchEngine(facts), version });
  });
  return {
    missing: async () => (await load()).missing(),
    search: async (request, signal) => (await load()).search(request, signal),
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

/** What is kept nowhere is not remembered; and nothing is loaded where nobody wants to be reminded. */
export async function lateRecall(
  { persist, env }: { persist?: "disk" | "memory" | undefined; env: EnvironmentVariables },
  { shared, root, settings }: { shared: IndexedHome; root: string; settings: KeelSettings },
): Promise<SessionRecall | undefined> {
  if (persist === "memory" || (settings.memory?.recall ?? "off") === "off") return undefined;
  const { sessionRecall } = await import("./recall.ts");
  return sessionRecall(shared, { settings, env, cwd: root, root });
}

/** What is kept nowhere is on nobody's account; and nothing is loaded where nobody has set a sum. */
export async function lateAlarms(
  { persist }: Pick<OpenOptions, "persist">,
  shared: Parameters<typeof costAlarms>[0],
  settings: KeelSettings,
): Promise<CostAlarms | undefined> {
  if (persist === "memory" || Object.keys(settings.costAlarms ?? {}).length === 0) return undefined;
  return (await import("./cost-alarms.ts")).costAlarms(shared, settings);
}

export async function lateAudit(
  place: SettingsLocation,
  { settings: { audit }, ...session }: { settings: KeelSettings; clock: Clock; project: string },
): Promise<SessionAudit | undefined> {
  if (!audit?.enabled) return undefined;
  const [{ sessionAudit }, { knownSecrets }] = await Promise.all([
    import("../audit/audit.ts"),
    import("../maintenance/keys.ts"),
  ]);
  return sessionAudit({ place, wish: audit, secrets: knownSecrets(place), ...session });
}

/** None where the host did not ask for it, or the settings say no. */
export function memoryOf(
  request: "on" | "off" | undefined,
  { home, root, settings, ids }: { home: string; root: string; settings: KeelSettings; ids: Ids },
): Memory | undefined {
  if (request !== "on" || settings.autoMemoryEnabled === false) return undefined;
  // In Keel's own folder, never in the project itself.
  return fileMemory({ folder: path.join(home, "memory", projectKey(root)), uuid: ids.uuid });
}

/** One for a session and its agents: what it has seen and how it fares is theirs together. */
export function lateReviewer(
  settings: KeelSettings["autoMode"],
  parts: { readonly clock: Clock; readonly ids: Ids },
): () => Promise<CallReviewer> {
  return once(async () => new (await import("./auto-mode.ts")).AutoModeReviewer(settings, parts));
}
