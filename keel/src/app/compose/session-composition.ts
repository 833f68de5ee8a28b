/** Everything that a session is made of, apart from its log and its model. Making it changes nothing on disk. */
import { TreeBudget } from "../../agents/budget.ts";
import { commandWords } from "../../config/settings/command-lines.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { entryAt } from "../../config/settings/settings.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { keepNothing, keepRecent } from "../../core/context/condense.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { Hook } from "../../hooks/run.ts";
import type { LinkPool } from "../../mcp/pool.ts";
import { parseRule } from "../../policy/rules.ts";
import type { LiveTerminals } from "../../ports/live-terminals.ts";
import type { Schedules } from "../../ports/schedules.ts";
import type { LogNotice, Store } from "../../ports/store.ts";
import type { Tool, ToolHead } from "../../ports/tool.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import { offersForeign } from "../../tools/presets.ts";
import type { SessionAudit } from "../audit/audit.ts";
import { type Keys, storedKeys, withKeys } from "../maintenance/keys.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import type { OpenOptions } from "../options.ts";
import { lateTelemetry } from "../telemetry/late-telemetry.ts";
import type { SessionTelemetry } from "../telemetry/telemetry.ts";
import { agentExtras, withSkills } from "./agent-extras.ts";
import { type SessionAgents, sessionAgents } from "./agents.ts";
import type { CostAlarms } from "./cost-alarms.ts";
import { foldersOf, type LiveFolders, liveFolders } from "./folders.ts";
import type { HomeResources } from "./home-resources.ts";
import { hookCalls, sessionHooks } from "./hooks.ts";
import { type LateEditor, lateEditor } from "./late-editor.ts";
import {
  filesWith,
  type LateTranscript,
  lateAlarms,
  lateAudit,
  lateCheckpoints,
  latePrograms,
  lateRecall,
  lateReviewer,
  lateTranscript,
  memoryOf,
} from "./late-ports.ts";
import { limitsFrom } from "./limits.ts";
import { type SessionMcp, sessionMcp, withServersOf } from "./mcp.ts";
import { type Bypass, bypassOf, isBareRoot, sandboxOf, startMode, withHostsOf } from "./mode.ts";
import { type OpenModel, usableFallbacks } from "./model.ts";
import { type OwnFiles, ownFiles } from "./own-files.ts";
import { type OwnPrograms, ownPrograms } from "./own-programs.ts";
import { joinBoxes, type OwnToolbox, ownToolbox } from "./own-tools.ts";
import type { SessionRecall } from "./recall.ts";
import { isForbiddingLost, type LiveRules, liveRules, offeredTools, readRules, refuseLost } from "./rules.ts";
import { modelOfMain, type SessionTexts, sessionTexts, toolsOfMain } from "./session-texts.ts";
import { fallbacksIn, readSettings, type SettingsInForce, withoutOwnPath } from "./settings.ts";
import { allowedBox, lateSchedules, lateTerminals, toolSet } from "./tool-set.ts";
import { movableWorkspace, type SessionWorktrees, sessionWorktrees, workspaces } from "./worktrees.ts";

