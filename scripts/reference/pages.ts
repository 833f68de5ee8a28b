// The reference pages, made from the tables and schemas of the source. Pure: text in, pages out.
import { bundledSkills } from "../../keel/src/app/compose/bundled-skills.ts";
import type { CliOption } from "../../keel/src/app/flags/arguments.ts";
import { builtInCommands, registryOf } from "../../keel/src/app/input/commands/registry.ts";
import type { CliCommand } from "../../keel/src/hosts/cli/command.ts";
import { commands } from "../../keel/src/hosts/cli/command-table.ts";
import { exitCodes, faults } from "../../keel/src/kernel/faults.ts";
import { schemaOf } from "../../keel/src/kernel/schema.ts";
import type { CommandInfo } from "../../keel/src/protocol/inquiry.ts";
import { inquiries } from "../../keel/src/protocol/inquiry.ts";
import { type FlagDoor, fieldOf, flagAt, type OptionRow } from "../../keel/src/protocol/option-row.ts";
import { rowsOf } from "../../keel/src/protocol/options.ts";
import { type Declaration, declarationsIn, type Member } from "./declarations.ts";
import { eventShapesFile } from "./event-shapes.ts";
import { serverPageParts } from "./server-page.ts";
import { settingRows } from "./settings-page.ts";
import { toolFamiliesFile, toolHeadsFile } from "./tool-heads.ts";
import { whatTheModelSeesPage } from "./what-the-model-sees.ts";

/** Sources by their path from the root of the repository. */
export type Sources = Readonly<Record<string, string>>;

/** What the pages are made of; whoever calls reads these files. */
export const referenceSources = [
  "ARCHITECTURE.md",
  "keel/src/protocol/event/durable.ts",
  "keel/src/protocol/event/live.ts",
  "keel/src/protocol/command.ts",
  "keel/src/protocol/ask.ts",
  "keel/src/protocol/message.ts",
  "keel/src/protocol/tool.ts",
  "keel/src/protocol/settings.ts",
  "keel/src/protocol/usage.ts",
] as const;

const [architectureFile, durableFile, liveFile, commandFile, ...shapeFiles] = referenceSources;

/** What is code, by its path: sessions run on it, and so do the requests that a page shows. */
export const referenceCode = async (): Promise<Record<string, string>> => ({
  "keel/src/tools/heads.ts": await toolHeadsFile(),
  "keel/src/protocol/tool-families.ts": await toolFamiliesFile(),
  "keel/src/protocol/event-shapes.ts": eventShapesFile(),
});

/** Every page by its path. */
export async function referencePages(sources: Sources): Promise<Record<string, string>> {
  const declared = (file: string) => declarationsIn(file, sources[file] ?? "");
  const events = [durableFile, liveFile].flatMap(declared);
  return {
    "docs/reference/faults.md": faultsPage(),
    "docs/reference/events.md": eventsPage(events, shapeFiles.flatMap(declared)),
    "docs/reference/commands.md": commandsPage(declared(commandFile)),
    "docs/reference/command-line.md": await commandLinePage(),
    "docs/reference/options.md": optionsPage(),
    "docs/reference/inquiries.md": inquiriesPage(),
    "docs/reference/server.md": page(
      "Server",
      "the tables in `keel/src/protocol/operation.ts` and `keel/src/hosts/server/routes.ts`",
      serverPageParts(),
    ),
    "docs/reference/settings.md": settingsPage(),
    "docs/reference/slash-commands.md": slashCommandsPage(),
    "docs/reference/what-the-model-sees.md": await whatTheModelSeesPage(),
    ...(await referenceCode()),
    [architectureFile]: withEventList(sources[architectureFile] ?? "", events),
  };
}

/** The types of events, as the reference lists them. */
export function eventTypes(sources: Sources): { durable: string[]; live: string[] } {
  const declared = [durableFile, liveFile].flatMap((file) => declarationsIn(file, sources[file] ?? ""));
  const typesOf = (name: string) => find(declared, name).members.flatMap(({ type }) => type ?? []);
  return { durable: typesOf("durable"), live: typesOf("LiveEvent") };
}

function faultsPage(): string {
  const rows = Object.entries(faults).map(
    ([code, { says, hint, exit }]) => `| \`${code}\` | ${cell(says)} | ${cell(hint)} | ${exit} |`,
  );
  const exits = Object.entries(exitCodes).map(([name, code]) => `| ${code} | ${meaningOf(name)} |`);
  return page("Faults", "the table in `keel/src/kernel/faults.ts`", [
    "A fault is a broken promise. Its code is stable: programs decide by it, never by the words. `{names}` are filled in from the fault's detail.",
    ["| code | what the person reads | what to do | exit |", "|---|---|---|---|", ...rows].join("\n"),
    "## Exit codes",
    ["| code | means |", "|---|---|", ...exits].join("\n"),
  ]);
}

const meaningOf = (name: string): string =>
  Object.entries(exitMeanings).find(([one]) => one === name)?.[1] ?? name;

