/** What a person does with groups: makes, lists and removes them, says something there, and reads what was said. */
import { statSync } from "node:fs";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import type { GroupBook, GroupRegister, SaidLine } from "../../ports/groups.ts";
import { type ChatGroup, type GroupStatus, groupSchema, type KnownChat } from "../../protocol/group.ts";
import type { Home } from "../home.ts";
import { folderBell } from "../schedules/bell.ts";
import { optionsOfOpening } from "../sessions/opening-options.ts";
import { instructionFiles, openingOf } from "./group-opening.ts";
import { groupSettings, mountPlaces } from "./group-settings.ts";
import { groupTasks } from "./group-tasks.ts";
import { resolveMounts } from "./mounts.ts";

export type GroupWish = Pick<ChatGroup, "id" | "name" | "folder" | "box" | "options"> &
  Partial<Pick<ChatGroup, "trigger" | "always" | "main" | "mounts" | "limits" | "channel" | "chat">>;

export type GroupState = GroupStatus & {
  readonly group: ChatGroup;
  /** What it asks for and is not given. */
  readonly refusedMounts: readonly string[];
  /** The file for all groups, and its own. */
  readonly instructions: readonly string[];
};

type OpeningPlace = { readonly version: string; readonly env: EnvironmentVariables };

const defaultTrigger = "@keel";
const maxSaid = 100_000;
/** What they stand for is taken. */
const reserved = ["global"];

export function changeGroups(home: Home, book: GroupBook & GroupRegister) {
  const bell = folderBell(home.groupsPath);
  const mustFind = async (id: string): Promise<ChatGroup> => {
    const group = await book.find(id);
    if (!group) throw wrong(`There is no group ${id}.`);
    return group;
  };
  const refusedOf = async (group: ChatGroup, env: EnvironmentVariables): Promise<readonly string[]> =>
    group.mounts === undefined
      ? []
      : resolveMounts(group, mountPlaces(home, await groupSettings(home, env), env)).refused;
  return {
    list: (): Promise<readonly ChatGroup[]> => book.list(),

    async add(wish: GroupWish, server: OpeningPlace): Promise<ChatGroup> {
      const group = groupOf(wish, { session: home.ids.uuid(), createdAt: home.clock.now() });
      const [refused] = await refusedOf(group, server.env);
      if (refused !== undefined) throw wrong(`This group cannot have ${refused}.`);
      // What cannot be opened is told now, and not with the first message.
      const peers = { send: async () => ({ ok: false }) };
      optionsOfOpening(openingOf(group, { instructions: [], mounts: [] }), { ...server, peers });
      if (!(await book.add(group))) throw wrong(await whyNot(group, book));
      await bell.ring(group.id);
      return group;
    },

    /** With its tasks; its session stays. */
    async remove(id: string): Promise<void> {
      await mustFind(id);
      await book.remove(id);
      const schedules = await home.scheduleBook();
      try {
        const tasks = { book: schedules, bell: folderBell(home.schedulesPath), now: () => home.clock.now() };
        await groupTasks(tasks).removeAll(id);
      } finally {
        await schedules.close();
      }
      await bell.ring(id);
    },

    async say(id: string, { text, from, id: known }: { text: string; from: string; id: string | undefined }) {
      const { channel } = await mustFind(id);
      if (channel !== "local") throw wrong(`People of ${id} write by ${channel}.`);
      if (text.length > maxSaid) throw wrong(`At most ${maxSaid} signs are said at once.`);
      await book.take(id, { id: known ?? home.ids.uuid(), from, at: home.clock.now(), text });
      await bell.ring(id);
    },

    async said(id: string, last: number): Promise<readonly SaidLine[]> {
      await mustFind(id);
      return book.said(id, last);
    },

    async status(id: string | undefined, env: EnvironmentVariables): Promise<readonly GroupState[]> {
      const groups = id === undefined ? await book.list() : [await mustFind(id)];
      return Promise.all(
        groups.map(async (group) => ({
          group,
          ...(await book.status(group.id)),
          refusedMounts: await refusedOf(group, env),
          instructions: instructionFiles(home.groupsPath, group.id),
        })),
      );
    },

    /** Chats that channels have heard of and that are nobody's yet. */
    async chats(): Promise<readonly KnownChat[]> {
      const taken = new Set((await book.list()).map(({ channel, chat }) => `${channel}:${chat}`));
      return (await book.chats()).filter(({ channel, chat }) => !taken.has(`${channel}:${chat}`));
    },
  };
}

const wrong = (reason: string) => fault("usage", { reason });

async function whyNot(group: ChatGroup, book: GroupRegister): Promise<string> {
  if (await book.find(group.id)) return `There is a group ${group.id} already.`;
  const other = await book.at(group.channel, group.chat);
  if (other) return `${group.channel} ${group.chat} is the group ${other.id} already.`;
  return "There is a main group already.";
}

function groupOf(wish: GroupWish, made: Pick<ChatGroup, "session" | "createdAt">): ChatGroup {
  const { trigger = defaultTrigger, always = false, channel = "local", chat = wish.id, ...rest } = wish;
  if (!statSync(rest.folder, { throwIfNoEntry: false })?.isDirectory())
    throw wrong(`${rest.folder} is no folder.`);
  if (reserved.includes(rest.id)) throw wrong(`No group can be called ${rest.id}.`);
  const parsed = groupSchema.safeParse({ ...rest, ...made, trigger, always, channel, chat });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const [field = "group"] = issue?.path ?? [];
    throw wrong(
      field === "id"
        ? "An id has small letters, digits and hyphens, 64 at most, and begins with a letter or a digit."
        : `${String(field)}: ${issue?.message ?? "not valid"}`,
    );
  }
  if (parsed.data.box === "sandbox" && parsed.data.options["permissionMode"] === "bypassPermissions")
    throw wrong(
      "In the mode bypassPermissions nothing but a container confines what people of the group can read: choose another mode or another box.",
    );
  return parsed.data;
}