export type SessionComposition = {
  readonly parts: Omit<SessionPorts, "log" | "model" | "spill">;
  readonly store: Store;
  /** With the keys that Keel keeps. */
  readonly settings: KeelSettings;
  readonly keys: Keys;
  /** What the session goes by, settings included; never a project's. */
  readonly env: SettingsInForce["env"];
  readonly trust: SettingsInForce["trust"];
  /** The model that this start insists on, before what the log and the environment say. */
  readonly model: string | undefined;
  readonly permissionMode: PermissionMode;
  readonly bypass: Bypass;
  /** Hooks that are functions of the program. */
  readonly programHooks: readonly Hook[];
  /** Every value of every source, as the session began. */
  readonly entries: SettingsInForce["entries"];
  /** Where its settings stand. */
  readonly settingsLocation: SettingsLocation;
  /** What changes while the session is open. */
  readonly rules: LiveRules;
  readonly folders: LiveFolders;
  readonly mcp: SessionMcp;
  /** The editor of its folder, where one is wanted. */
  readonly editor: LateEditor;
  readonly own: OwnToolbox;
  /** Programs of the person's own: tools from folders, and what plugins bring. */
  readonly brought: OwnPrograms;
  /** What of Keel's own folder it may read. */
  readonly ownFiles: OwnFiles;
  /** What the session is told and can call by name. */
  readonly texts: SessionTexts;
  readonly agents: SessionAgents;
  /** Whether its host shows a person what other sessions send. */
  readonly letters: OpenOptions["letters"];
  readonly worktrees: SessionWorktrees;
  /** For hooks, and for programs that read transcripts by themselves. */
  readonly transcript: LateTranscript;
  /** Interactive programs of the model. */
  readonly terminals: LiveTerminals | undefined;
  /** What is due by the clock in its home; none for a session that is kept nowhere. */
  readonly schedules: Schedules | undefined;
  /** Where a person wants to be reminded of earlier conversations. */
  readonly recall: SessionRecall | undefined;
  /** Where a person wants to hear what they spend. */
  readonly alarms: CostAlarms | undefined;
  /** Where a person wants to have on record who decided what. */
  readonly audit: SessionAudit | undefined;
  /** Where a person wants to have its spans sent. */
  readonly telemetry: SessionTelemetry | undefined;
  readonly notices: readonly LogNotice[];
};