/** Typed by the table of codes: a new code without its meaning does not compile. */
const exitMeanings: Record<keyof typeof exitCodes, string> = {
  ended: "the turn ended well",
  turnFailed: "the turn ended in an error or at a limit; the JSON says which",
  usage: "the command was not used as it is meant to be",
  damagedData: "data on disk is damaged, unreadable, or of a newer version",
  noSession: "there is no such session",
  unreachable: "the provider cannot be reached",
  internal: "a defect of Keel",
  logUnwritable: "the log cannot be written",
  outputClosed: "the reader closed the output",
  sessionBusy: "the session is open in another process",
  keyRefused: "the provider refused the key",
  setUp: "something is not set up: no model, no key, a Node that is too old, wrong settings",
  interrupted: "interrupted by a signal (SIGINT)",
  terminated: "ended by a signal (SIGTERM)",
};

function eventsPage(events: readonly Declaration[], shapes: readonly Declaration[]): string {
  const named = [...events, ...shapes].filter(({ name }) => !told.includes(name));
  return page("Events", "the schemas in `keel/src/protocol/`", [
    "Facts in the past tense. A durable event stands in the log with `seq`, `at` and `session`; a live one is only shown, with `at` and `session`. `?` marks what may be absent.",
    "## Durable events",
    ...find(events, "durable").members.map(memberSection),
    "## Live events",
    ...find(events, "LiveEvent").members.map(memberSection),
    "## Shapes",
    "What the events name, in the order of the files that own it. `Json` is any JSON value.",
    ...named.map(shapeSection),
  ]);
}

/** Told elsewhere on the page, or only a name for something that is. */
const told = [
  "durable",
  "Durable",
  "DurableEvent",
  "LiveEvent",
  "Event",
  "EventType",
  "Live",
  "ReplyEvent",
  "ItemizedBill",
  "ToolFamily",
  "Envelope",
  "Json",
];

const listStart = "<!-- Written by `npm run reference` from the comments in `keel/src/protocol/event/`: -->";
const listEnd = "<!-- End of what is written. -->";

/** The page with its list of events as the source has them now; the words around the two marks stay. */
export function withEventList(text: string, events: readonly Declaration[]): string {
  const [before, rest = ""] = text.split(listStart);
  const [, after] = rest.split(listEnd);
  if (before === undefined || after === undefined)
    throw new Error(`${architectureFile} has lost the marks of its list of events`);
  const lines = (name: string) => find(events, name).members.map(listLine);
  const list = [
    "**Durable**, numbered by `seq` from 1 without a gap:",
    lines("durable").join("\n"),
    "**Live**, shown and never stored:",
    lines("LiveEvent").join("\n"),
  ];
  return [before + listStart, ...list, listEnd + after].join("\n\n");
}

/** One line reads on from the type: no capital, no full stop. */
function listLine({ type = "?", comment }: Member): string {
  const words =
    comment === undefined
      ? ""
      : `: ${comment.slice(0, 1).toLowerCase()}${comment.slice(1).replace(/\.$/, "")}`;
  return `- \`${type}\`${words}`;
}

function commandsPage(commands: readonly Declaration[]): string {
  return page("Commands", "the schemas in `keel/src/protocol/command.ts`", [
    "What a host submits to a session, and the receipt that it gets once the command's facts are on disk. The shapes that are named here stand in [events](events.md#shapes). What is typed after `keel` is told in [command line](command-line.md).",
    "## Commands",
    ...find(commands, "Command").members.map(memberSection),
    "## Receipts",
    ...find(commands, "Receipt").members.map(memberSection),
  ]);
}

async function commandLinePage(): Promise<string> {
  return page("Command line", "the tables in `keel/src/hosts/cli/`", [
    "Every command of `keel` and its options. How it ends is told by the [exit codes](faults.md#exit-codes).",
    ...(await Promise.all(commands.map(commandSection))),
  ]);
}

/** A flag stands where it is the door's; a dash where the door does not have it. */
function optionsPage(): string {
  const code = (name: string | undefined): string => (name ? `\`${name}\`` : "–");
  const flag = (door: FlagDoor, row: OptionRow): string => {
    const name = flagAt(door, row)?.name;
    return code(name && `--${name}`);
  };
  const rows = rowsOf().map(([name, row]) => {
    const doors = [code(name), flag("cli", row), flag("executable", row), flag("runner", row)];
    return `| ${[...doors, code(fieldOf(row)), cell(row.says), code(row.setting)].join(" | ")} |`;
  });
  return page("Options of a session", "the table in `keel/src/protocol/options.ts`", [
    "What can be said about a session when it is opened, and what it is called at each door: the SDK, `keel -p`, `keel` as the executable of an SDK, `keel runner` and its first line. Only the SDK has callbacks, servers and stores of the program beside these.",
    [
      "| SDK | `keel -p` | executable | runner | first line | | setting |",
      "|---|---|---|---|---|---|---|",
      ...rows,
    ].join("\n"),
  ]);
}

const noQuestion = JSON.stringify({ type: "object", properties: {} });

