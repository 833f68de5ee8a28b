/** What other agents have set up on this machine, read from their files and never written. */

import { readdir } from "node:fs/promises";
import path from "node:path";
import { parse, TomlError } from "smol-toml";
import { asList, asObject, isObject } from "../../kernel/json.ts";
import { readJsonc } from "../settings/jsonc.ts";
import { readPlainText } from "../settings/plain-text.ts";

export const otherAgents = ["claude", "codex", "gemini"] as const;
export type OtherAgent = (typeof otherAgents)[number];

export type OtherSetup = {
  /** Values in the words of our own settings, with the file that each comes from. */
  readonly settings: readonly {
    readonly path: readonly string[];
    readonly value: unknown;
    readonly file: string;
  }[];
  /** Files to copy, and where they belong below Keel's own folder. */
  readonly files: readonly {
    readonly kind: FileKind;
    readonly from: string;
    readonly to: string;
    readonly text?: string;
  }[];
};

export type FileKind = "instructions" | "command" | "skill" | "agent" | "output style";

export function readOtherSetup(agent: OtherAgent, userHome: string): Promise<OtherSetup> {
  return { claude: readClaude, codex: readCodex, gemini: readGemini }[agent](userHome);
}

type OtherSetting = OtherSetup["settings"][number];
type OtherFile = OtherSetup["files"][number];

async function readClaude(userHome: string): Promise<OtherSetup> {
  const folder = path.join(userHome, ".claude");
  const file = path.join(folder, "settings.json");
  const settings = await readObject(file);
  const known = ["model", "env", "hooks", "outputStyle"].flatMap((name): OtherSetting[] =>
    settings[name] === undefined ? [] : [{ path: [name], value: settings[name], file }],
  );
  const state = path.join(userHome, ".claude.json");
  return {
    settings: [
      ...known,
      ...rulesIn(settings["permissions"], file),
      ...serversIn((await readObject(state))["mcpServers"], state),
    ],
    files: [
      ...(await instructions(path.join(folder, "CLAUDE.md"))),
      ...(await markdown(path.join(folder, "commands"), "command")),
      ...(await markdown(path.join(folder, "agents"), "agent")),
      ...(await markdown(path.join(folder, "output-styles"), "output style")),
      ...(await skills(folder)),
    ],
  };
}

async function readCodex(userHome: string): Promise<OtherSetup> {
  const folder = path.join(userHome, ".codex");
  const file = path.join(folder, "config.toml");
  const read = await readPlainText(file, { links: "follow" });
  const config = read.kind === "text" ? readToml(read.text) : {};
  return {
    settings: [...modelIn(config["model"], file), ...serversIn(config["mcp_servers"], file)],
    files: [
      ...(await instructions(path.join(folder, "AGENTS.md"))),
      ...(await markdown(path.join(folder, "prompts"), "command")),
      ...(await skills(folder)),
    ],
  };
}

async function readGemini(userHome: string): Promise<OtherSetup> {
  const folder = path.join(userHome, ".gemini");
  const file = path.join(folder, "settings.json");
  const settings = await readObject(file);
  const { model } = settings;
  const name = isObject(model) ? model["name"] : model;
  return {
    settings: [...modelIn(name, file), ...serversIn(settings["mcpServers"], file)],
    files: [
      ...(await instructions(path.join(folder, "GEMINI.md"))),
      ...(await tomlCommands(path.join(folder, "commands"))),
      ...(await skills(folder)),
    ],
  };
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  const read = await readPlainText(file, { links: "follow" });
  const json = read.kind === "text" ? await readJsonc(read.text) : undefined;
  return asObject(json?.ok ? json.value : undefined);
}

const modelIn = (model: unknown, file: string): OtherSetting[] =>
  typeof model === "string" ? [{ path: ["model"], value: model, file }] : [];

const rulesIn = (permissions: unknown, file: string): OtherSetting[] =>
  ["allow", "ask", "deny"].flatMap((list) =>
    asList(asObject(permissions)[list]).map((value) => ({ path: ["permissions", list], value, file })),
  );