/** In the order in which one needs the other. Throws `mode_refused` or `usage`. */
export async function composeSession(
  options: OpenOptions,
  shared: HomeResources,
): Promise<SessionComposition> {
  const { path: home, clock, ids } = shared;
  const { version, letters } = options;
  const [inForce, keys, store] = await Promise.all([
    readSettings(options),
    storedKeys(options),
    storeOf(options, shared),
  ]);
  const { env, trust, entries, placed } = inForce;
  const settings = withKeys(inForce.settings, keys, env);
  const permissions = permissionsOf(options, inForce, settings);
  const { bypass, rules } = permissions;

  const limits = limitsFrom(settings);
  const budget = new TreeBudget({ limits, clock });
  const guard = shared.guard(env, settings);
  const named = foldersOf({ ...options, entries });
  const folders = liveFolders(named, options.env);
  const kept = ownFiles(home);
  let programs: ReadonlyMap<string, string> = new Map();
  const place = { kept, named: () => programs };
  const files = await filesWith(options.buffers);
  const editor = lateEditor(options, { home, clock, ids, settings });
  const grounds = { ...place, settings, entries, guard, folders };
  const { sandbox, notices: ofSandbox } = await sandboxOf({
    ...grounds,
    open: () => shared.sandbox(env, guard),
    rules: rules.now,
    home: inForce.commandEnv["HOME"] ?? "/",
    env,
    asks: options.asks ?? "refused",
  });
  for (const list of ["allow", "deny"] as const)
    if (sandbox) rules.change({ type: "rules", change: "add", list, rules: [...sandbox.web[list]] }, "user");
  const terminals = { terminals: options.terminals, hostEnv: options.env };
  const shells = { files, terminals, guard, sandbox, budget, grammar: shared.grammar };
  const at = workspaces({ ...inForce, ...place, ...shells });
  const workspace = movableWorkspace(at(folders));
  const worktrees = sessionWorktrees({
    run: latePrograms({ env: inForce.commandEnv, guard }),
    leases: shared.store.leases,
    isTrusted: trust.state !== "untrusted",
    at: ({ cwd, root }) => at({ cwd, roots: [root] }),
    home: workspace,
    newName: () => ids.uuid().slice(-12),
  });

  const texts = await sessionTexts(options, {
    paths: pathsOf(options),
    inForce,
    workspace,
    rules: rules.now,
    clock,
  });
  kept.lend(() => texts.library.folders);
  const hostServers = { ...texts.main?.servers, ...options.mcpServers };
  const { plugins } = texts.library;
  // Most people's settings name none.
  const namesSome = placed.some((entry) => commandWords(entry).length > 0 || entry.source === "flags");
  if (namesSome || plugins.length + Object.keys(hostServers).length > 0) {
    const { namedPrograms } = await import("./named-programs.ts");
    programs = namedPrograms({
      entries: placed,
      servers: hostServers,
      plugins,
      cwd: workspace.cwd,
      root: trust.root,
      env: options.env,
    });
  }
  const takesForeign = offersForeign(options.tools);
  // What settings start has no program of the folder by a bare name.
  const started = {
    ...inForce,
    entries: placed,
    commandEnv: withoutOwnPath(inForce.commandEnv, folders.roots),
  };
  // A server inside is this session's alone: another one may be confined otherwise.
  const links = sandbox?.servers ? ownLinks : shared.links;
  const serverGuard = sandbox?.servers ?? guard;
  const servers = { inForce: started, guard: serverGuard, links, clock, ids, workspace, home, version };
  const mcp = sessionMcp({
    ...servers,
    named: hostServers,
    strict: options.strictMcpConfig ? "only" : undefined,
    plugins: withServersOf(plugins, options),
    isOffered: takesForeign,
  });
  const isOffered = (tool: ToolHead): boolean => offeredTools([tool], rules.now).length > 0;
  const brought = await ownPrograms({
    folders: texts.library.toolFolders,
    plugins,
    env: started.commandEnv,
    guards: { tools: guard, extensions: sandbox?.hooks ?? guard },
    cwd: workspace.cwd,
    ids,
    clock,
    isOffered,
    takesTools: takesForeign,
  });
  const own = ownToolbox(options.ownTools ?? [], (tool) => takesForeign && isOffered(tool));

  const skilled = { library: texts.port, rules: rules.now };
  const agents = sessionAgents({
    version,
    budget,
    settings,
    env,
    store,
    definitions: () => texts.agents,
    isolate: worktrees.isolate,
    peers: options.peers,
    extras: agentExtras({
      ...skilled,
      mcp,
      foreign: takesForeign ? "offered" : "refused",
      serversOf: (named) => sessionMcp({ ...servers, named, strict: "only" }),
    }),
  });
  const memory = memoryOf(options.memory, { home, root: trust.root ?? workspace.cwd, settings, ids });
  const recall = await lateRecall(options, { shared, root: trust.root ?? workspace.cwd, settings });
  const liveTerminals = lateTerminals(settings, { env: started.commandEnv, guard });
  // What is kept nowhere cannot be told anything later.
  const schedules = options.persist === "memory" ? undefined : lateSchedules(shared, workspace.cwd);
  const offered = await toolSet(options, {
    guard,
    settings: withHostsOf(sandbox, settings),
    env,
    rules: permissions.atStart,
    memory,
    library: texts.port,
    late: mcp.hasServers || brought.toolboxes.length > 0 ? "some" : "none",
    agents: agents.supervisor,
    worktrees: worktrees.port,
    terminals: liveTerminals,
    schedules,
  });
  const fallbacks = usableFallbacks(fallbacksIn(settings), { env, settings });
  const transcript = lateTranscript({ ...shared, version, env, settings, store, cwd: workspace.cwd });
  const hooks = await sessionHooks(options.hooks ?? [], {
    inForce: started,
    guard: sandbox?.hooks ?? guard,
    cwd: workspace.cwd,
    transcript: (_, agentId) => transcript.path(agentId),
    plugins: texts.library.plugins,
    callTool: hookCalls({ mcp: mcp.control, rules: rules.now, workspace, ids }),
    rates: shared.rates,
  });
  const told = [permissions, keys, named, fallbacks, offered, mcp, hooks, texts];
  const problems = told.flatMap((part): readonly string[] => part.problems);
  return {
    settings,
    keys,
    env,
    trust,
    model: insistedModel(inForce) ?? modelOfMain(texts.main),
    bypass,
    programHooks: options.hooks ?? [],
    entries,
    settingsLocation: { env: options.env, cwd: workspace.cwd, home: options.home },
    permissionMode: permissions.mode,
    rules,
    folders,
    own,
    brought,
    ownFiles: kept,
    texts,
    agents,
    letters,
    worktrees,
    transcript,
    terminals: liveTerminals,
    schedules,
    recall,
    alarms: await lateAlarms(options, shared, settings),
    audit: await lateAudit(options, { clock, settings, project: workspace.cwd }),
    telemetry: await lateTelemetry(options, shared, { settings, env }),
    store,
    mcp: sandbox
      ? { ...mcp, close: () => Promise.all([mcp.close(), sandbox.close()]).then(() => undefined) }
      : mcp,
    editor,
    notices: [
      ...inForce.notices,
      ...permissions.notices,
      ...ofSandbox,
      ...problems.map((text): LogNotice => ({ level: "warning", text })),
    ],
    parts: {
      clock,
      ids,
      workspace,
      rules: rules.now,
      hooks: hooks.hooks,
      ...(options.checkpoints === "on" && settings.checkpoints?.enabled !== false
        ? { checkpoints: lateCheckpoints({ home, workspace, clock, limits: settings.checkpoints }) }
        : {}),
      tools: agents.tree.led([...toolsOfMain(texts.main, offered.tools), ...(await answerTools(options))]),
      ...(offered.agentTools ? { agentTools: offered.agentTools } : {}),
      budget,
      recover: (task, team) => agents.supervisor.recover(task, team),
      asks: options.asks ?? "refused",
      toolbox: joinBoxes([
        own,
        ...brought.toolboxes,
        ...(takesForeign ? [allowedBox(mcp.toolbox, rules.now)] : []),
      ]),
      redirects: options.toolAliases,
      ...(memory ? { memory } : {}),
      ...(recall ? { recall: recall.port } : {}),
      reviewer: lateReviewer(settings.autoMode, { clock, ids }),
      condense: options.condense ?? (settings.compaction?.strategy === "notes" ? keepNothing : keepRecent),
      bypass: bypass === "allowed" ? "allowed" : "refused",
      limits: {
        ...limits,
        structured: options.jsonSchema !== undefined,
        fallbackModels: fallbacks.usable,
      },
      system: texts.system,
      briefing: editor.briefing(withSkills(texts.briefing(), texts.main?.skills ?? [], skilled)),
      // A prompt that is named now was meant for now; otherwise the log's own, which its cached requests start with.
      promptOnResume: (options.systemPrompt ?? options.appendSystemPrompt) === undefined ? "logged" : "given",
    },
  };
}

