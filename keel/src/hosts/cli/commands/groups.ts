/** `keel groups`: chat groups, each with an agent of its own; this far on the local channel. */
import path from "node:path";
import type { OptionValues } from "../../../app/flags/arguments.ts";
import { oneWord, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { changeGroups } from "../../../app/groups/change-groups.ts";
import { type Home, openHome } from "../../../app/home.ts";
import { present, toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { ChatGroup } from "../../../protocol/group.ts";
import { isoTime } from "../../../view/say.ts";
import { type CommandRun, json } from "../command.ts";
import type { Context } from "../context.ts";

const text = (value: string, says: string) => ({ kind: "text", value, says }) as const;

export const groupAddOptions = {
  ...json,
  name: text("NAME", "What people call it; its id when left out"),
  folder: text("FOLDER", "Where its agent works; this folder when left out"),
  trigger: text("WORD", "What a message that is meant for the agent begins with: @keel"),
  always: { kind: "flag", says: "Every message is meant for it" },
  "no-sandbox": { kind: "flag", says: "What people make it run is not confined to its folder" },
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

export const add: CommandRun<OptionValues<typeof groupAddOptions>> = async (
  { values, positionals },
  context,
) => {
  const id = oneWord(positionals, "Say what the group is called: `keel groups add ID`.");
  const options = present({ model: values.model, permissionMode: values["permission-mode"] });
  const folder = path.resolve(context.cwd, values.folder ?? ".");
  const wish = {
    id,
    folder,
    options,
    name: values.name ?? id,
    trigger: values.trigger,
    always: values.always,
    box: values["no-sandbox"] ? ("none" as const) : ("sandbox" as const),
  };
  const group = await withGroups(context, ({ groups }) => groups.add(wish, context));
  context.out.line(values.json ? toLine(group) : row(group));
};

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const groups = await withGroups(context, (place) => place.groups.list());
  if (values.json) context.out.line(toLine(groups));
  else if (groups.length > 0) context.out.line(groups.map(row).join("\n"));
  else context.err.line("There are no groups yet: `keel groups add ID` makes one.");
};

const row = ({ id, name, channel, trigger, always, folder }: ChatGroup): string =>
  [id, visible(name), channel, always ? "always" : visible(trigger), visible(folder)].join("  ");

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
