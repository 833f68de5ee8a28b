/** `keel groups`: chat groups, each with an agent of its own. */
import path from "node:path";
import { Writable } from "node:stream";
import type { OptionValues } from "../../../app/flags/arguments.ts";
import { oneOf, oneWord, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { runBox } from "../../../app/groups/box-program.ts";
import { changeGroups, type GroupState } from "../../../app/groups/change-groups.ts";
import { readMount } from "../../../app/groups/mounts.ts";
import { runGroupTools } from "../../../app/groups/tools-program.ts";
import { type Home, openHome } from "../../../app/home.ts";
import { readDuration } from "../../../app/schedules/due-times.ts";
import { present, toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { type ChatGroup, groupBoxes, groupChannels } from "../../../protocol/group.ts";
import { isoTime } from "../../../view/say.ts";
import { type CommandRun, json } from "../command.ts";
import type { Context } from "../context.ts";
import { ownStart } from "../own-start.ts";
import { readPrompt } from "../print/prompt.ts";

const text = (value: string, says: string) => ({ kind: "text", value, says }) as const;

export const groupAddOptions = {
  ...json,
  name: text("NAME", "What people call it; its id when left out"),
  folder: text("FOLDER", "Where its agent works; this folder when left out"),
  trigger: text("WORD", "What a message that is meant for the agent begins with: @keel"),
  always: { kind: "flag", says: "Every message is meant for it" },
  main: { kind: "flag", says: "Your own group: its agent may administer the others; needs no trigger" },
  channel: text("NAME", `How its people write: ${groupChannels.join(", ")}; local when left out`),
  chat: text("CHAT", "Which chat of the channel it is; `keel groups chats` lists those that it heard of"),
  box: text("BOX", "What confines it: sandbox (the default), container or none"),
  "no-sandbox": { kind: "flag", says: "As --box none: what people make it run is not confined" },
  mount: {
    kind: "list",
    value: "FOLDER[:NAME][:rw]",
    says: "Another folder for it, of those that `groups.mounts` allows; read-only unless :rw",
  },
  idle: text("DURATION", "Its container ends so long after the last query: 30m"),
  hard: text("DURATION", "It is stopped when it has said nothing for so long: 60m"),
  model: { kind: "text", short: "m", value: "NAME", says: "Of its agent" },
  "permission-mode": text("MODE", "Of its agent"),
} as const;

export const groupSayOptions = {
  from: text("NAME", "Who says it; you when left out"),
  id: text("ID", "Said twice with the same id, it is said once"),
} as const;

export const groupLogOptions = { ...json, last: text("N", "So many of the last; 50 when left out") } as const;

type GroupsPlace = { readonly home: Home; readonly groups: ReturnType<typeof changeGroups> };

async function withGroups<T>(context: Context, work: (place: GroupsPlace) => Promise<T>): Promise<T> {
  await using home = openHome(context);
  const book = await home.groupBook();
  try {
    return await work({ home, groups: changeGroups(home, book) });
  } finally {
    await book.close();
  }
}

const named = (positionals: readonly string[]): string =>
  oneWord(positionals, "Name one group: `keel groups list` lists them.");

export const add: CommandRun<OptionValues<typeof groupAddOptions>> = async (given, context) =>
  make(
    oneWord(given.positionals, "Say what the group is called: `keel groups add ID`."),
    given.values,
    context,
  );

/** A chat that a channel has heard of becomes a group. */
export const register: CommandRun<OptionValues<typeof groupAddOptions>> = async (
  { values, positionals },
  context,
) => {
  const [address = "", id, ...more] = positionals;
  const [, channel, chat] = /^([a-z]+):(.+)$/s.exec(address) ?? [];
  if (chat === undefined || id === undefined || more.length > 0)
    throw usage("Say which chat becomes which group: `keel groups register CHANNEL:CHAT ID`.");
  const found = await withGroups(context, ({ groups }) => groups.chats());
  const known = found.find((one) => one.channel === channel && one.chat === chat);
  await make(id, { ...values, channel, chat, name: values.name ?? known?.name }, context);
};

async function make(
  id: string,
  values: OptionValues<typeof groupAddOptions>,
  context: Context,
): Promise<void> {
  const options = present({ model: values.model, permissionMode: values["permission-mode"] });
  const minutes = (name: "idle" | "hard"): number | undefined => {
    const said = values[name];
    return said === undefined ? undefined : readDuration(`--${name}`, said) / 60_000;
  };
  const limits = present({ idleMinutes: minutes("idle"), hardMinutes: minutes("hard") });
  const wish = {
    id,
    options,
    folder: path.resolve(context.cwd, values.folder ?? "."),
    name: values.name ?? id,
    always: values.always,
    box: values["no-sandbox"] ? ("none" as const) : (oneOf("box", values.box, groupBoxes) ?? "sandbox"),
    ...present({
      trigger: values.trigger,
      main: values.main || undefined,
      channel: oneOf("channel", values.channel, groupChannels),
      chat: values.chat,
      mounts: values.mount.length === 0 ? undefined : values.mount.map(readMount),
      limits: Object.keys(limits).length === 0 ? undefined : limits,
    }),
  };
  const group = await withGroups(context, ({ groups }) => groups.add(wish, context));
  context.out.line(values.json ? toLine(group) : row(group));
}

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const groups = await withGroups(context, (place) => place.groups.list());
  if (values.json) context.out.line(toLine(groups));
  else if (groups.length > 0) context.out.line(groups.map(row).join("\n"));
  else context.err.line("There are no groups yet: `keel groups add ID` makes one.");
};

const row = ({ id, name, channel, trigger, always, main = false, folder }: ChatGroup): string => {
  const meant = main ? "main" : always ? "always" : visible(trigger);
  return [id, visible(name), channel, meant, visible(folder)].join("  ");
};

export const status: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const [id, ...more] = positionals;
  if (more.length > 0) throw usage("Name one group, or none for all.");
  const { states, isServed } = await withGroups(context, async ({ home, groups }) => ({
    states: await groups.status(id, context.env),
    isServed: await home.hasServer(),
  }));
  if (values.json) return context.out.line(toLine(states));
  for (const state of states) context.out.line(stateLines(state));
  if (!isServed) context.err.line("No server runs: `keel serve --detach` starts one.");
};

