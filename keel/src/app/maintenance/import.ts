/** `keel import`: what another agent has set up, shown as a list and copied on a person's word. Nothing is overwritten. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type OtherAgent, otherAgents, readOtherSetup } from "../../config/definitions/other-agents.ts";
import { checkSettings } from "../../config/settings/check-settings.ts";
import { readJsonc } from "../../config/settings/jsonc.ts";
import { pathsOf, userHome } from "../../config/settings/paths.ts";
import { readPlainText } from "../../config/settings/plain-text.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { asObject, asText, isObject, nested, own, valueAt } from "../../kernel/json.ts";
import { projectKeyOf } from "../../kernel/path.ts";
import { withShownUrls } from "../../kernel/shown-url.ts";
import { shorten } from "../../kernel/text.ts";
import { parseRule } from "../../policy/rules.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { text, textOf } from "../../protocol/message.ts";
import { openHome } from "../home.ts";
import { linesOf, type RawLine } from "../transcripts/index-transcript.ts";
import { transcriptProjects } from "../transcripts/places.ts";
import { readLine } from "../transcripts/read-line.ts";
import { LogBuilder, type OtherLine } from "../transcripts/to-events.ts";
import { type SettingsLocation, writeRule, writeValue } from "./settings-files.ts";

export { type OtherAgent, otherAgents };

export type ImportRow = {
  readonly kind: string;
  /** What exactly; never a secret. */
  readonly what: string;
  readonly from: string;
  /** `there`: Keel has one already, which stays. `left-out`: with the reason. */
  readonly state: "new" | "there" | "left-out";
  readonly why?: string | undefined;
};

export type ImportPlan = {
  readonly rows: readonly ImportRow[];
  /** Copies all that is new; what fails is told and the rest goes on. */
  copy(): Promise<readonly string[]>;
};

type ImportItem = ImportRow & { readonly copy: () => Promise<unknown> };

export async function planImport(
  { version, ...place }: SettingsLocation & { readonly version: string },
  agent: OtherAgent,
): Promise<ImportPlan> {
  const home = userHome(place.env);
  const setup = await readOtherSetup(agent, home);
  const written = await ownSettings(place);
  const items: ImportItem[] = [
    ...setup.settings.map((setting) => settingItem(setting, { place, written })),
    ...(await Promise.all(setup.files.map((file) => fileItem(file, pathsOf(place).home)))),
    ...(await sessionItems(agent, { place, home, version })),
  ];
  return {
    rows: items.map(({ copy: _, ...row }) => row),
    async copy() {
      const failures: string[] = [];
      for (const item of items.filter(({ state }) => state === "new"))
        await item.copy().catch((thrown: unknown) => {
          failures.push(`${item.what}: ${reasonOf(thrown)}`);
        });
      return failures;
    },
  };
}

/** What Keel's own file says: settings of theirs that Keel reads beside it are what is to be copied. */
async function ownSettings(place: SettingsLocation): Promise<Readonly<Record<string, unknown>>> {
  const read = await readPlainText(pathsOf(place).settings, { links: "follow" });
  const json = read.kind === "text" ? await readJsonc(read.text) : undefined;
  return json?.ok && isObject(json.value) ? json.value : {};
}

type ImportedSetting = Awaited<ReturnType<typeof readOtherSetup>>["settings"][number];

function settingItem(
  { path: parts, value, file }: ImportedSetting,
  { place, written }: { place: SettingsLocation; written: Readonly<Record<string, unknown>> },
): ImportItem {
  const [group = "", name = ""] = parts;
  const row = { kind: own(kinds, group) ?? "setting", what: sayValue(parts, value), from: file };
  if (group === "permissions") {
    const list = name === "allow" || name === "deny" ? name : "ask";
    const rule = typeof value === "string" ? parseRule(value) : undefined;
    if (!rule) return { ...row, state: "left-out", why: "it is no rule of Keel", copy: nothing };
    const known = asObject(written["permissions"])[list];
    const state = Array.isArray(known) && known.includes(rule.text) ? "there" : "new";
    return { ...row, state, copy: () => writeRule(place, "user", { list, rule: rule.text }) };
  }
  const { problems } = checkSettings(asObject(nested(parts, value)));
  const [problem] = problems;
  if (problem !== undefined) return { ...row, state: "left-out", why: String(problem), copy: nothing };
  return {
    ...row,
    state: valueAt(written, parts) === undefined ? "new" : "there",
    copy: () => writeValue(place, "user", { path: parts, value }),
  };
}

const nothing = async (): Promise<void> => undefined;

const kinds: Readonly<Record<string, string>> = { mcpServers: "server", permissions: "rule", hooks: "hooks" };

/** Values of variables and of servers may be secrets: their names are enough to decide. */
function sayValue([group = "", name = ""]: readonly string[], value: unknown): string {
  if (group === "env") return `env: ${Object.keys(asObject(value)).join(", ")}`;
  if (group === "mcpServers") {
    const { command, url } = asObject(value);
    return `${name}: ${shorten(withShownUrls(String(command ?? url ?? "?")), 100)}`;
  }
  if (group === "permissions") return `${name} ${String(value)}`;
  return `${group} = ${shorten(withShownUrls(JSON.stringify(value) ?? ""), 200)}`;
}

