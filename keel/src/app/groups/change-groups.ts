/** What a person does with groups: makes, lists and removes them, says something there, and reads what was said. */
import { statSync } from "node:fs";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import type { GroupBook, GroupRegister, SaidLine } from "../../ports/groups.ts";
import { type ChatGroup, groupSchema } from "../../protocol/group.ts";
import type { Home } from "../home.ts";
import { folderBell } from "../schedules/bell.ts";
import { optionsOfOpening } from "../sessions/opening-options.ts";
import { openingOf } from "./group-agent.ts";

export type GroupWish = Pick<ChatGroup, "id" | "name" | "folder" | "box" | "options"> & {
  readonly trigger?: string | undefined;
  readonly always?: boolean;
};

const defaultTrigger = "@keel";
const maxSaid = 100_000;

export function changeGroups(home: Home, book: GroupBook & GroupRegister) {
  const bell = folderBell(home.groupsPath);
  const mustFind = async (id: string): Promise<ChatGroup> => {
    const group = await book.find(id);
    if (!group) throw fault("usage", { reason: `There is no group ${id}.` });
    return group;
  };
  return {
    list: (): Promise<readonly ChatGroup[]> => book.list(),

    async add(
      wish: GroupWish,
      server: { readonly version: string; readonly env: EnvironmentVariables },
    ): Promise<ChatGroup> {
      const group = groupOf(wish, { session: home.ids.uuid(), createdAt: home.clock.now() });
      // What cannot be opened is told now, and not with the first message.
      const peers = { send: async () => ({ ok: false }) };
      optionsOfOpening(openingOf(group), { ...server, peers });
      if (!(await book.add(group))) throw fault("usage", { reason: `There is a group ${group.id} already.` });
      await bell.ring(group.id);
      return group;
    },

    /** Its session stays. */
    async remove(id: string): Promise<void> {
      await mustFind(id);
      await book.remove(id);
      await bell.ring(id);
    },

    async say(id: string, { text, from, id: known }: { text: string; from: string; id: string | undefined }) {
      const { channel } = await mustFind(id);
      if (channel !== "local") throw fault("usage", { reason: `People of ${id} write by ${channel}.` });
      if (text.length > maxSaid)
        throw fault("usage", { reason: `At most ${maxSaid} signs are said at once.` });
      await book.take(id, { id: known ?? home.ids.uuid(), from, at: home.clock.now(), text });
      await bell.ring(id);
    },

    async said(id: string, last: number): Promise<readonly SaidLine[]> {
      await mustFind(id);
      return book.said(id, last);
    },
  };
}

function groupOf(wish: GroupWish, made: Pick<ChatGroup, "session" | "createdAt">): ChatGroup {
  const { trigger = defaultTrigger, always = false, ...rest } = wish;
  if (!statSync(rest.folder, { throwIfNoEntry: false })?.isDirectory())
    throw fault("usage", { reason: `${rest.folder} is no folder.` });
  const parsed = groupSchema.safeParse({
    ...rest,
    ...made,
    trigger,
    always,
    channel: "local",
    chat: rest.id,
  });
  if (parsed.success) return parsed.data;
  const [field = "group"] = parsed.error.issues[0]?.path ?? [];
  throw fault("usage", {
    reason:
      field === "id"
        ? "An id has small letters, digits and hyphens, 64 at most, and begins with a letter or a digit."
        : `${String(field)}: ${parsed.error.issues[0]?.message ?? "not valid"}`,
  });
}
