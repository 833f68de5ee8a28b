/**
 * Plugins: folders that bring commands, agents, skills, output styles, hooks and MCP servers under a name of their own.
 * Naming a plugin's folder is trusting it; nothing is looked for that nobody named.
 */
import path from "node:path";
import * as z from "zod/mini";
import { isObject, mapTexts } from "../../kernel/json.ts";
import { isInside } from "../../kernel/path.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { readJsonc } from "../settings/jsonc.ts";
import { readPlainText } from "../settings/plain-text.ts";
import { kindOf, realOf } from "../settings/project-root.ts";
import type { KeelSettings } from "../settings/settings-schema.ts";

export type Plugin = {
  readonly name: string;
  /** Its root. */
  readonly path: string;
  readonly version: string | undefined;
  readonly description: string | undefined;
  readonly hooks: NonNullable<KeelSettings["hooks"]>;
  readonly mcpServers: NonNullable<KeelSettings["mcpServers"]>;
  /** The file of its program, where it brings one: tools, commands and panels of its own. */
  readonly extension?: string | undefined;
};

/** Where the manifest may stand, ours first. */
const manifestPaths = [
  "keel-plugin.json",
  path.join(".keel-plugin", "plugin.json"),
  path.join(".claude-plugin", "plugin.json"),
] as const;

const manifestSchema = z.looseObject({
  name: z.string().check(z.regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/)),
  version: z.optional(z.string()),
  description: z.optional(z.string()),
  /** A file of it, or the hooks themselves. */
  hooks: z.optional(z.union([z.string(), z.looseObject({})])),
  mcpServers: z.optional(z.union([z.string(), z.record(z.string(), z.looseObject({}))])),
  /** A file of JavaScript that says what tools, commands and panels it brings. */
  extension: z.optional(z.string()),
});

const hooksSchema = z.record(
  z.string(),
  z.array(
    z.looseObject({
      matcher: z.optional(z.string()),
      hooks: z.array(z.looseObject({ type: z.string(), command: z.optional(z.string()) })),
    }),
  ),
);
const serversSchema = z.record(z.string(), z.looseObject({}));

export type PluginRead =
  | { readonly ok: true; readonly plugin: Plugin; readonly problems: readonly string[] }
  | { readonly ok: false; readonly why: string };

export async function readPlugin(given: string): Promise<PluginRead> {
  const root = realOf(given);
  if (kindOf(root) !== "directory") return refuse(`${given} is not a folder`);
  const manifest = await readManifest(root);
  if (typeof manifest === "string") return refuse(`${given} is no plugin: ${manifest}`);
  const problems: string[] = [];
  const tell = (problem: string): void => void problems.push(`Plugin ${manifest.name}: ${problem}.`);
  const part = <T>(schema: z.ZodMiniType<T>, request: PluginPartRequest): Promise<T | undefined> =>
    readPart(schema, { ...request, root, tell });
  const hooks = await part(hooksSchema, {
    written: manifest.hooks,
    usual: path.join("hooks", "hooks.json"),
    key: "hooks",
  });
  const servers = await part(serversSchema, {
    written: manifest.mcpServers,
    usual: ".mcp.json",
    key: "mcpServers",
  });
  return {
    ok: true,
    problems,
    plugin: {
      name: manifest.name,
      path: root,
      version: manifest.version,
      description: manifest.description,
      hooks: hooks ?? {},
      mcpServers: withRoot(servers ?? {}, root),
      extension: extensionOf(manifest.extension, { root, tell }),
    },
  };
}

/** Its real path, which lies inside: a link may not lead to a program that nobody was shown. */
function extensionOf(
  written: string | undefined,
  { root, tell }: { root: string; tell: (problem: string) => void },
): string | undefined {
  const file = path.join(root, written ?? "extension.mjs");
  if (kindOf(realOf(file)) !== "other") {
    if (written !== undefined) tell(`there is no ${written}`);
    return undefined;
  }
  if (isInside(realOf(file), [root])) return realOf(file);
  return void tell(`its extension ${written ?? "extension.mjs"} lies outside of it`);
}

async function readManifest(root: string): Promise<z.infer<typeof manifestSchema> | string> {
  for (const place of manifestPaths) {
    const file = path.join(root, place);
    if (!isInside(realOf(file), [root])) return `${place} leads out of it`;
    const read = await readPlainText(file, { links: "refuse" });
    if (read.kind === "missing") continue;
    if (read.kind === "refused") return `${place}: ${read.why}`;
    const json = await readJsonc(read.text);
    if (!json.ok) return `${place} is not JSON: ${json.error}`;
    const parsed = parseWith(manifestSchema, json.value);
    return parsed.ok ? parsed.value : `${place}: ${sayIssues(parsed.error)}`;
  }
  return `it has no ${manifestPaths.at(-1)}`;
}

type PluginPartRequest = { readonly written: unknown; readonly usual: string; readonly key: string };

/** What stands in the manifest, or in the file that it names, or in the usual one. */
async function readPart<T>(
  schema: z.ZodMiniType<T>,
  { written, usual, key, root, tell }: PluginPartRequest & { root: string; tell: (problem: string) => void },
): Promise<T | undefined> {
  const value = isObject(written) ? written : await readJsonFile(written, { usual, root, tell });
  if (value === undefined) return undefined;
  const inner = isObject(value) && isObject(value[key]) ? value[key] : value;
  const parsed = parseWith(schema, inner);
  if (parsed.ok) return parsed.value;
  return void tell(`its ${key} are left out: ${sayIssues(parsed.error)}`);
}

async function readJsonFile(
  named: unknown,
  { usual, root, tell }: { usual: string; root: string; tell: (problem: string) => void },
): Promise<unknown> {
  const file = path.resolve(root, typeof named === "string" ? named : usual);
  if (!isInside(realOf(file), [root])) return void tell(`${named} lies outside of it`);
  const read = await readPlainText(file, { links: "refuse" });
  if (read.kind === "missing") return named === undefined ? undefined : void tell(`there is no ${named}`);
  if (read.kind === "refused") return void tell(`${path.relative(root, file)}: ${read.why}`);
  const json = await readJsonc(read.text);
  return json.ok ? json.value : void tell(`${path.relative(root, file)} is not JSON: ${json.error}`);
}

/** Servers name their programs from the plugin's root. */
function withRoot(servers: NonNullable<KeelSettings["mcpServers"]>, root: string): typeof servers {
  const filled = (text: string) => text.replaceAll(/\$\{(?:CLAUDE|KEEL)_PLUGIN_ROOT\}/g, () => root);
  return mapTexts(servers, filled) as typeof servers;
}

const refuse = (why: string): PluginRead => ({ ok: false, why: `${why}.` });
