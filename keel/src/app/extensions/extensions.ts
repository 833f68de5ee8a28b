/**
 * The programs of plugins: their tools, commands and panels. Each call is a process of its own under the guard, with the
 * environment of commands; what comes back is data, and nothing of a plugin runs in a screen or in a page. Only plugins
 * that a person has added, or that a start names, are here.
 */
import type { Plugin } from "../../config/definitions/plugins.ts";
import type { Session } from "../../engine/session.ts";
import { within } from "../../kernel/deadline.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { asList, isObject, type JsonObject, parseJson } from "../../kernel/json.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { oneLine, plainText, shorten } from "../../kernel/text.ts";
import { prefixOf } from "../../mcp/names.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Toolbox } from "../../ports/tool.ts";
import { extensionPanelSchema, type ShownPanel } from "../../protocol/extension.ts";
import type { CommandInfo } from "../../protocol/inquiry.ts";
import type { Display } from "../../protocol/tool.ts";
import { type OwnTool, ownToolbox } from "../compose/own-tools.ts";
import { describedTool, displayIn, usualCallMs } from "../custom-tools/described-tool.ts";
import {
  callTool,
  type DescribedTool,
  describeExtension,
  type ToolPrograms,
} from "../custom-tools/tool-program.ts";

/** What a command says: to the person, or to the model in their place. */
export type ExtensionAnswer =
  | { readonly kind: "said"; readonly text: string; readonly display?: Display | undefined }
  | { readonly kind: "prompt"; readonly text: string };

export type Extensions = {
  readonly toolbox: Toolbox;
  readonly commands: readonly CommandInfo[];
  readonly panels: readonly { readonly id: string; readonly title: string }[];
  /** Undefined where no extension has a command of this name. Throws a fault for one that fails. */
  run(name: string, words: string): Promise<ExtensionAnswer | undefined>;
  /** A panel as it is now. Those who look at once see the same. Throws `usage` for a name that none has. */
  show(id: string): Promise<ShownPanel>;
  follow(session: Pick<Session, "id" | "relay">): void;
  close(): void;
};

export type ExtensionsOptions = {
  readonly plugins: readonly Plugin[];
  readonly programs: ToolPrograms;
  readonly clock: Clock;
  isOffered(tool: OwnTool): boolean;
};

/** An extension must say what it holds within this time; a request waits no longer for all of them. */
const describeMs = 10_000;
/** Who looks at a panel waits no longer. */
const panelMs = 10_000;
/** Of each kind; a list that is longer is no list for people. */
const maxParts = 50;
const maxTitle = 200;
const maxSaid = 100_000;

type NamedPart = { readonly file: string; readonly plugin: Plugin; readonly name: string };
type FoundParts = {
  readonly tools: readonly OwnTool[];
  readonly commands: readonly (NamedPart & { readonly info: CommandInfo })[];
  readonly panels: readonly (NamedPart & { readonly id: string; readonly title: string })[];
  readonly problems: readonly string[];
};

export function extensions({ plugins, programs, clock, isOffered }: ExtensionsOptions): Extensions {
  const over = new AbortController();
  const box = ownToolbox([], isOffered);
  const shown = new Map<string, Promise<ShownPanel>>();
  let found: FoundParts = { tools: [], commands: [], panels: [], problems: [] };
  const programsOf = ({ path }: Plugin): ToolPrograms => ({
    ...programs,
    env: { KEEL_PLUGIN_ROOT: path, CLAUDE_PLUGIN_ROOT: path },
  });
  const described = async (plugin: Plugin, file: string): Promise<FoundParts> => {
    try {
      const timed = await within({ clock, ms: describeMs, signal: over.signal }, (signal) =>
        describeExtension(file, programsOf(plugin), signal),
      );
      if (timed.kind === "done") return partsOf(timed.value, { plugin, file, programs: programsOf(plugin) });
      return problem(plugin, `it did not say what it holds within ${describeMs / 1_000} s.`);
    } catch (thrown) {
      return problem(plugin, toFault(thrown).message);
    }
  };
  const looked = Promise.all(
    plugins.flatMap((plugin) => (plugin.extension ? [described(plugin, plugin.extension)] : [])),
  ).then((all) => {
    found = {
      tools: all.flatMap(({ tools }) => tools),
      commands: all.flatMap(({ commands }) => commands),
      panels: all.flatMap(({ panels }) => panels),
      problems: all.flatMap(({ problems }) => problems),
    };
    box.set(found.tools);
  });

  const look = async ({ plugin, file, name }: NamedPart): Promise<ShownPanel> => {
    try {
      const timed = await within({ clock, ms: panelMs, signal: over.signal }, (signal) =>
        callTool({ file, part: "panels", tool: name }, programsOf(plugin), signal),
      );
      if (timed.kind !== "done") return noPanel(`it took longer than ${panelMs / 1_000} s`);
      const parsed = parseWith(extensionPanelSchema, timed.value);
      return parsed.ok ? parsed.value : noPanel(sayIssues(parsed.error));
    } catch (thrown) {
      return noPanel(plainText(toFault(thrown).message));
    }
  };

  return {
    toolbox: {
      ...box,
      knows: (name) =>
        box.knows(name) || plugins.some((plugin) => name.startsWith(prefixOf(serverOf(plugin)))),
      ready: async (signal) => void (await within({ clock, ms: describeMs, signal }, () => looked)),
    },
    get commands() {
      return found.commands.map(({ info }) => info);
    },
    get panels() {
      return found.panels.map(({ id, title }) => ({ id, title }));
    },
    async run(name, words) {
      // A name that may be one of theirs waits until they have said what they hold.
      if (!plugins.some((plugin) => name.startsWith(`${plugin.name}:`))) return undefined;
      await looked;
      const command = found.commands.find(({ info }) => info.name === name);
      if (command === undefined) return undefined;
      const { plugin, file } = command;
      const call = {
        file,
        part: "commands",
        tool: command.name,
        input: words,
        values: valuesIn(words),
      } as const;
      const timed = await within({ clock, ms: usualCallMs, signal: over.signal }, (signal) =>
        callTool(call, programsOf(plugin), signal),
      );
      if (timed.kind === "done") return answerIn(timed.value);
      throw fault("tool_program_failed", { reason: `It took longer than ${usualCallMs / 1_000} s.` });
    },
    async show(id) {
      await looked;
      const panel = found.panels.find((one) => one.id === id);
      if (panel === undefined)
        throw fault("usage", { reason: `There is no panel ${JSON.stringify(shorten(id, 100))}.` });
      const running = shown.get(id);
      if (running) return running;
      const showing = look(panel).finally(() => shown.delete(id));
      shown.set(id, showing);
      return showing;
    },
    follow(session) {
      void looked.then(() => {
        const notice = { type: "notice.raised", level: "warning", code: "extensions" } as const;
        for (const text of over.signal.aborted ? [] : found.problems)
          session.relay({ ...notice, text, at: clock.now(), session: session.id });
      });
    },
    close: () => over.abort(),
  };
}

