/**
 * `keel permissions backtest`: rules tried on the sessions that are kept. Only their logs are read. What people allowed
 * in a session, and what its commands and skills allowed, holds as it did then.
 */
import * as z from "zod/mini";
import { readJsonc } from "../../config/settings/jsonc.ts";
import { readPlainText } from "../../config/settings/plain-text.ts";
import { fault } from "../../kernel/fault.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { type Backtest, backtest } from "../../policy/backtest.ts";
import { noRules, type Rules } from "../../policy/decide.ts";
import type { CallOnRecord, PastCall } from "../../policy/decide-again.ts";
import { type PermissionRule, parseRule } from "../../policy/rules.ts";
import type { LogNotice, SessionInfo } from "../../ports/store.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import { openGrammar } from "../../workspace/processes/grammar.ts";
import { readRules, ruleForms } from "../compose/rules.ts";
import { readSettings } from "../compose/settings.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { type PastSession, pastCalls } from "./past-calls.ts";
import type { SettingsLocation } from "./settings-files.ts";

export type BacktestWish = {
  /** Rules in place of those in force: a settings file, or its `permissions` alone. */
  readonly file?: string | undefined;
  readonly mode?: PermissionMode | undefined;
  /** These sessions; else those of the folder, or of every folder. */
  readonly ids?: readonly string[] | undefined;
  readonly folders: "this" | "all";
};

export type SessionsBacktest = Backtest & {
  readonly sessions: number;
  readonly agents: number;
};

/** Throws `usage` for a file that holds no rules, and `session_unknown`. */
export async function backtestSessions(
  place: SettingsLocation & { readonly sessions: Sessions },
  { file, mode, ids, folders }: BacktestWish,
  tell: (text: string) => void,
): Promise<SessionsBacktest> {
  const read = file === undefined ? undefined : await rulesOfFile(file);
  const inForce = new Map<string, Promise<Rules>>();
  const rulesFor = (cwd: string): Promise<Rules> => {
    if (read) return Promise.resolve(read);
    const known = inForce.get(cwd) ?? rulesOfFolder({ ...place, cwd }, tell);
    inForce.set(cwd, known);
    return known;
  };
  const grammar = openGrammar();
  const known = new Map<string, CallOnRecord>();
  const listed = await wantedSessions(place, { ids, folders });
  const past: PastCall[] = [];
  const tried = new Set<Rules>();
  let agents = 0;
  const load = async (session: SessionInfo): Promise<PastSession> => {
    const notices: LogNotice[] = [];
    const read = place.sessions.read(session.id, (notice) => notices.push(notice));
    const events = await Array.fromAsync(read);
    for (const { text } of notices) tell(text);
    const below: PastSession[] = [];
    for (const agent of await place.sessions.list({ parent: session.id })) below.push(await load(agent));
    agents += below.length;
    return { id: session.id, events, forkedAt: session.forkedFrom?.seq, agents: below };
  };
  for (const session of listed) {
    const rules = await rulesFor(session.cwd);
    tried.add(rules);
    past.push(...(await pastCalls(await load(session), { rules, grammar, known })));
  }
  const report = backtest(past, { tried: [...tried], mode });
  return { sessions: listed.length, agents, ...report };
}

async function wantedSessions(
  { sessions, cwd }: { readonly sessions: Sessions; readonly cwd: string },
  { ids, folders }: Pick<BacktestWish, "ids" | "folders">,
): Promise<SessionInfo[]> {
  if (!ids) return sessions.list(folders === "all" ? {} : { cwd });
  const found: SessionInfo[] = [];
  for (const id of ids) {
    const session = await sessions.find(id);
    if (!session) throw fault("session_unknown", { session: id });
    found.push(session);
  }
  return found;
}

async function rulesOfFolder(place: SettingsLocation, tell: (text: string) => void): Promise<Rules> {
  const inForce = await readSettings(place);
  const { rules, unread } = readRules(inForce);
  for (const text of [...inForce.notices.map(({ text }) => text), ...unread.map(({ problem }) => problem)])
    tell(text);
  return rules;
}

const texts = z.optional(z.array(z.string()));
const ruleLists = { allow: texts, ask: texts, deny: texts };
const group = z.optional(z.object(ruleLists));
/** A settings file, of which only its rules count, a test of rules, or the lists alone. */
const fileSchema = z.object({ permissions: group, rules: group, ...ruleLists });

async function rulesOfFile(file: string): Promise<Rules> {
  const { allow, ask, deny } = await ruleListsOf(file);
  const rulesOf = (list: readonly string[] = []): PermissionRule[] =>
    list.flatMap((text) => parseRule(text, "flags") ?? []);
  return { ...noRules, allow: rulesOf(allow), ask: rulesOf(ask), deny: rulesOf(deny) };
}

/** The rules that a file has, as texts, each of which is one. Throws `usage`. */
export async function ruleListsOf(file: string): Promise<z.infer<z.ZodMiniObject<typeof ruleLists>>> {
  const refuse = (reason: string) => fault("usage", { reason: `${file} holds no rules to try: ${reason}.` });
  const read = await readPlainText(file, { links: "follow" });
  if (read.kind === "missing") throw refuse("there is no such file");
  if (read.kind === "refused") throw refuse(read.why);
  const written = await readJsonc(read.text);
  if (!written.ok) throw refuse(written.error);
  const parsed = parseWith(fileSchema, written.value);
  if (!parsed.ok) throw refuse(sayIssues(parsed.error));
  const { allow, ask, deny } = parsed.value.permissions ?? parsed.value.rules ?? parsed.value;
  if (!allow && !ask && !deny) throw refuse("it has none of allow, ask and deny");
  // What is no rule would silently allow or deny nothing, and the counts would be of other rules.
  for (const text of [allow, ask, deny].flatMap((list) => list ?? []))
    if (!parseRule(text, "flags"))
      throw refuse(`${JSON.stringify(text)} is not a permission rule. ${ruleForms}`);
  return { allow, ask, deny };
}