const serversIn = (servers: unknown, file: string): OtherSetting[] =>
  Object.entries(asObject(servers))
    .filter(([, value]) => isObject(value))
    .map(([name, value]) => ({ path: ["mcpServers", name], value, file }));

async function instructions(file: string): Promise<OtherFile[]> {
  const read = await readPlainText(file, { links: "follow" });
  return read.kind === "text" && read.text.trim() !== ""
    ? [{ kind: "instructions", from: file, to: "AGENTS.md", text: read.text }]
    : [];
}

const folders: Readonly<Record<FileKind, string>> = {
  instructions: "",
  command: "commands",
  skill: "skills",
  agent: "agents",
  "output style": "output-styles",
};
const maxFiles = 500;

async function markdown(folder: string, kind: FileKind): Promise<OtherFile[]> {
  const files = await filesIn(folder);
  return files
    .filter((file) => file.endsWith(".md"))
    .map((file) => ({ kind, from: path.join(folder, file), to: path.join(folders[kind], file) }));
}

/** A skill is a folder with all that is in it. */
async function skills(home: string): Promise<OtherFile[]> {
  const folder = path.join(home, folders.skill);
  const files = await filesIn(folder);
  return files
    .filter((file) => file.endsWith("SKILL.md") && file.includes(path.sep))
    .map((file) => ({
      kind: "skill",
      from: path.join(folder, path.dirname(file)),
      to: path.join(folders.skill, path.dirname(file)),
    }));
}

async function tomlCommands(folder: string): Promise<OtherFile[]> {
  const copies: OtherFile[] = [];
  for (const file of (await filesIn(folder)).filter((name) => name.endsWith(".toml"))) {
    const from = path.join(folder, file);
    const read = await readPlainText(from, { links: "follow" });
    const { prompt, description } = read.kind === "text" ? readToml(read.text) : {};
    if (typeof prompt !== "string") continue;
    const header =
      typeof description !== "string" ? "" : `---\ndescription: ${JSON.stringify(description)}\n---\n`;
    // Their words for arguments and commands, in ours.
    const body = prompt
      .trim()
      .replaceAll("{{args}}", () => "$ARGUMENTS")
      .replaceAll(/!\{([^{}`]{1,4096})\}/g, "!`$1`");
    copies.push({
      kind: "command",
      from,
      to: path.join(folders.command, file.replace(/\.toml$/, ".md")),
      text: header + body,
    });
  }
  return copies;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted()
    .slice(0, maxFiles);
}

/** The settings of other programs that are written in TOML: what counts of them as plain values, bounded. */
type TomlValue = string | number | boolean | readonly TomlValue[] | { readonly [key: string]: TomlValue };

const maxLines = 5_000;
const maxDepth = 8;
/** A file with more lines that are wrong is another kind of file. */
const maxWrongLines = 20;

/** Lines that it does not understand are left out, and so are dates and what lies too deep. Never throws. */
export function readToml(text: string): { readonly [key: string]: TomlValue } {
  const lines = text.split(/\r?\n/, maxLines);
  for (let wrong = 0; wrong <= maxWrongLines; wrong++) {
    try {
      return plainTable(parse(lines.join("\n"), { maxDepth }), 0);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      // What is never closed is told at its end, which may be an empty line.
      const at = lines.findLastIndex((line, index) => index < error.line && line !== "");
      lines[at] = "";
    }
  }
  return {};
}

const plainTable = (table: object, depth: number): { [key: string]: TomlValue } =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, value]) =>
      plain(value, depth + 1).map((item): [string, TomlValue] => [key, item]),
    ),
  );

/** The value as a list of one, or of none where it is left out. */
function plain(value: unknown, depth: number): TomlValue[] {
  if (typeof value === "string" || typeof value === "boolean") return [value];
  if (typeof value === "number") return Number.isFinite(value) ? [value] : [];
  if (depth > maxDepth || typeof value !== "object" || value === null || value instanceof Date) return [];
  return [Array.isArray(value) ? value.flatMap((item) => plain(item, depth + 1)) : plainTable(value, depth)];
}
