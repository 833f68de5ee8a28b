/** Everything that a session is made of, apart from its log and its model. Making it changes nothing on disk. */

import path from "node:path";
import { boundShell } from "../../agents/bound-shell.ts";
import type { TreeBudget } from "../../agents/budget.ts";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { entryAt } from "../../config/settings/settings.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { keepNothing, keepRecent } from "../../core/context/condense.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { Hook } from "../../hooks/run.ts";
import { fault } from "../../kernel/fault.ts";
import { fileMemory } from "../../memory/notes.ts";
import { changeRules, type RuleChange } from "../../policy/changes.ts";
import type { Rules } from "../../policy/decide.ts";
import type { RuleSource } from "../../policy/rules.ts";
import { parseRule } from "../../policy/rules.ts";
import type { AgentProfile } from "../../ports/agent-definition.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Memory } from "../../ports/memory.ts";
import type { LogNotice, Store } from "../../ports/store.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import { projectKey } from "../../store/jsonl/log-locations.ts";
import { jsonlStore } from "../../store/jsonl/store.ts";
import { offersForeign } from "../../tools/presets.ts";
import { answerTool } from "../../tools/structured-answer.ts";
import { nodeDocuments } from "../../workspace/files/documents.ts";
import { nodeFiles } from "../../workspace/files/files.ts";
import { programs } from "../../workspace/processes/program.ts";
import { nodeShell } from "../../workspace/processes/shell.ts";
import { nodeSearch } from "../../workspace/search/search.ts";
import { withServers } from "../input/mcp-text.ts";
import { type Keys, storedKeys, withKeys } from "../maintenance/keys.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import { nodeClock, nodeIds } from "../node-ports.ts";
import type { OpenOptions } from "../options.ts";
import { agentExtras, withSkills } from "./agent-extras.ts";
import { type SessionAgents, sessionAgents } from "./agents.ts";
import { foldersOf, type LiveFolders, liveFolders } from "./folders.ts";
import { processGrammar } from "./grammar.ts";
import { processGuard } from "./guard.ts";
import { hookCalls, sessionHooks } from "./hooks.ts";
import { lateCheckpoints } from "./late-checkpoints.ts";
import { lateDiagnostics } from "./late-diagnostics.ts";
import { limitsFrom } from "./limits.ts";
import { toolsOfMain } from "./main-agent.ts";
import { type SessionMcp, sessionMcp } from "./mcp.ts";
import { type Bypass, bypassOf, startMode } from "./mode.ts";
import { usableFallbacks } from "./model.ts";
import { joinBoxes, type OwnToolbox, ownToolbox } from "./own-toolbox.ts";
import { processLeases } from "./process-leases.ts";
import { isForbiddingLost, offeredTools, readRules, refuseLost } from "./rules.ts";
import { type SessionTexts, sessionTexts } from "./session-texts.ts";
import { fallbacksIn, readSettings, type SettingsInForce } from "./settings.ts";
import { allowedBox, toolSet } from "./tool-set.ts";
import { movableWorkspace, type SessionWorktrees, sessionWorktrees } from "./worktrees.ts";

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
  readonly own: OwnToolbox;
  /** What the session is told and can call by name. */
  readonly texts: SessionTexts;
  readonly agents: SessionAgents;
  readonly worktrees: SessionWorktrees;
  readonly notices: readonly LogNotice[];
};

