/**
 * The built-in commands that need no model: those that are answered at once, and those that a screen shows as a choice,
 * which say what to do instead where there is no screen.
 */
import { fault } from "../../../kernel/fault.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import type { McpServerState } from "../../../protocol/mcp.ts";
import { permissionModeSchema } from "../../../protocol/settings.ts";
import { contextKinds } from "../../../protocol/usage.ts";
import { sayNext, sayRun, sayWhen } from "../../../view/say-schedule.ts";
import { sayMember, sayWait } from "../../../view/say-team.ts";
import type { CommandContext, LocalCommand } from "./command.ts";

const commandOf =
  (kind: LocalCommand["kind"]) =>
  (
    name: string,
    description: string,
    run: LocalCommand["run"],
    more: Partial<LocalCommand> = {},
  ): LocalCommand => ({ name, description, argumentHint: "", kind, run, ...more });
const local = commandOf("local");
const screen = commandOf("screen");

export const localCommands: readonly LocalCommand[] = [
  local("help", "Lists the commands.", async (_, context) => sayHelp(context), { aliases: ["?"] }),
  local(
    "clear",
    "Starts the conversation anew; what was said stays in the log.",
    async (_, { submit }) => {
      await submit({ type: "clear" });
      return "The conversation starts anew.";
    },
    { aliases: ["reset", "new"], waits: true },
  ),
  local(
    "compact",
    "Replaces the older part of the conversation by a summary.",
    async (args, { submit, hasSaid }) => {
      if (!hasSaid()) return "There is nothing to shorten yet.";
      await submit({ type: "compact", ...(args === "" ? {} : { instructions: args }) });
      return "";
    },
    { argumentHint: "[what the summary should keep]" },
  ),
  local("context", "Shows what fills the conversation's window.", async (_, context) => sayContext(context)),
  local("cost", "Shows what the session has used and cost.", async (_, context) => sayCost(context), {
    aliases: ["usage"],
  }),
  local("model", "Shows the model, or asks another from now on.", changeModel, { argumentHint: "[model]" }),
  local("mode", "Shows the permission mode, or changes it.", changeMode, { argumentHint: "[mode]" }),
  local("goal", "Shows what must hold before a turn ends, sets it, or clears it.", changeGoal, {
    argumentHint: "[CONDITION|clear]",
  }),
  local("team", "Shows the team: how each member stands, who waits for whom, what was said last.", sayTeam),
  local("schedules", "Lists what is due by the clock, with when it starts next.", saySchedules),
  local(
    "permissions",
    "Lists the rules that hold, and where they come from.",
    async (_, { settingsLocation: place }) => {
      const { listRules } = await import("../../maintenance/permissions.ts");
      const { rows } = await listRules(place);
      if (rows.length === 0) return "There are no rules. `keel permissions add RULE` adds one.";
      return lines(
        rows.map(({ list, rule, source, state, why }) =>
          state === "counts"
            ? `${list} ${rule} (${source})`
            : `${list} ${rule} (${source}; does not count${why ? `: ${why}` : ""})`,
        ),
      );
    },
  ),
  local("memory", "Lists the instruction files that hold here.", async (_, context) => sayMemory(context)),
  local("mcp", "Lists the MCP servers, connects one anew, or switches it off and on.", changeServer, {
    argumentHint: "[reconnect|disable|enable NAME]",
  }),
  local("ide", "Shows the editor that is connected, connects to one, or leaves it.", changeEditor, {
    argumentHint: "[connect|leave|NAME]",
  }),
  local("agents", "Lists the kinds of agents.", async (_, { info }) =>
    lines((info.agents ?? []).map(({ name, description }) => `${name}: ${shorten(description, 160)}`)),
  ),
  local("skills", "Lists the skills.", async (_, { library }) =>
    lines(
      library.skills.map(
        ({ name, description, source }) => `${name} (${source}): ${shorten(description, 160)}`,
      ),
    ),
  ),
  local(
    "status",
    "Shows the session: where, with which model, in which mode.",
    async (_, context) => sayStatus(context),
    { aliases: ["session"] },
  ),
  local(
    "doctor",
    "Checks what Keel finds on this machine.",
    async (_, { settingsLocation: place, version }) => {
      const { examine } = await import("../../maintenance/doctor.ts");
      const findings = await examine({ env: place.env, cwd: place.cwd, version });
      return lines(findings.map(({ name, state, says }) => `${state.padEnd(4)} ${name}: ${says}`));
    },
  ),
];

const lines = (all: readonly string[]): string => all.join("\n") || "There are none.";

function sayHelp({ commands }: CommandContext): string {
  return lines(
    commands().map(({ name, argumentHint, description }) =>
      `/${name}${argumentHint === "" ? "" : ` ${argumentHint}`}: ${shorten(description, 120)}`.trim(),
    ),
  );
}

