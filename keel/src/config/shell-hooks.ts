/** Hooks as settings write them, commands and addresses, as hooks of the engine. */
import { isMatcher } from "../engine/hooks/matcher.ts";
import type { PostJson, RunProgram } from "../engine/hooks/outside.ts";
import type { Hook } from "../engine/hooks/run.ts";
import { isObject } from "../kernel/json.ts";
import { type HookEvent, type HookInput, isHookEvent } from "../protocol/hook.ts";
import type { Settings } from "./settings-schema.ts";

export type HookWorld = {
  readonly runProgram: RunProgram;
  readonly postJson: PostJson;
  readonly cwd: string;
  /** The folder whose settings these are: what a command is told as the project's. */
  readonly projectRoot: string;
  /** For headers that name a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

type Written = Record<string, unknown>;

/** `problems`: entries that are none of ours, each told once and left out. */
export function hooksInSettings(
  { hooks = {} }: Settings,
  world: HookWorld,
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
        const hook = hookOf(entry, { event, world });
        if (typeof hook !== "string") return [{ ...hook, matcher }];
        problems.push(`A ${event} hook is left out: ${hook}`);
        return [];
      });
    });
  });
  return { hooks: found, problems };
}

function hookOf(entry: Written, at: { event: HookEvent; world: HookWorld }): Hook | string {
  switch (entry["type"]) {
    case "command":
      return typeof entry["command"] === "string"
        ? commandHook(entry, { ...at, command: entry["command"] })
        : "it names no command.";
    case "http":
      return typeof entry["url"] === "string"
        ? httpHook(entry, { ...at, url: entry["url"] })
        : "it names no url.";
    default:
      return `hooks of the type ${JSON.stringify(entry["type"])} are not known.`;
  }
}

function common(entry: Written, event: HookEvent): Pick<Hook, "event" | "timeoutMs" | "once" | "onFailure"> {
  const { timeout } = entry;
  return {
    event,
    ...(typeof timeout === "number" ? { timeoutMs: timeout * 1000 } : {}),
    ...(entry["once"] === true ? { once: true } : {}),
    ...(entry["onFailure"] === "block" ? { onFailure: "block" as const } : {}),
  };
}

/** One JSON object is small; whoever prints more prints something else. */
const mostBytes = 1_000_000;

/** The exit code with which a command objects, in the words of its standard error. */
const objects = 2;

function commandHook(
  entry: Written,
  { event, command, world }: { event: HookEvent; command: string; world: HookWorld },
): Hook {
  const args = Array.isArray(entry["args"]) ? entry["args"].map(String) : undefined;
  // With arguments it is a program; without, a line for the shell, as people write it.
  const launch = args ? { file: command, args } : { file: "sh", args: ["-c", command] };
  return {
    ...common(entry, event),
    name: JSON.stringify(command.slice(0, 80)),
    ...(entry["async"] === true ? { detached: true } : {}),
    async call(input, { signal }) {
      const end = await world.runProgram(
        {
          ...launch,
          cwd: world.cwd,
          env: { CLAUDE_PROJECT_DIR: world.projectRoot, KEEL_PROJECT_DIR: world.projectRoot },
          input: `${JSON.stringify(input)}\n`,
          mostBytes,
        },
        signal,
      );
      const words = end.stderr.trim().slice(0, 10_000);
      if (end.exitCode === objects)
        return { decision: "block", reason: words || `The hook ${command} objected.` };
      if (end.exitCode !== 0) {
        const how = end.exitCode === null ? "A signal ended it" : `It ended with code ${end.exitCode}`;
        throw new Error(`${how}${words ? `: ${words.slice(0, 500)}` : "."}`);
      }
      return outputOf(end.stdout, { cut: end.cut, input });
    },
  };
}

/** One JSON object, or plain words: where words can be context they are, elsewhere they are only talk. */
function outputOf(text: string, { cut, input }: { cut: boolean; input: HookInput }): unknown {
  const words = text.trim();
  if (words === "") return undefined;
  if (cut) throw new Error(`It printed more than ${mostBytes} bytes.`);
  if (words.startsWith("{")) return parseObject(words);
  const { hook_event_name: event } = input;
  if (event !== "UserPromptSubmit" && event !== "SessionStart") return undefined;
  return { hookSpecificOutput: { hookEventName: event, additionalContext: words } };
}

function httpHook(
  entry: Written,
  { event, url, world }: { event: HookEvent; url: string; world: HookWorld },
): Hook {
  return {
    ...common(entry, event),
    name: JSON.stringify(url.slice(0, 80)),
    async call(input, { signal }) {
      const headers = headersOf(entry, world.env);
      const wish = { url, headers, body: JSON.stringify(input), mostBytes };
      const { status, body, cut } = await world.postJson(wish, signal);
      if (status < 200 || status > 299) throw new Error(`It answered with status ${status}.`);
      if (cut) throw new Error(`It answered with more than ${mostBytes} bytes.`);
      return body.trim() === "" ? undefined : parseObject(body);
    },
  };
}

/** A header may name variables, but only those that the entry itself lists: a secret is sent on purpose or not at all. */
function headersOf(entry: Written, env: HookWorld["env"]): Record<string, string> {
  const listed = Array.isArray(entry["allowedEnvVars"]) ? entry["allowedEnvVars"].map(String) : [];
  const headers = isObject(entry["headers"]) ? entry["headers"] : {};
  const filled = (value: unknown): string =>
    String(value).replace(
      /\$\{(\w+)\}|\$(\w+)/g,
      (_, braced: string | undefined, bare: string | undefined) => {
        const name = braced ?? bare ?? "";
        return listed.includes(name) ? (env[name] ?? "") : "";
      },
    );
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)]));
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("It printed something that looks like JSON and is none.");
  }
}
