/** Hooks as settings write them, as hooks of the engine: commands and addresses here, the others beside. */

import { fault } from "../kernel/fault.ts";
import { asList, asObject, parseJson } from "../kernel/json.ts";
import type { PostJson, RunProgram } from "../ports/hook-programs.ts";
import { type HookEvent, type HookInput, isHookEvent } from "../protocol/hook.ts";
import {
  type CallTool,
  type CommonHookFields,
  outputOf,
  parseObject,
  promptHook,
  toolHook,
} from "./model-hooks.ts";
import { type RateCounts, rateHook } from "./rate-hook.ts";
import { type Hook, isMatcher } from "./run.ts";

export type ShellHookContext = {
  readonly runProgram: RunProgram;
  readonly postJson: PostJson;
  readonly cwd: string;
  /** The folder whose settings these are: what a command is told as the project's. */
  readonly projectRoot: string;
  /** The plugin whose hooks these are. */
  readonly pluginRoot?: string | undefined;
  /** Calls a tool of an MCP server; absent where there are none. */
  readonly callTool?: CallTool | undefined;
  /** What hooks of the type `rate` have let through. */
  readonly rates: RateCounts;
  /** For headers that name a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

type WrittenShellHook = Record<string, unknown>;

/** By the name of their point. */
type WrittenHooks = Readonly<
  Record<string, readonly { readonly matcher?: string | undefined; readonly hooks: WrittenShellHook[] }[]>
>;

/** `problems`: entries that are none of ours, each told once and left out. */
export function hooksInSettings(
  { hooks = {} }: { readonly hooks?: WrittenHooks | undefined },
  context: ShellHookContext,
): { hooks: Hook[]; problems: string[] } {
  const problems: string[] = [];
  const found = Object.entries(hooks).flatMap(([event, groups]) => {
    if (!isHookEvent(event)) {
      problems.push(`Keel has no point called ${JSON.stringify(event)}: its hooks are left out.`);
      return [];
    }
    return groups.flatMap(({ matcher, hooks: entries }) => {
      if (matcher !== undefined && !isMatcher(matcher)) {
        problems.push(`The matcher ${JSON.stringify(matcher)} of a ${event} hook is no pattern.`);
        return [];
      }
      return entries.flatMap((entry): Hook[] => {
        const hook = hookOf(entry, { event, matcher, world: context });
        if (typeof hook !== "string") return [{ ...hook, matcher }];
        problems.push(`A ${event} hook is left out: ${hook}`);
        return [];
      });
    });
  });
  return { hooks: found, problems };
}

type HookPlace = { event: HookEvent; matcher: string | undefined; world: ShellHookContext };

function hookOf(entry: WrittenShellHook, at: HookPlace): Hook | string {
  switch (entry["type"]) {
    case "command":
      return typeof entry["command"] === "string"
        ? commandHook(entry, { ...at, command: entry["command"] })
        : "it names no command.";
    case "http":
      return typeof entry["url"] === "string"
        ? httpHook(entry, { ...at, url: entry["url"] })
        : "it names no url.";
    case "prompt":
      return promptHook(entry, { ...common(entry, at.event), event: at.event });
    case "mcp_tool":
      return toolHook(entry, { ...common(entry, at.event), callTool: at.world.callTool });
    case "rate":
      return rateHook(entry, { ...common(entry, at.event), matcher: at.matcher }, at.world.rates);
    case "agent":
      return "a hook cannot start an agent; ask the model by a hook of the type `prompt`, or run `keel -p` as a command.";
    default:
      return `hooks of the type ${JSON.stringify(entry["type"])} are not known.`;
  }
}

function common(entry: WrittenShellHook, event: HookEvent): CommonHookFields {
  const { timeout } = entry;
  return {
    event,
    ...(typeof timeout === "number" ? { timeoutMs: timeout * 1000 } : {}),
    ...(entry["once"] === true ? { once: true } : {}),
    ...(entry["onFailure"] === "block" ? { onFailure: "block" as const } : {}),
    ...(entry["if"] === undefined ? {} : { isFor: (input: HookInput) => isMeant(entry["if"], input) }),
  };
}

/** One JSON object is small; whoever prints more prints something else. */
const maxBytes = 1_000_000;

/** The exit code with which a command objects, in the words of its standard error. */
const objects = 2;

function commandHook(
  entry: WrittenShellHook,
  { event, command, world }: { event: HookEvent; command: string; world: ShellHookContext },
): Hook {
  const args = Array.isArray(entry["args"]) ? entry["args"].map(String) : undefined;
  const placed = (word: string): string =>
    word.replaceAll(/\$\{(?:CLAUDE|KEEL)_PLUGIN_ROOT\}/g, (name) => world.pluginRoot ?? name);
  // With arguments it is a program; without, a line for the shell, as people write it, which fills in names itself.
  const launch = args
    ? { file: placed(command), args: args.map(placed) }
    : { file: "sh", args: ["-c", command] };
  return {
    ...common(entry, event),
    name: JSON.stringify(command.slice(0, 80)),
    outside: true,
    ...(entry["async"] === true ? { detached: true } : {}),
    async call(input, { trace, signal, report, progress }) {
      const end = await world.runProgram(
        {
          ...launch,
          cwd: world.cwd,
          env: { ...placesOf(world), ...(trace === undefined ? {} : { TRACEPARENT: trace }) },
          input: `${JSON.stringify(input)}\n`,
          maxBytes,
          leaves: leavesFor,
          heard: progress,
        },
        signal,
      );
      report({
        stdout: end.stdout,
        stderr: end.stderr,
        ...(end.exitCode === null ? {} : { exitCode: end.exitCode }),
      });
      if (end.left) return { async: true };
      const words = end.stderr.trim().slice(0, 10_000);
      if (end.exitCode === objects)
        return { decision: "block", reason: words || `The hook ${command} objected.` };
      // Whatever ended it then: the flood is what to tell.
      if (end.exitCode === null && end.cut) throw tooMuch();
      if (end.exitCode !== 0) {
        const how = end.exitCode === null ? "A signal ended it" : `It ended with code ${end.exitCode}`;
        throw fault("hook_failed", { reason: `${how}${words ? `: ${words.slice(0, 500)}` : "."}` });
      }
      if (end.cut && end.stdout.trim() !== "") throw tooMuch();
      return outputOf(end.stdout, input);
    },
  };
}

/** How long one may go on by itself that does not say how long. */
const asyncSeconds = 600;

/** A first line that is `{"async":true}` means: do not wait for me. */
function leavesFor(stdout: string): number | undefined {
  const end = stdout.indexOf("\n");
  const line = stdout.slice(0, end === -1 ? undefined : end).trim();
  if (!line.startsWith("{") || !line.endsWith("}") || line.length > 1_000) return undefined;
  // What is not whole yet, or no JSON, is waited for.
  const { async: isAsync, asyncTimeout: seconds } = asObject(parseJson(line));
  if (isAsync !== true) return undefined;
  return (typeof seconds === "number" && seconds > 0 ? seconds : asyncSeconds) * 1000;
}

/** What a command finds its files by. */
const placesOf = ({ projectRoot, pluginRoot }: ShellHookContext): Record<string, string> => ({
  CLAUDE_PROJECT_DIR: projectRoot,
  KEEL_PROJECT_DIR: projectRoot,
  ...(pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: pluginRoot, KEEL_PLUGIN_ROOT: pluginRoot }),
});

