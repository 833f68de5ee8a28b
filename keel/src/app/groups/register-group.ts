/** How the agent of the main group makes another group of a chat: with the bounds of its own, never with more. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { DeskInput } from "../../groups/desk-tools.ts";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { type ChatGroup, groupChannels } from "../../protocol/group.ts";
import type { changeGroups } from "./change-groups.ts";

/** Throws `usage` for what cannot be. */
export function registerFrom(
  groups: Pick<ReturnType<typeof changeGroups>, "add" | "chats">,
  server: { readonly version: string; readonly env: EnvironmentVariables },
) {
  return async (main: ChatGroup, wish: DeskInput<"register_group">): Promise<ChatGroup> => {
    const [, named, chat = ""] = /^([a-z]+):(.+)$/s.exec(wish.chat) ?? [];
    const channel = groupChannels.find((one) => one === named);
    const known = (await groups.chats()).find((one) => one.channel === channel && one.chat === chat);
    if (channel === undefined || !known) throw wrong("No channel has heard of that chat.");
    // Beside its own folder, where its commands cannot write: a link in its place would lead anywhere.
    const folder = path.join(path.dirname(main.folder), wish.id);
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (thrown) {
      throw wrong(`Its folder cannot be made: ${reasonOf(thrown)}`);
    }
    const { id, name = known.name, trigger, always } = wish;
    const { box, options } = main;
    return groups.add(
      {
        id,
        name,
        folder,
        box,
        options,
        channel,
        chat,
        always: always ?? false,
        ...(trigger ? { trigger } : {}),
      },
      server,
    );
  };
}

const wrong = (reason: string) => fault("usage", { reason });
