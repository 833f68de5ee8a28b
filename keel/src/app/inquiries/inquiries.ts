/** What a host can ask about an open session beside its conversation, and the few things that it can do there itself. */

import { stat } from "node:fs/promises";
import path from "node:path";
import type { Session } from "../../engine/session.ts";
import { lateSignal } from "../../kernel/deadline.ts";
import { fault } from "../../kernel/fault.ts";
import { type NameIndex, namesOf, rankNames } from "../../kernel/fuzzy.ts";
import { isObject } from "../../kernel/json.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { readEndpoints } from "../../models/endpoints.ts";
import { deniesReading } from "../../policy/decide.ts";
import type { ToolOutcome } from "../../ports/tool.ts";
import { billCounters } from "../../protocol/counters.ts";
import {
  type HookRow,
  type InquiryAnswer,
  type InquiryName,
  type InquiryQuestion,
  inquiries,
  type SessionFacts,
} from "../../protocol/inquiry.ts";
import type { ContextBreakdown } from "../../protocol/usage.ts";
import { catalogOf, knownModels } from "../compose/model.ts";
import type { SessionComposition } from "../compose/session-composition.ts";
import { mayUse } from "../compose/session-policy.ts";
import { effortsAt } from "../compose/wishes.ts";
import { rowOf, withoutSecrets } from "../maintenance/configure.ts";
import { runningTasks } from "./facts.ts";

export type HostCall = {
  readonly tool: string;
  readonly input: unknown;
  /** `as-model`: what the model would be asked about is refused. Else only what rules deny. */
  readonly permission: "as-model" | "own";
  readonly timeoutMs?: number | undefined;
};

/** A session as it is looked at from beside. */
export type InquiredSession = {
  readonly kit: SessionComposition;
  readonly session: Session;
  readonly info: SessionFacts;
  context(): ContextBreakdown;
  /** The names of files that were found last, for the next letters of the same word. */
  readonly found: { names?: FoundNames };
};

/** The names of a folder's files, as they were at a time. */
export type FoundNames = { readonly at: number; readonly names: Promise<NameIndex> };

const maxSuggestions = 50;
const searchMs = 2_000;
const maxOutputBytes = 1_000_000;
const maxSeedBytes = 16 * 1024 * 1024;
const callMs = 10 * 60 * 1_000;

/** Every row of the table has its answer here. */
const answers: {
  readonly [Name in InquiryName]: (
    of: InquiredSession,
    question: InquiryQuestion<Name>,
  ) => InquiryAnswer<Name> | Promise<InquiryAnswer<Name>>;
} = {
  facts: ({ info }) => ({ ...info }),
  models: ({ kit, info }) => knownModels({ env: kit.env, cwd: info.cwd }),
  offeredModels: ({ kit, info }) => offeredModels(kit, info.model),
  commands: ({ info }) => info.commands,
  agents: ({ info }) => info.agents,
  servers: ({ kit }) => kit.mcp.control.status(),
  context: ({ context }) => context(),
  usage: ({ session }) => session.state.bill,
  counters: ({ session }) => billCounters(session.state.bill),
  tasks: ({ session }) => runningTasks(session.state),
  async team({ kit, session }) {
    const { teamReport } = await import("./team-report.ts");
    return teamReport({ session, store: kit.store, asks: kit.agents.tree.asks() });
  },
  schedules: async ({ kit }) => (await kit.schedules?.entries()) ?? [],
  settings({ kit, session }) {
    const now = session.state.settings;
    return {
      effective: withoutSecrets([], kit.settings),
      rows: kit.entries.map(rowOf),
      ...(now && { applied: { model: now.model, permissionMode: now.permissionMode, effort: now.effort } }),
    };
  },
  rules: ({ session }) =>
    (["deny", "ask", "allow"] as const).flatMap((list) =>
      session.rules[list].map(({ text, source }) => ({ list, rule: text, source })),
    ),
  hooks: ({ kit }) => hookRows(kit),
  editor: ({ kit }) => ({ ...kit.editor.status() }),
  position: ({ session }) => ({ seq: session.state.seq }),
  explain: explainCall,
  files: (of, { typed }) => suggestFiles(of, typed),
  async panels({
    kit: {
      brought: { extensions },
    },
  }) {
    await extensions?.toolbox.ready(new AbortController().signal);
    return extensions?.panels ?? [];
  },
  async panel(
    {
      kit: {
        brought: { extensions },
      },
    },
    { id },
  ) {
    if (!extensions) throw fault("usage", { reason: "No plugin of this session brings a panel." });
    return extensions.show(id);
  },
  async taskOutput({ kit, session }, { id }) {
    const task = session.state.tasks.get(id);
    if (!task) return null;
    const { outputFile, report } = task.data;
    if (outputFile === undefined) return whole(report ?? "");
    const read = await kit.parts.workspace.files.read(outputFile, { maxBytes: Number.MAX_SAFE_INTEGER });
    return read.ok ? tailOf(read.file.bytes) : whole(report ?? "");
  },
};