const tooMuch = (): Error => fault("hook_failed", { reason: `It printed more than ${maxBytes} bytes.` });

function httpHook(
  entry: WrittenShellHook,
  { event, url, world }: { event: HookEvent; url: string; world: ShellHookContext },
): Hook {
  return {
    ...common(entry, event),
    name: JSON.stringify(url.slice(0, 80)),
    outside: true,
    ...(entry["async"] === true ? { detached: true } : {}),
    async call(input, { trace, signal, report }) {
      const headers = {
        ...(trace === undefined ? {} : { traceparent: trace }),
        ...headersOf(entry, world.env),
      };
      const request = { url, headers, body: JSON.stringify(input), maxBytes };
      const { status, body, cut } = await world.postJson(request, signal);
      report({ stdout: body, stderr: "" });
      if (status < 200 || status > 299)
        throw fault("hook_failed", { reason: `It answered with status ${status}.` });
      if (cut) throw fault("hook_failed", { reason: `It answered with more than ${maxBytes} bytes.` });
      return body.trim() === "" ? undefined : parseObject(body);
    },
  };
}

/** `if`: a rule as permissions have them, held against the words of the call. Where there is no call it is not meant. */
function isMeant(rule: unknown, input: HookInput): boolean {
  if (typeof rule !== "string" || !("tool_name" in input)) return false;
  const [, tool, pattern] = /^([^(]+)(?:\(([\s\S]*)\))?$/.exec(rule.trim()) ?? [];
  if (tool !== input.tool_name) return false;
  if (pattern === undefined || pattern === "*") return true;
  const { command, file_path, url } = asObject(input.tool_input);
  const words = command ?? file_path ?? url;
  if (typeof words !== "string") return false;
  const glob = pattern.endsWith(":*") ? `${pattern.slice(0, -2)}*` : pattern;
  const parts = glob.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`).test(words);
}

/** A header may name variables, but only those that the entry itself lists: a secret is sent on purpose or not at all. */
function headersOf(entry: WrittenShellHook, env: ShellHookContext["env"]): Record<string, string> {
  const listed = asList(entry["allowedEnvVars"]).map(String);
  const filled = (value: unknown): string =>
    String(value).replace(
      /\$\{(\w+)\}|\$(\w+)/g,
      (_, braced: string | undefined, bare: string | undefined) => {
        const name = braced ?? bare ?? "";
        return listed.includes(name) ? (env[name] ?? "") : "";
      },
    );
  return Object.fromEntries(
    Object.entries(asObject(entry["headers"])).map(([name, value]) => [name, filled(value)]),
  );
}