/** Throws `mode_refused` or `usage`. */
export async function composeSession(options: OpenOptions): Promise<SessionComposition> {
  const clock = nodeClock();
  const ids = nodeIds();
  const { home } = pathsOf(options);
  const [inForce, keys] = await Promise.all([readSettings(options), storedKeys(options)]);
  const { env, trust } = inForce;
  const settings = withKeys(inForce.settings, keys, env);
  const { rules, unread } = readRules(inForce);
  refuseLost(unread);
  const sandbox = sandboxNotices(inForce.entries);
  const managed = isForbiddingLost(unread) ? "damaged" : inForce.managed;
  const bypass = bypassOf(settings, { asked: options.bypass, managed });
  const start = startMode(settings, { asked: options.permissionMode, bypass });
  // A skill is a text that a person put there; a rule that denies or asks about one is stronger.
  const live = liveRules({ ...rules, allow: [...rules.allow, ...[parseRule("Skill") ?? []].flat()] });
  const named = foldersOf({ ...options, entries: inForce.entries });
  const folders = liveFolders(named, options.env);
  const limits = limitsFrom(settings);
  const agents = sessionAgents({
    version: options.version,
    clock,
    limits,
    settings,
    env,
    store: () => store,
    definitions: () => texts.agents,
    isolate: (from, name) => worktrees.isolate(from, name),
    outfit: (definition, signal) => extras(definition, signal),
  });
  const guard = processGuard(env, settings);
  const ground = { ...inForce, budget: agents.tree.budget };
  const workspace = movableWorkspace(workspaceOf(folders, home, ground));
  const worktrees = sessionWorktrees({
    run: programs({ env: inForce.commandEnv, guard }),
    leases: processLeases({ home, clock, ids }),
    isTrusted: trust.state !== "untrusted",
    at: ({ cwd, root }) => workspaceOf({ cwd, roots: [root] }, home, ground),
    home: workspace,
    newName: () => ids.uuid().slice(-12),
  });
  const memory = memoryOf(options.memory, { home, root: trust.root ?? workspace.cwd, settings, ids });
  const texts = await sessionTexts(options, {
    paths: pathsOf(options),
    inForce,
    workspace,
    rules: live.now,
    clock,
  });
  const servers = { inForce, guard, clock, ids, workspace, home, version: options.version };
  const mcp = sessionMcp({
    ...servers,
    named: { ...texts.main?.servers, ...options.mcpServers },
    strict: options.strictMcpConfig ? "only" : undefined,
    plugins: texts.library.plugins,
  });
  const skilled = { library: texts.port, rules: live.now };
  const extras = agentExtras({
    ...skilled,
    mcp,
    foreign: offersForeign(options.tools) ? "offered" : "refused",
    serversOf: (own) => sessionMcp({ ...servers, named: own, strict: "only" }),
  });
  const own = ownToolbox(
    options.ownTools ?? [],
    (tool) => offersForeign(options.tools) && offeredTools([tool], live.now).length > 0,
  );
  const late = mcp.hasServers ? "some" : "none";
  const offered = toolSet(options, {
    settings,
    env,
    rules,
    memory,
    library: texts.port,
    late,
    agents: agents.supervisor,
    worktrees: worktrees.port,
  });
  const fallbacks = usableFallbacks(fallbacksIn(settings), { env, settings });
  const store = await storeOf(options, { home, clock, ids });
  const hooks = sessionHooks(options.hooks ?? [], {
    inForce,
    cwd: workspace.cwd,
    transcript: (session) => store.location(session),
    plugins: texts.library.plugins,
    callTool: hookCalls({ mcp: mcp.control, rules: live.now, workspace, ids }),
  });
  return {
    settings,
    keys,
    env,
    trust,
    model: insistedModel(inForce) ?? modelOfMain(texts.main),
    bypass,
    programHooks: options.hooks ?? [],
    entries: inForce.entries,
    settingsLocation: { env: options.env, cwd: workspace.cwd, home: options.home },
    permissionMode: start.mode,
    rules: live,
    folders,
    own,
    texts,
    agents,
    worktrees,
    store,
    mcp,
    notices: [
      ...inForce.notices,
      ...start.notices,
      ...sandbox,
      ...[
        ...unread.map(({ problem }) => problem),
        ...keys.problems,
        ...named.problems,
        ...fallbacks.problems,
        ...offered.problems,
        ...mcp.problems,
        ...hooks.problems,
        ...texts.problems,
      ].map((text): LogNotice => ({ level: "warning", text })),
    ],
    parts: {
      clock,
      ids,
      workspace,
      rules: live.now,
      hooks: hooks.hooks,
      ...(options.checkpoints === "on" && settings.checkpoints?.enabled !== false
        ? { checkpoints: lateCheckpoints({ home, workspace, clock, limits: settings.checkpoints }) }
        : {}),
      tools: [...toolsOfMain(texts.main, offered.tools), ...(await answerTools(options))],
      ...(offered.agentTools ? { agentTools: offered.agentTools } : {}),
      budget: agents.tree.budget,
      recover: (task) => agents.supervisor.recover(task),
      asks: options.asks ?? "refused",
      toolbox: joinBoxes(offersForeign(options.tools) ? [own, allowedBox(mcp.toolbox, live.now)] : [own]),
      redirects: options.toolAliases,
      ...(memory ? { memory } : {}),
      condense: options.condense ?? (settings.compaction?.strategy === "notes" ? keepNothing : keepRecent),
      bypass: bypass === "allowed" ? "allowed" : "refused",
      limits: {
        ...limits,
        structured: options.jsonSchema !== undefined,
        fallbackModels: fallbacks.usable,
      },
      system: texts.system,
      briefing: withServers(
        withSkills(texts.briefing(offered.tools), texts.main?.skills ?? [], skilled),
        mcp.control,
      ),
      // A prompt that is named now was meant for now; otherwise the log's own, which its cached requests start with.
      promptOnResume: (options.systemPrompt ?? options.appendSystemPrompt) === undefined ? "logged" : "given",
    },
  };
}