/** The one way in for every door. Throws `usage` for a name that no row has, and for a question that does not fit it. */
export async function inquire(of: InquiredSession, name: string, given: unknown = {}): Promise<unknown> {
  if (!Object.hasOwn(inquiries, name))
    throw fault("usage", { reason: `There is no inquiry ${JSON.stringify(name.slice(0, 50))}.` });
  const known = name as InquiryName;
  const question = parseWith<object>(inquiries[known].question, given);
  if (!question.ok) throw fault("usage", { reason: `${name}: ${sayIssues(question.error)}` });
  // The row that named the answer has also read its question.
  const answer = answers[known] as (of: InquiredSession, question: object) => unknown;
  return answer(of, question.value);
}

/** A file that a host wants, by the same rules by which the model may read it without a question. */
export type FileContents = { readonly path: string; readonly bytes: Uint8Array; readonly stamp: string };

/** Undefined for what is outside of the folders, denied, or cannot be read. */
export async function lookAtFile(
  { parts: { workspace, rules } }: Pick<SessionComposition, "parts">,
  name: string,
  { maxBytes }: { maxBytes: number },
): Promise<FileContents | undefined> {
  const facts = await workspace.files.describe(name);
  const ground = { roots: workspace.roots, home: workspace.commands?.home ?? "/" };
  if (facts.root === undefined || deniesReading(rules, facts.path, ground)) return undefined;
  const read = await workspace.files.read(facts.path, { maxBytes });
  return read.ok ? read.file : undefined;
}