const ownLinks = async (): Promise<LinkPool> => new (await import("../../mcp/pool.ts")).LinkPool();

/** What the session may do, as it begins and as it changes. */
function permissionsOf(options: OpenOptions, inForce: SettingsInForce, settings: KeelSettings) {
  const { rules, unread } = readRules(inForce);
  refuseLost(unread);
  const managed = isForbiddingLost(unread) ? "damaged" : inForce.managed;
  const bypass = bypassOf(settings, { asked: options.bypass, managed, asRoot: isBareRoot(options.env) });
  const { mode, notices } = startMode(settings, { asked: options.permissionMode, bypass });
  return {
    bypass,
    mode,
    atStart: rules,
    // A skill is a text that a person put there; a rule that denies or asks about one is stronger.
    rules: liveRules({ ...rules, allow: [...rules.allow, ...[parseRule("Skill") ?? []].flat()] }),
    notices,
    problems: unread.map(({ problem }) => problem),
  };
}

/** A model that an administrator, the command line or its settings name; that of a file is only a wish. */
function insistedModel({ entries }: SettingsInForce): string | undefined {
  const entry = entryAt(entries, "model");
  return entry && ["managed", "command-line", "flags"].includes(entry.source)
    ? String(entry.value)
    : undefined;
}

/** What is in memory only is nobody else's to find. */
async function storeOf({ persist }: OpenOptions, { store }: HomeResources): Promise<Store> {
  return persist === "memory" ? (await import("../../store/memory/memory.ts")).memoryStore() : store;
}

const answerTools = async ({ jsonSchema }: OpenOptions): Promise<Tool[]> =>
  jsonSchema === undefined ? [] : [(await import("./check-json.ts")).checkedAnswer(jsonSchema)];

/** What the first event of a new session says. */
export function startOf(
  { version, thinking }: OpenOptions,
  { parts, permissionMode, texts }: SessionComposition,
  model: OpenModel | undefined,
) {
  const settings = {
    model: model?.facts.model ?? "",
    permissionMode,
    thinking: thinking ?? ({ kind: "usual" } as const),
  };
  return {
    keel: version,
    cwd: parts.workspace.cwd,
    settings,
    ...(texts.main ? { agent: texts.main.name } : {}),
  };
}
