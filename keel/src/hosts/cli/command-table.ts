/** The commands, as a table: what each is called, what it takes, and how it is loaded. Nothing heavy is here. */

import { type Arguments, type CliOptions, parseArguments, usage } from "../../app/flags/arguments.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { type CliCommand, type CommandRow, json, yes } from "./command.ts";
import { mcpCommands } from "./commands/mcp-commands.ts";
import { groupCommands, scheduleCommands, serverCommands } from "./commands/server-commands.ts";
import { recordCommands, settingsCommands } from "./commands/settings-commands.ts";
import { timeCommands } from "./commands/time-commands.ts";
import type { Context } from "./context.ts";

const help = { help: { kind: "flag", short: "h", says: "Show this help" } } as const satisfies CliOptions;

export const commands: readonly CliCommand[] = [
  command({
    usage: "keel -p [OPTIONS] [PROMPT]",
    says: "Answers a prompt and ends. The prompt may also come on standard input; with both, they are joined",
    options: async () => (await import("./print/root.ts")).rootOptions,
    foreign: "passed over",
    load: async () => (await import("./print/root.ts")).root,
  }),
  command({
    usage: "keel run FILE [--param NAME=VALUE] [OPTIONS]",
    says: "Runs a recipe: a prompt with parameters, and how it is run, in one file",
    options: async () => (await import("./commands/run-recipe.ts")).recipeOptions,
    load: async () => (await import("./commands/run-recipe.ts")).runRecipe,
  }),
  command({
    usage: "keel sessions list [--all] [--json]",
    says: "The sessions of this folder, newest first",
    options: { ...json, all: { kind: "flag", says: "Of every folder" } },
    load: async () => (await import("./commands/sessions.ts")).listSessions,
  }),
  command({
    usage: "keel sessions show ID",
    says: "What was said and done in a session. Nothing runs",
    load: async () => (await import("./commands/sessions.ts")).showSession,
  }),
  command({
    usage: "keel sessions search [OPTIONS] [WORDS...]",
    says: "Sessions in which all of these words were said and all of this was done, the best first",
    options: {
      ...json,
      file: { kind: "text", value: "PATH", says: "A tool read or changed it: a name, or the end of a path" },
      command: { kind: "text", value: "WORDS", says: "A command with these words was run" },
      tool: { kind: "text", value: "NAME", says: "This tool was called" },
      cost: { kind: "text", value: "USD", says: "It cost at least this much" },
      fault: { kind: "text", value: "CODE", says: "It met this fault, or a turn ended for this reason" },
      since: { kind: "text", value: "DAY", says: "Something was said then or later" },
      until: { kind: "text", value: "DAY", says: "It began then or earlier" },
    },
    load: async () => (await import("./commands/search-sessions.ts")).searchSessions,
  }),
  command({
    usage: "keel sessions export ID [--format jsonl|md|html|replay] [-o FILE]",
    says: "A session as its log, as Markdown, as one page, or as one that replays elsewhere",
    options: {
      format: {
        kind: "text",
        value: "FORMAT",
        says: "jsonl (the default), md, html, or replay: a page with all that keel replay needs, without secrets",
      },
      output: { kind: "text", short: "o", value: "FILE", says: "Where to; standard output when left out" },
    },
    load: async () => (await import("./commands/sessions.ts")).exportSession,
  }),
  command({
    usage: "keel sessions import [FILE|FOLDER] [--all]",
    says: "Takes an exported log, or transcripts of the official interface",
    options: { all: { kind: "flag", says: "The transcripts of every project" } },
    load: async () => (await import("./commands/sessions.ts")).importSession,
  }),
  command({
    usage: "keel sessions delete ID",
    says: "Deletes a session and what stands beside its log",
    load: async () => (await import("./commands/sessions.ts")).deleteSession,
  }),
  command({
    usage: "keel sessions move --to sqlite|jsonl|postgres [ID...]",
    says: "Moves sessions into one SQLite database, or back into files; all of them if none is named",
    options: { to: { kind: "text", value: "WHERE", says: "sqlite, jsonl or postgres" } },
    load: async () => (await import("./commands/move-sessions.ts")).moveSessions,
  }),
  command({
    usage: "keel sessions rewind ID [MESSAGE] [--preview]",
    says: "Puts files back as they were before a message; without one, lists those that changed files",
    options: { ...json, preview: { kind: "flag", says: "Only say what would change" } },
    load: async () => (await import("./commands/sessions.ts")).rewindSession,
  }),
  ...timeCommands(command),
  ...recordCommands(command),
  command({
    usage: "keel models [--json]",
    says: "The models that Keel knows, with window and prices",
    options: json,
    load: async () => (await import("./commands/models.ts")).listModels,
  }),
  command({
    usage: "keel models refresh --from FILE|URL",
    says: "Takes a newer catalog of models and prices from there; never by itself",
    options: { from: { kind: "text", value: "WHERE", says: "A file, or an https address" } },
    load: async () => (await import("./commands/models.ts")).refreshCatalog,
  }),
  command({
    usage: "keel doctor [--json] [--bundle FILE [--session ID]]",
    says: "What Keel finds on this machine, and what it would use",
    options: {
      ...json,
      model: { kind: "text", short: "m", value: "NAME", says: "As for keel -p" },
      bundle: {
        kind: "text",
        value: "FILE",
        says: "Write it with settings and recent faults into one file, without secrets",
      },
      session: { kind: "text", value: "ID", says: "A session whose log goes into the bundle" },
    },
    load: async () => (await import("./commands/doctor.ts")).doctor,
  }),
  command({
    usage: "keel help [TOPIC...]",
    says: "What you want to do, and the commands for it",
    load: async () => (await import("./commands/help-topics.ts")).helpOn(commands),
  }),
  command({
    usage: "keel auth set PROVIDER [--base-url URL] [--file] < KEY",
    says: "Keeps the key from standard input: in the keychain if there is one, else in a private file",
    options: {
      "base-url": {
        kind: "text",
        value: "URL",
        says: "The address it is for; the provider's own when left out",
      },
      file: { kind: "flag", says: "In the file, although there is a keychain" },
    },
    load: async () => (await import("./commands/auth.ts")).setKey,
  }),
  command({
    usage: "keel auth status [--json]",
    says: "Which key would be used for which provider. No key is shown",
    options: json,
    load: async () => (await import("./commands/auth.ts")).showKeys,
  }),
  command({
    usage: "keel auth remove PROVIDER",
    says: "Forgets the key that Keel keeps",
    load: async () => (await import("./commands/auth.ts")).removeKey,
  }),
  ...settingsCommands(command),
  ...scheduleCommands(command),
  ...groupCommands(command),
  ...serverCommands(command),
  command({
    usage: "keel runner [OPTIONS]",
    says: "One conversation for a host application: JSON lines in and out",
    options: async () => (await import("./commands/runner.ts")).runnerOptions,
    load: async () => (await import("./commands/runner.ts")).startRunner,
  }),
  command({
    usage: "keel desktop [OPTIONS]",
    says: "The runtime behind a desktop shell: JSON lines, with tools of the desktop",
    options: async () => (await import("./commands/desktop.ts")).desktopOptions,
    load: async () => (await import("./commands/desktop.ts")).startDesktop,
  }),
  command({
    usage: "keel acp [OPTIONS]",
    says: "An agent of an editor, over the Agent Client Protocol on standard input and output",
    options: async () => (await import("./commands/acp.ts")).acpOptions,
    load: async () => (await import("./commands/acp.ts")).startAcp,
  }),
  ...mcpCommands(command),
  command({
    usage: "keel import (claude | codex | gemini) [--yes] [--json]",
    says: "Shows what another agent has set up here and at home, asks, and copies it",
    options: { ...yes, ...json },
    unheard: "goes-on",
    load: async () => (await import("./commands/import.ts")).importFrom,
  }),
  command({
    usage: "keel rehearse [--keep] [--console [--no-open]]",
    says: "A real session in a temporary folder on a scripted model: no key, no network",
    options: {
      keep: { kind: "flag", says: "Leave the folder and its log for a look" },
      console: { kind: "flag", says: "In the browser app, until you end it" },
      "no-open": { kind: "flag", says: "With --console: only say the link" },
    },
    load: async () => (await import("./commands/rehearse.ts")).rehearse,
  }),
  command({
    usage: "keel model-server (--script FILE | --replay FILE | --record FILE --upstream URL) [--port N]",
    says: "A model over HTTP for tests: scripted, replayed or recorded; prints its port as JSON",
    options: {
      script: { kind: "text", value: "FILE", says: "The script, as JSON" },
      replay: {
        kind: "text",
        value: "FILE",
        says: "Play this recording; what it does not hold is refused and told at the end, with exit code 1",
      },
      record: {
        kind: "text",
        value: "FILE",
        says: "Record into this file, made anew, without keys and other secrets",
      },
      upstream: {
        kind: "text",
        value: "URL",
        says: "With --record: the provider that requests are passed on to",
      },
      port: { kind: "text", value: "N", says: "A free one when left out" },
      requests: {
        kind: "text",
        value: "FILE",
        says: "With --script: where each request is added as a line of JSON",
      },
    },
    load: async () => (await import("./commands/model-server.ts")).modelServer,
  }),
];