function inquiriesPage(): string {
  const sections = Object.entries(inquiries).map(([name, { says, question, answer }]) => {
    const shape = (schema: typeof answer | typeof question): string =>
      JSON.stringify(schemaOf<unknown>(schema).json, null, 2);
    const asked =
      JSON.stringify(schemaOf<unknown>(question).json) === noQuestion
        ? []
        : [`Question:\n\n\`\`\`json\n${shape(question)}\n\`\`\``];
    return [
      `## \`${name}\``,
      `${cell(says)}.`,
      ...asked,
      `Answer:\n\n\`\`\`json\n${shape(answer)}\n\`\`\``,
    ].join("\n\n");
  });
  return page("Inquiries", "the table in `keel/src/protocol/inquiry.ts`", [
    "What a host may ask about an open session: `query.inquire(name, question)` in the SDK, also for a session in a process of its own; the control request `inquire` with `inquiry` and `question`, whose answer stands in `answer`; the runner's input `inquire`, answered by `inquiry_answered`.",
    ...sections,
  ]);
}

function slashCommandsPage(): string {
  const row = ({ name, argumentHint, aliases, description }: CommandInfo): string =>
    `| \`/${name}${argumentHint === "" ? "" : ` ${cell(argumentHint)}`}\` | ${aliases.map((one) => `\`/${one}\``).join(", ")} | ${cell(description)} |`;
  const table = (kind: CommandInfo["kind"], from = builtInCommands()): string =>
    ["| command | also | |", "|---|---|---|", ...from.filter((one) => one.kind === kind).map(row)].join("\n");
  const bundled = registryOf({ commands: [], skills: bundledSkills }).listed.filter(
    ({ source }) => source === "bundled",
  );
  return page(
    "Slash commands",
    "the tables in `keel/src/app/input/commands/` and `keel/src/app/compose/bundled-skills.ts`",
    [
      "What can be typed after a slash, in every host. Those of your own are told in the [guide](../guide/commands.md).",
      "## Answered at once",
      table("local"),
      "## Shown as a choice",
      "Where there is no screen they say what to do instead.",
      table("screen"),
      "## Put to the model",
      table("prompt"),
      "## Skills that come with Keel",
      "The model reads them by itself when a task is one that they are for; a skill of yours with the same name takes the place of one.",
      table("prompt", bundled),
    ],
  );
}

function settingsPage(): string {
  const rows = settingRows().map(
    ({ name, form, says, from }) => `| \`${name}\` | ${cell(form)} | ${cell(says)} | ${from} |`,
  );
  return page("Settings", "the schema in `keel/src/config/settings/settings-schema.ts`", [
    "Every setting, by the name that `keel config get` and `keel config set` take; a star stands for a name of your own. Where files stand and which one wins is told in the [guide](../guide/settings.md); `keel config schema` prints all of this as JSON Schema. What is **yours** no project may set, trusted or not.",
    ["| name | form | | from |", "|---|---|---|---|", ...rows].join("\n"),
  ]);
}

async function commandSection({ name, usage, says, options }: CliCommand): Promise<string> {
  const rows = Object.entries(await options()).map(
    ([long, option]) => `| ${spellings(long, option)} | ${cell(option.says)} |`,
  );
  const table = ["| option | |", "|---|---|", ...rows].join("\n");
  return [
    `## \`keel${name === "" ? "" : ` ${name}`}\``,
    `${cell(says)}.`,
    `\`\`\`\n${usage}\n\`\`\``,
    table,
  ].join("\n\n");
}

function spellings(name: string, { short, aliases = [], value }: CliOption): string {
  const long = [name, ...aliases].map((one) => `--${one}${value === undefined ? "" : ` ${value}`}`);
  return [...(short === undefined ? [] : [`-${short}`]), ...long].map((one) => `\`${one}\``).join(", ");
}

function memberSection({ type, comment, shape }: Member): string {
  return [`### \`${type ?? "?"}\``, ...(comment ? [comment] : []), fence(shape)].join("\n\n");
}

const longLine = 100;

function shapeSection({ name, comment, members }: Declaration): string {
  const [only] = members.length === 1 ? members : [];
  const alternatives = only ? only.shape.split(" | ") : members.map(({ shape }) => shape);
  const isList = !only || (only.shape.length > longLine && !only.shape.startsWith("{"));
  const shape = isList ? alternatives.map((one) => `| ${one}`).join("\n") : only.shape;
  return [`### ${name}`, ...(comment ? [comment] : []), fence(shape)].join("\n\n");
}

function page(title: string, source: string, parts: readonly string[]): string {
  const note = `<!-- Generated by \`npm run reference\` from ${source}; edit there. -->`;
  return `${[`# ${title}`, note, ...parts].join("\n\n")}\n`;
}

function find(declared: readonly Declaration[], name: string): Declaration {
  const found = declared.find((one) => one.name === name);
  if (!found)
    throw new Error(`The protocol no longer declares ${name}; scripts/reference/pages.ts must follow`);
  return found;
}

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``;
const cell = (words: string): string => words.replaceAll("|", "\\|");
