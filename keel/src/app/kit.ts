/** Everything that a session is made of, apart from its log and its model. Making it changes nothing on disk. */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import { pathsOf } from "../config/paths.ts";
import { readUserSettings, type UserSettings } from "../config/user-settings.ts";
import { answerTool } from "../engine/answer.ts";
import { noHooks } from "../engine/hooks/points.ts";
import type { Clock, Ids, LogNotice, Store, Workspace } from "../engine/ports.ts";
import type { Tool } from "../engine/tools/define.ts";
import type { Parts } from "../engine/work.ts";
import { fault } from "../kernel/fault.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import { jsonlStore } from "../store/jsonl.ts";
import { builtInTools } from "../tools/catalog.ts";
import { nodeDocuments } from "../workspace/documents.ts";
import { nodeFiles } from "../workspace/files.ts";
import { nodeSearch } from "../workspace/search.ts";
import { nodeShell } from "../workspace/shell.ts";
import { lateCheckpoints } from "./late-checkpoints.ts";
import { limitsFrom } from "./limits.ts";
import { usableFallbacks } from "./model.ts";
import { nodeClock, nodeIds } from "./node-ports.ts";
import type { OpenOptions } from "./options.ts";
import { systemPrompt } from "./prompts.ts";
import { offeredTools, readRules } from "./rules.ts";

export type Kit = {
  readonly parts: Omit<Parts, "log" | "model" | "spill">;
  readonly store: Store;
  readonly settings: UserSettings;
  readonly permissionMode: PermissionMode;
  readonly notices: readonly LogNotice[];
};

/** Throws `mode_refused` or `usage`. */
export async function makeKit(options: OpenOptions): Promise<Kit> {
  const clock = nodeClock();
  const ids = nodeIds();
  const { home, settings: file } = pathsOf(options);
  const { settings, faults } = await readUserSettings(file);
  const permissionMode = allowedMode(
    options.permissionMode ?? settings.permissions?.defaultMode ?? "default",
    options,
  );
  const { rules, problems } = readRules({ ...options, settings });
  const workspace = workspaceOf(options, home);
  const fallbacks = usableFallbacks(options.fallbackModels ?? settings.fallbackModels ?? [], {
    env: options.env,
    settings,
  });
  return {
    settings,
    permissionMode,
    store: await storeOf(options, { home, clock, ids }),
    notices: [
      ...faults.map(({ code, message }): LogNotice => ({ level: "warning", code, text: message })),
      ...[...problems, ...fallbacks.problems].map((text): LogNotice => ({ level: "warning", text })),
    ],
    parts: {
      clock,
      ids,
      workspace,
      rules,
      hooks: noHooks,
      ...(options.checkpoints === "on" ? { checkpoints: lateCheckpoints({ home, workspace, clock }) } : {}),
      tools: [...offeredTools(builtInTools(), rules), ...(await answerTools(options))],
      limits: {
        ...limitsFrom(options, options.env),
        structured: options.jsonSchema !== undefined,
        fallbackModels: fallbacks.usable,
      },
      system: promptOf(options, workspace, clock),
      // A prompt that is named now was meant for now; otherwise the log's own, which its cached requests start with.
      promptOnResume: (options.systemPrompt ?? options.appendSystemPrompt) === undefined ? "logged" : "given",
    },
  };
}

/** Returns the mode, or throws `mode_refused`. */
export function allowedMode(mode: PermissionMode, { bypass }: Pick<OpenOptions, "bypass">): PermissionMode {
  if (mode !== "bypassPermissions" || bypass === "allowed") return mode;
  throw fault("mode_refused", { mode, reason: "everything would run without a question." });
}

function workspaceOf({ cwd, addDirs = [], env }: OpenOptions, home: string): Workspace {
  const place = folder(cwd, cwd);
  const roots = [...new Set([place, ...addDirs.map((given) => folder(given, place))])];
  return {
    cwd: place,
    roots,
    files: nodeFiles({ cwd: place, roots, own: [home] }),
    search: nodeSearch({ env }),
    documents: nodeDocuments(),
    shell: nodeShell({ env }),
  };
}

/** The real path of a folder that must be there. */
function folder(given: string, from: string): string {
  const place = path.resolve(from, given);
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory())
    throw fault("usage", { reason: `${given} is not a folder.` });
  return realpathSync(place);
}

async function storeOf(
  { persist }: OpenOptions,
  disk: { home: string; clock: Clock; ids: Ids },
): Promise<Store> {
  if (persist !== "memory") return jsonlStore(disk);
  const { memoryStore } = await import("../store/memory.ts");
  return memoryStore();
}

async function answerTools({ jsonSchema }: OpenOptions): Promise<Tool[]> {
  if (jsonSchema === undefined) return [];
  const { jsonChecker } = await import("./check-json.ts");
  return [answerTool({ schema: jsonSchema, check: jsonChecker(jsonSchema) }) as Tool];
}

function promptOf(
  { systemPrompt: replace, appendSystemPrompt: append }: OpenOptions,
  { cwd, roots }: Workspace,
  clock: Clock,
): string[] {
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  return systemPrompt({ cwd, roots, platform: process.platform, date, replace, append });
}