function command<const T extends CliOptions>({
  usage: line,
  says,
  options = {} as T,
  foreign,
  unheard,
  load,
}: CommandRow<T>): CliCommand {
  const name = /^keel((?: [a-z][a-z-]*(?= |$))*)/.exec(line)?.[1]?.trim() ?? "";
  // What is left of the usage without options and their values.
  const takesWords = /[A-Za-z]/.test(
    line.slice(5 + name.length).replace(/--?[a-z][\w-]*(?: [\w|]+)?|\[OPTIONS\]/g, ""),
  );
  const all = async () => ({ ...(typeof options === "function" ? await options() : options), ...help });
  const self: CliCommand = {
    name,
    usage: line,
    says,
    options: all,
    unheard,
    async start(given, context) {
      const parsed = foreign
        ? await parseWithForeign(given, await all(), context)
        : parseArguments(given, await all());
      const { values, positionals } = parsed;
      if (values.help) {
        const { helpFor } = await import("./help.ts");
        context.out.write(await helpFor(self, commands));
        return exitCodes.ended;
      }
      if (!takesWords && positionals[0] !== undefined)
        throw usage(`\`keel ${name}\` takes no words, and ${JSON.stringify(positionals[0])} is one.`);
      const run = await load();
      return (await run(parsed, context)) ?? exitCodes.ended;
    },
  };
  return self;
}

/** What the table knows is read without the other one, which most starts do not need. */
async function parseWithForeign<const T extends CliOptions>(
  given: readonly string[],
  options: T,
  { err }: Context,
): Promise<Arguments<T>> {
  try {
    return parseArguments(given, options);
  } catch {
    const { passingOver, sayPassedOver } = await import("../../app/flags/foreign-flags.ts");
    const passed: string[] = [];
    const parsed = parseArguments(given, options, passingOver(passed, "refused"));
    if (passed.length > 0) err.line(sayPassedOver(passed));
    return parsed;
  }
}