function sayContext({ context }: CommandContext): string {
  const { model, windowTokens, totalTokens, freeTokens, tokens, compactAtTokens } = context();
  const part = (of: number): string =>
    `${windowTokens > 0 ? ((of / windowTokens) * 100).toFixed(1) : "0.0"} %`;
  return lines([
    `${model}: about ${count(totalTokens)} of ${count(windowTokens)} tokens (${part(totalTokens)})`,
    ...contextKinds.map(
      (kind) => `${kind.padEnd(12)} ${count(tokens[kind]).padStart(9)}  ${part(tokens[kind])}`,
    ),
    `${"free".padEnd(12)} ${count(freeTokens).padStart(9)}  ${part(freeTokens)}`,
    ...(compactAtTokens === null ? [] : [`Shortened by itself from ${count(compactAtTokens)} tokens on.`]),
  ]);
}

function sayCost({ bill: billOf }: CommandContext): string {
  const bill = billOf();
  const least = bill.unknownRequests > 0 || bill.unpricedTokens > 0 ? "at least " : "";
  return lines([
    `Cost: ${least}$${bill.costUsd.toFixed(4)}`,
    ...Object.entries(bill.models).map(
      ([model, { usage, costUsd }]) =>
        `${model}: ${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out, ${count(usage.cacheReadTokens)} read from the cache, ${count(usage.cacheWriteTokens)} written to it, $${costUsd.toFixed(4)}`,
    ),
    ...(bill.unpricedTokens > 0 ? [`${count(bill.unpricedTokens)} tokens have no known price.`] : []),
    ...(bill.unknownRequests > 0 ? [`What ${bill.unknownRequests} requests used is not known.`] : []),
    `Time of the provider: ${(bill.apiMs / 1_000).toFixed(1)} s`,
  ]);
}

async function changeModel(args: string, { settings, info, submit }: CommandContext): Promise<string> {
  const now = settings()?.model ?? info.model;
  if (args === "") return `The model is ${now}. /model NAME asks another.`;
  if (/\s/.test(args)) throw fault("usage", { reason: "A model has one name." });
  await submit({ type: "set", patch: { model: args } });
  return `From now on ${args} is asked.`;
}

async function changeMode(args: string, { settings, info, submit }: CommandContext): Promise<string> {
  const now = settings()?.permissionMode ?? info.permissionMode;
  const all = permissionModeSchema.options.join(", ");
  if (args === "") return `The mode is ${now}. There are: ${all}.`;
  const wanted = permissionModeSchema.safeParse(args);
  if (!wanted.success)
    throw fault("usage", { reason: `There is no mode called ${args}. There are: ${all}.` });
  await submit({ type: "set", patch: { permissionMode: wanted.data } });
  return `The mode is ${wanted.data}.`;
}

async function changeGoal(args: string, { settings, submit, goalTries }: CommandContext): Promise<string> {
  const goal = settings()?.goal ?? "";
  if (args === "" && goal === "") return "There is no goal. /goal npm test passes sets one.";
  if (args === "") {
    const { tries, held } = goalTries();
    const how = held ? `It holds since try ${tries}.` : `Tried ${tries} times, and it does not hold yet.`;
    return lines([`The goal: ${goal}`, tries === 0 ? "It was not tried yet." : how]);
  }
  await submit({ type: "set", patch: { goal: args === "clear" ? "" : args } });
  return args === "clear" ? "There is no goal any more." : `Each turn goes on until this holds: ${args}`;
}

const newestMessages = 10;

async function sayTeam(_: string, { team: look }: CommandContext): Promise<string> {
  const team = await look();
  if (!team) return "There is no team. Ask for one: the model makes it.";
  return lines([
    [`The team ${team.name}`, team.description].filter(Boolean).join(": "),
    ...team.members.map((member) =>
      [`${visible(member.name)}: ${sayMember(member)}`, ...member.waits.map(sayWait)].join("\n  "),
    ),
    ...team.messages
      .slice(-newestMessages)
      .map(({ from, to, text }) => `${from} → ${to}: ${shorten(text.replaceAll("\n", " "), 160)}`),
  ]);
}

async function saySchedules(_: string, { schedules, now }: CommandContext): Promise<string> {
  const all = await schedules();
  if (all.length === 0) return "There are none. `keel schedule add --every 1h PROMPT` makes one.";
  return lines(
    all.map((entry) => {
      const { schedule, runs } = entry;
      const last = runs.at(-1);
      const before = last ? `, last ${sayRun(last)}` : "";
      return `${schedule.id}: ${sayWhen(schedule.when)}, ${sayNext(entry, now())}${before}: ${shorten(visible(schedule.prompt.replaceAll("\n", " ")), 100)}`;
    }),
  );
}