type FileCopy = Awaited<ReturnType<typeof readOtherSetup>>["files"][number];

async function fileItem({ kind, from, to, text }: FileCopy, home: string): Promise<ImportItem> {
  const target = path.join(home, to);
  return {
    kind,
    what: to,
    from,
    state: existsSync(target) ? "there" : "new",
    async copy() {
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      if (text !== undefined) await writeFile(target, text, { flag: "wx" });
      else await copyAll(from, target, 8);
    },
  };
}

/** Plain files and folders; links are left where they are. */
async function copyAll(from: string, to: string, left: number): Promise<void> {
  if ((await stat(from)).isFile()) return copyFile(from, to);
  if (left === 0) return;
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!entry.isFile() && !entry.isDirectory()) continue;
    await copyAll(path.join(from, entry.name), path.join(to, entry.name), left - 1);
  }
}

const maxSessions = 50;
/** Of one transcript. */
const maxLines = 50_000;

async function sessionItems(
  agent: OtherAgent,
  { place, home, version }: { place: SettingsLocation; home: string; version: string },
): Promise<ImportItem[]> {
  if (agent === "gemini") return [];
  const files = agent === "claude" ? await claudeFiles(place) : await codexFiles(home);
  const sessions = openHome(place).sessions;
  const known = new Set((await sessions.list({})).map(({ id }) => id));
  const items: ImportItem[] = [];
  for (const file of files) {
    if (items.length >= maxSessions) break;
    const id = idIn(file);
    const { cwd, first } = await glance(file, agent === "claude" ? readLine : codexLine);
    if (id === undefined || first === undefined || cwd !== place.cwd) continue;
    const about = { id, cwd, version };
    items.push({
      kind: "session",
      what: `${id}: ${shorten(first.replaceAll(/\s+/g, " "), 60)}`,
      from: file,
      state: known.has(id) ? "there" : "new",
      copy: async () =>
        agent === "claude"
          ? sessions.importFile(file, about)
          : sessions.restore(id, { cwd, events: codexEvents(await codexLines(file), about) }),
    });
  }
  return items;
}

const idIn = (file: string): string | undefined =>
  /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i.exec(file)?.[1]?.toLowerCase();

const claudeFiles = ({ env, cwd }: SettingsLocation): Promise<string[]> =>
  newest(path.join(transcriptProjects(env), projectKeyOf(cwd)));
const codexFiles = (home: string): Promise<string[]> => newest(path.join(home, ".codex", "sessions"));

async function newest(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"));
  const dated = await Promise.all(
    files.slice(0, 2_000).map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { file, at: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  return dated.toSorted((one, other) => other.at - one.at).map(({ file }) => file);
}

type GlancedFile = { readonly cwd: string | undefined; readonly first: string | undefined };

/** Where it was, and the first words that a person said: no more is read of it. */
async function glance(file: string, read: (raw: RawLine) => OtherLine[]): Promise<GlancedFile> {
  let found: GlancedFile = { cwd: undefined, first: undefined };
  for await (const [number, raw] of linesOf(file)) {
    if (number > maxLines || (found.cwd !== undefined && found.first !== undefined)) break;
    if (!raw || raw["isSidechain"] === true) continue;
    const cwd = asText(isObject(raw["payload"]) ? raw["payload"]["cwd"] : raw["cwd"]) || undefined;
    const said = read(raw).find(({ kind }) => kind === "said");
    const words = said?.kind === "said" ? textOf(said.content) : undefined;
    found = { cwd: found.cwd ?? cwd, first: found.first ?? words };
  }
  return found;
}

async function codexLines(file: string): Promise<OtherLine[]> {
  const lines: OtherLine[] = [];
  for await (const [number, raw] of linesOf(file)) {
    if (number > maxLines) break;
    // Half a line: they were stopped while they wrote it.
    if (raw) lines.push(...codexLine(raw));
  }
  return lines;
}

function codexEvents(
  lines: readonly OtherLine[],
  about: { readonly id: string; readonly cwd: string; readonly version: string },
): Durable[] {
  const builder = new LogBuilder({ ...about, model: "", prices: () => null });
  for (const line of lines) builder.take(line);
  builder.end();
  return builder.taken();
}

/** A line of a rollout of Codex: its messages alone. */
function codexLine(raw: RawLine): OtherLine[] {
  const { type, payload } = raw;
  if (type !== "response_item" || !isObject(payload) || payload["type"] !== "message") return [];
  const at = Date.parse(String(raw["timestamp"])) || 0;
  const parts = Array.isArray(payload["content"]) ? payload["content"].filter(isObject) : [];
  const words = parts.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
  // What they tell the model about the place is not what a person said.
  if (words.trim() === "" || /^<(?:environment_context|user_instructions)/.test(words)) return [];
  if (payload["role"] === "user") return [{ kind: "said", content: [text(words)], at }];
  if (payload["role"] !== "assistant") return [];
  return [{ kind: "replied", id: `${at}`, model: "", content: [text(words)], at }];
}