/** Their tools are called as those of a plugin's MCP servers are, so that no plugin takes the name of another server. */
const serverOf = ({ name }: Plugin): string => `plugin:${name}`;

const noPanel = (why: string): ShownPanel => ({ displays: [], problem: why });

const problem = ({ name }: Plugin, why: string): FoundParts => ({
  tools: [],
  commands: [],
  panels: [],
  problems: [`The extension of the plugin ${name} is left out: ${plainText(why)}`],
});

function partsOf(
  described: Record<string, unknown>,
  { plugin, file, programs }: { plugin: Plugin; file: string; programs: ToolPrograms },
): FoundParts {
  const problems: string[] = [];
  const listed = (part: string): Record<string, unknown>[] =>
    asList(described[part]).filter(isObject).slice(0, maxParts);
  const tools = listed("tools").flatMap((one) => {
    const from = `A tool of the plugin ${plugin.name}.`;
    const tool = describedTool(one as DescribedTool, { file, programs, server: serverOf(plugin), from });
    if (typeof tool !== "string") return [tool];
    problems.push(`The plugin ${plugin.name}: ${tool}`);
    return [];
  });
  const named = (part: string, one: Record<string, unknown>): string | undefined => {
    const { name, run } = one;
    if (typeof name === "string" && /^[\w-]{1,64}$/.test(name) && run === "function") return name;
    problems.push(
      `The plugin ${plugin.name}: ${JSON.stringify(name) ?? "one"} of its ${part} is left out, it has no name or no function.`,
    );
    return undefined;
  };
  const wordsOf = (value: unknown): string =>
    typeof value === "string" ? shorten(oneLine(value), maxTitle) : "";
  const commands = listed("commands").flatMap((one) => {
    const name = named("commands", one);
    if (name === undefined) return [];
    const info: CommandInfo = {
      name: `${plugin.name}:${name}`,
      description: wordsOf(one["description"]),
      argumentHint: wordsOf(one["argumentHint"]),
      kind: "local",
      source: "plugin",
      aliases: [],
      hidden: false,
      immediate: true,
    };
    return [{ plugin, file, name, info }];
  });
  const panels = listed("panels").flatMap((one) => {
    const name = named("panels", one);
    if (name === undefined) return [];
    return [{ plugin, file, name, id: `${plugin.name}:${name}`, title: wordsOf(one["title"]) || name }];
  });
  return { tools, commands, panels, problems };
}

/** A form sends its values as an object; words that a person typed are none. */
function valuesIn(words: string): JsonObject | undefined {
  const value = words.startsWith("{") ? parseJson(words) : undefined;
  return isObject(value) ? (value as JsonObject) : undefined;
}

function answerIn(result: unknown): ExtensionAnswer {
  if (typeof result === "string") return { kind: "said", text: shorten(result, maxSaid) };
  if (isObject(result) && typeof result["prompt"] === "string" && result["prompt"].trim() !== "")
    return { kind: "prompt", text: shorten(result["prompt"], maxSaid) };
  const words = isObject(result) && typeof result["text"] === "string" ? result["text"] : "Done.";
  const { display, problem: left } = displayIn(result);
  const text = [shorten(words, maxSaid), ...(left === undefined ? [] : [left])].join("\n");
  return { kind: "said", text, display };
}