async function sayMemory({ instructions, info }: CommandContext): Promise<string> {
  const files = await instructions();
  if (files.length === 0) return `There are none. /init writes an AGENTS.md for ${info.cwd}.`;
  return lines(
    files.map(({ path, source, lines: length, notes }) =>
      [`${path} (${source}, ${length} lines)`, ...notes.map((note) => `  ${note}`)].join("\n"),
    ),
  );
}

async function changeServer(args: string, { servers, server }: CommandContext): Promise<string> {
  if (args === "") return lines(servers().map(sayServer));
  const [, what = "", name = ""] = /^(\S+)\s+(.+)$/.exec(args) ?? [];
  if (what === "reconnect") await server.reconnect(name);
  else if (what === "disable" || what === "enable")
    await server.toggle(name, what === "enable" ? "on" : "off");
  else throw fault("usage", { reason: "Say /mcp, or /mcp with reconnect, disable or enable and a name." });
  return lines(
    servers()
      .filter((one) => one.name === name)
      .map(sayServer),
  );
}

async function changeEditor(args: string, { editor }: CommandContext): Promise<string> {
  if (args === "leave") editor.leave();
  else if (args !== "") await editor.connect(args === "connect" ? undefined : args);
  const others = (await editor.editors()).map(
    ({ name, port, fits }) => `${visible(name)} (${port})${fits ? "" : ": has another folder open"}`,
  );
  const now = editor.status();
  const said =
    now.state === "connected"
      ? `Connected to ${visible(now.name)}${now.file === undefined ? "" : `, which shows ${visible(now.file)}`}.`
      : `No editor is connected${"reason" in now ? `: ${visible(now.reason)}` : "."}`;
  return lines([said, ...(others.length > 0 ? ["Editors that run:", ...others] : ["No editor was found."])]);
}

function sayServer(server: McpServerState): string {
  const more =
    server.status === "connected" ? `${server.tools.length} tools` : "error" in server && server.error;
  return `${server.name}: ${server.status}${more ? ` (${more})` : ""}`;
}

function sayStatus({ id, version, location, info, settings, library }: CommandContext): string {
  const now = settings();
  return lines([
    `Keel ${version}`,
    `Session: ${id}${now?.title ? ` (${now.title})` : ""}`,
    `Log: ${location ?? "not kept"}`,
    `Folder: ${info.cwd}`,
    `Model: ${now?.model ?? info.model} (${info.provider}; key from ${info.keySource})`,
    `Mode: ${now?.permissionMode ?? info.permissionMode}`,
    `Project: ${info.trust.state === "untrusted" ? "not trusted" : info.trust.state} (${info.trust.root})`,
    ...(library.plugins.length > 0 ? [`Plugins: ${library.plugins.map(({ name }) => name).join(", ")}`] : []),
  ]);
}

const count = (value: number): string => Math.round(value).toLocaleString("en-US");

export const screenCommands: readonly LocalCommand[] = [
  screen("resume", "Goes on with another session of this folder.", async (_, worklist) =>
    [
      "`keel -p --resume ID PROMPT` goes on with a session. The newest of this folder:",
      ...(await saySessions(worklist)),
    ].join("\n"),
  ),
  screen("fork", "Goes on in a copy of this session.", async (_, { id }) =>
    [
      "A copy begins where this session is now and leaves it as it is:",
      `keel -p --resume ${id} --fork PROMPT`,
    ].join("\n"),
  ),
  screen("rewind", "Puts files back as they were before a message.", async (_, { id }) =>
    ["The points to which files can be put back, and what would change:", `keel sessions rewind ${id}`].join(
      "\n",
    ),
  ),
  screen("export", "Writes the session down as Markdown or HTML.", async (_, { id }) =>
    [`keel sessions export ${id} --format md`, `keel sessions export ${id} --format html`].join("\n"),
  ),
  screen(
    "config",
    "Lists the settings in force, and where they come from.",
    async (_, { settingsLocation: place }) => {
      const { listSettings } = await import("../../maintenance/configure.ts");
      const { rows } = await listSettings(place);
      return [
        ...rows
          .filter(({ state }) => state === "counts")
          .map(
            ({ name, value, source }) => `${name} = ${shorten(JSON.stringify(value) ?? "", 120)} (${source})`,
          ),
        "`keel config set NAME VALUE` changes one.",
      ].join("\n");
    },
  ),
];

async function saySessions({ sessions, id }: CommandContext): Promise<string[]> {
  const others = (await sessions()).filter((session) => session.id !== id);
  if (others.length === 0) return ["There is no other one."];
  return others.map(
    ({ id: other, changedAt, title, firstInput }) =>
      `${other}  ${dayOf(changedAt)}  ${shorten((title ?? firstInput ?? "").replaceAll(/\s+/g, " "), 60)}`,
  );
}

function dayOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "unknown time" : time.toISOString().slice(0, 16).replace("T", " ");
}