function workspaceOf(
  folders: Pick<LiveFolders, "cwd" | "roots">,
  home: string,
  {
    env,
    commandEnv,
    settings,
    trust,
    budget,
  }: Pick<SettingsInForce, "env" | "commandEnv" | "settings" | "trust"> & { budget: TreeBudget },
): Workspace {
  const { cwd } = folders;
  const place = {
    cwd,
    own: [home],
    // Looked up each time: folders come and go.
    get roots() {
      return folders.roots;
    },
  };
  const guard = processGuard(env, settings);
  const shell = boundShell(nodeShell({ env: commandEnv, guard }), budget);
  const commands = {
    grammar: processGrammar(),
    home: commandEnv["HOME"] ?? "/",
    isTrusted: trust.state !== "untrusted",
  };
  return {
    cwd,
    get roots() {
      return folders.roots;
    },
    files: nodeFiles(place),
    search: nodeSearch({ env }),
    documents: nodeDocuments(),
    shell,
    commands,
    diagnostics: lateDiagnostics(settings.diagnostics, { cwd, commands, shell }, { env: commandEnv, guard }),
  };
}

const modelOfMain = (main: AgentProfile | undefined): string | undefined =>
  main?.model === "inherit" ? undefined : main?.model;

/** A model that an administrator, the command line or its settings name; that of a file is only a wish. */
function insistedModel({ entries }: SettingsInForce): string | undefined {
  const entry = entryAt(entries, "model");
  return entry && ["managed", "command-line", "flags"].includes(entry.source)
    ? String(entry.value)
    : undefined;
}

async function storeOf(
  { persist }: OpenOptions,
  disk: { home: string; clock: Clock; ids: Ids },
): Promise<Store> {
  const keeping = build === undefined ? undefined : { build };
  if (persist !== "memory") return jsonlStore({ ...disk, keeping, leases: processLeases(disk) });
  const { memoryStore } = await import("../../store/memory/memory.ts");
  return memoryStore();
}

async function answerTools({ jsonSchema }: OpenOptions): Promise<Tool[]> {
  if (jsonSchema === undefined) return [];
  const { jsonChecker } = await import("./check-json.ts");
  return [answerTool({ schema: jsonSchema, check: jsonChecker(jsonSchema) }) as Tool];
}

/** Set where Keel is bundled, to a sum of all its sources; as sources it has none, since they may change at any time. */
declare const keelBuild: string | undefined;

/** Names the code that runs: what it keeps for itself is read by no other. */
const build: string | undefined = typeof keelBuild === "string" ? keelBuild : undefined;

/** Where the notes of a project are kept: in Keel's own folder, never in the project itself. */
const memoryFolder = (home: string, root: string): string => path.join(home, "memory", projectKey(root));

/** None where the host did not ask for it, or the settings say no. */
export function memoryOf(
  request: "on" | "off" | undefined,
  { home, root, settings, ids }: { home: string; root: string; settings: KeelSettings; ids: Ids },
): Memory | undefined {
  if (request !== "on" || settings.autoMemoryEnabled === false) return undefined;
  return fileMemory({ folder: memoryFolder(home, root), uuid: ids.uuid });
}

/** A sandbox for commands, which Keel has not: whoever wants one must not believe that it is there. */

/** Throws `usage` where nothing is to start without one. A wish counts from every source: none can take it back. */
function sandboxNotices(entries: readonly JudgedEntry[]): LogNotice[] {
  const isWished = (name: string): boolean =>
    entries.some(
      ({ path, value, state }) =>
        path.join(".") === `sandbox.${name}` && value === true && state.kind !== "left-out",
    );
  if (!isWished("enabled")) return [];
  if (isWished("failIfUnavailable"))
    throw fault("usage", {
      reason: `A sandbox is wanted and must not be missing, and Keel has none. ${instead}`,
    });
  return [
    {
      level: "warning",
      text: `COMMANDS ARE NOT CONFINED: the sandbox that is wanted has no effect. ${instead}`,
    },
  ];
}

const instead =
  "Permission rules and modes decide about every command; run Keel in a container to confine them. `sandbox.enabled: false` takes the wish back.";

/** Rules that change while a session is open. What a file says is changed there too, by whoever changes it here. */
type LiveRules = {
  /** As they are whenever it is looked at. */
  readonly now: Rules;
  change(change: RuleChange, source: RuleSource): void;
};

export function liveRules(given: Rules): LiveRules {
  let current = given;
  return {
    now: {
      get allow() {
        return current.allow;
      },
      get ask() {
        return current.ask;
      },
      get deny() {
        return current.deny;
      },
      protectedPaths: given.protectedPaths,
    },
    change(change, source) {
      current = changeRules(current, change, source);
    },
  };
}