function stateLines({ group, waiting, open, tries, unsent, lastAt, ...rest }: GroupState): string {
  const facts = [
    `${open} at work${tries > 1 ? ` (try ${tries})` : ""}`,
    `${waiting} unheard`,
    `${unsent} to be sent`,
    lastAt === undefined ? "nothing said yet" : `last at ${isoTime(lastAt)}`,
  ];
  return [
    `${group.id}  ${group.box}  ${facts.join(", ")}`,
    ...rest.refusedMounts.map((why) => `  not given: ${visible(why)}`),
    ...rest.instructions.map((file) => `  instructions: ${visible(file)}`),
  ].join("\n");
}

export const chats: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const found = await withGroups(context, ({ groups }) => groups.chats());
  if (values.json) return context.out.line(toLine(found));
  if (found.length === 0) return context.err.line("No channel has heard of a chat that is no group yet.");
  for (const { channel, chat, name, seenAt } of found)
    context.out.line([`${channel}:${visible(chat)}`, visible(name), isoTime(seenAt)].join("  "));
};

export const remove: CommandRun = async ({ positionals }, context) =>
  withGroups(context, ({ groups }) => groups.remove(named(positionals)));

export const say: CommandRun<OptionValues<typeof groupSayOptions>> = async (
  { values, positionals },
  context,
) => {
  const [id, ...words] = positionals;
  const said = words.join(" ").trim();
  if (id === undefined || said === "") throw usage("Say what and where: `keel groups say ID TEXT`.");
  const isServed = await withGroups(context, async ({ home, groups }) => {
    await groups.say(id, { text: said, from: values.from ?? "you", id: values.id });
    return home.hasServer();
  });
  if (!isServed)
    context.err.line("It is kept. No server runs that would answer it: `keel serve --detach` starts one.");
};

/** The program of a group's container. */
export const agent: CommandRun = async (_given, context) => {
  const { version, env, cwd } = context;
  const firstLine = (await readPrompt([], context)) ?? "";
  await runBox({
    version,
    env,
    cwd,
    firstLine,
    keel: ownStart(),
    say: (said) => void context.out.write(said),
  });
};

/** The tools of a group's agent, as a server on standard streams. */
export const tools: CommandRun = async (_given, { version, env, input, out }) => {
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      out.write(chunk.toString("utf8"));
      done();
    },
  });
  await runGroupTools({ version, env, input, output });
};

export const log: CommandRun<OptionValues<typeof groupLogOptions>> = async (
  { values, positionals },
  context,
) => {
  const last = wholeNumber("last", values.last, 1) ?? 50;
  const lines = await withGroups(context, ({ groups }) => groups.said(named(positionals), last));
  if (values.json) return context.out.line(toLine(lines));
  for (const { at, from, text: words, isSent } of lines) {
    const mark = isSent ? "" : " (not sent yet)";
    context.out.line(`${isoTime(at)}  ${visible(from ?? "keel")}${mark}: ${visible(words)}`);
  }
};