/** The conversation holds the file as it was at that time; one that changed since is left as it is. */
export async function seedRead(
  { kit, session }: Pick<InquiredSession, "kit" | "session">,
  { name, modifiedMs }: { name: string; modifiedMs: number },
): Promise<void> {
  const facts = await kit.parts.workspace.files.describe(name);
  // Looked at first: what changes while it is read is then found out.
  const { mtimeMs } = await stat(facts.path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  if (Math.floor(mtimeMs) > modifiedMs) return;
  const read = await lookAtFile(kit, name, { maxBytes: maxSeedBytes });
  if (!read) throw fault("usage", { reason: `${name} cannot be read, or must not be.` });
  await session.submit({ type: "set", patch: { seen: [{ path: read.path, stamp: read.stamp }] } });
}

/** Calls a tool of an MCP server. Throws `usage` for what rules deny, and for a tool that is none. */
export async function callTool(
  { kit, session }: Pick<InquiredSession, "kit" | "session">,
  { tool, input, permission: leave, timeoutMs = callMs }: HostCall,
): Promise<ToolOutcome> {
  const { workspace, clock, ids } = kit.parts;
  const { verdict, because } = await mayUse(tool, {
    rules: session.rules,
    workspace,
    mode: session.state.settings?.permissionMode ?? "default",
  });
  if (verdict === "deny" || (verdict === "ask" && leave === "as-model"))
    throw fault("usage", { reason: `${tool} was not called: ${because}.` });
  using late = lateSignal(clock, timeoutMs);
  return await kit.mcp.control.call({ tool, input, callId: ids.uuid() }, late.signal);
}

/** Loaded late, with all that reads commands. */
async function explainCall(
  { kit, session }: Pick<InquiredSession, "kit" | "session">,
  { tool, input }: InquiryQuestion<"explain">,
): Promise<InquiryAnswer<"explain">> {
  const { workspace } = kit.parts;
  const { commands } = workspace;
  const [{ explainInWords }, { openGrammar }] = await Promise.all([
    import("../../policy/explain.ts"),
    import("../../workspace/processes/grammar.ts"),
  ]);
  return explainInWords(commands?.grammar ?? openGrammar(), {
    tool,
    input,
    cwd: workspace.cwd,
    home: commands?.home ?? "/",
    roots: workspace.roots,
    trusted: commands?.isTrusted ?? false,
    mode: session.state.settings?.permissionMode ?? "default",
    rules: session.rules,
    readOnlyAuto: true,
  });
}

const whole = (text: string) => ({ text, totalBytes: Buffer.byteLength(text), truncated: false });

function tailOf(bytes: Uint8Array): { text: string; totalBytes: number; truncated: boolean } {
  const kept = bytes.length > maxOutputBytes ? bytes.subarray(-maxOutputBytes) : bytes;
  return {
    text: new TextDecoder().decode(kept),
    totalBytes: bytes.length,
    truncated: kept.length < bytes.length,
  };
}

/** Files that came since are found a little later. */
const maxAgeMs = 10_000;

async function suggestFiles({ kit, found }: InquiredSession, typed: string): Promise<string[]> {
  const now = kit.parts.clock.now();
  const known = found.names;
  const fresh = known && now - known.at < maxAgeMs ? known : { at: now, names: findNames(kit) };
  found.names = fresh;
  return rankNames(await fresh.names, typed.trim().replace(/^@/, ""), maxSuggestions);
}

async function findNames({ parts: { workspace }, rules }: SessionComposition): Promise<NameIndex> {
  const found = await workspace.search.files(
    { directory: workspace.cwd, rests: ["**/*"], timeoutMs: searchMs },
    new AbortController().signal,
  );
  if (!found.ok) return namesOf([]);
  const ground = { roots: workspace.roots, home: workspace.commands?.home ?? "/" };
  return namesOf(
    found.paths
      .filter((file) => !deniesReading(rules.now, file, ground))
      .map((file) => path.relative(workspace.cwd, file)),
  );
}

function hookRows({ settings, texts, programHooks }: SessionComposition): HookRow[] {
  const plugins = texts.library.plugins.flatMap(({ name, hooks = {} }) =>
    writtenHooks(hooks, { source: "plugin", plugin: name }),
  );
  const own = programHooks.map(
    ({ event, matcher = "", timeoutMs }): HookRow => ({
      event,
      matcher,
      type: "callback",
      words: "a function of the program",
      source: "program",
      ...(timeoutMs === undefined ? {} : { timeoutSeconds: timeoutMs / 1_000 }),
    }),
  );
  return [...writtenHooks(settings.hooks ?? {}, { source: "settings" }), ...plugins, ...own];
}

function writtenHooks(
  hooks: NonNullable<SessionComposition["settings"]["hooks"]>,
  from: Pick<HookRow, "source" | "plugin">,
): HookRow[] {
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher = "", hooks: entries }) =>
      entries.map((entry): HookRow => {
        const shown: Record<string, unknown> = isObject(entry) ? entry : {};
        const words = shown["command"] ?? shown["url"] ?? shown["prompt"] ?? shown["tool"] ?? "";
        const timeout = shown["timeout"];
        return {
          event,
          matcher,
          type: String(shown["type"]),
          words: String(words),
          ...from,
          ...(typeof timeout === "number" ? { timeoutSeconds: timeout } : {}),
        };
      }),
    ),
  );
}

/** The default is what the session began with. A family with aliases is listed by them, and by what the settings add. */
function offeredModels(
  { env, settings }: Pick<SessionComposition, "env" | "settings">,
  model: string,
): InquiryAnswer<"offeredModels"> {
  const known = catalogOf(settings);
  const endpoints = readEndpoints({ env, providers: settings.providers });
  const usable = new Set<string>(endpoints.ok ? endpoints.value.map(({ provider }) => provider) : []);
  const row = (name: string, id: string) => {
    const about = known.info(id);
    return { name, model: about, efforts: [...effortsAt(about)] };
  };
  const aliases = known.aliases().filter((alias) => usable.has(known.home(known.unalias(alias)) ?? ""));
  const covered = new Set(aliases.map((alias) => known.home(known.unalias(alias))));
  const own = new Set(settings.models?.map(({ id }) => id));
  const others = known.list().filter(({ id, provider }) => {
    const home = known.home(id) ?? provider;
    return own.has(id) || (usable.has(home) && !covered.has(known.home(id)));
  });
  return [
    row("default", model),
    ...aliases.map((alias) => row(alias, known.unalias(alias))),
    ...others.map(({ id }) => row(id, id)),
  ];
}
