/** The chat groups of a home for clients of its server. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { GroupOperation } from "../../protocol/group-operations.ts";
import type { Home } from "../home.ts";
import type { HomeHandlers } from "../sessions/served-sessions.ts";
import { changeGroups } from "./change-groups.ts";
import { groupSettings, mostAtOnce } from "./group-settings.ts";
import type { HomeGroups } from "./home-groups.ts";

const usualLast = 50;
const maxLast = 500;

export function groupHandlers({
  home,
  groups,
  env,
}: {
  readonly home: Home;
  readonly groups: Pick<HomeGroups, "stateOf">;
  readonly env: EnvironmentVariables;
}): Pick<HomeHandlers, GroupOperation> {
  const withGroups = async <T>(work: (all: ReturnType<typeof changeGroups>) => Promise<T>): Promise<T> => {
    const book = await home.groupBook();
    try {
      return await work(changeGroups(home, book));
    } finally {
      await book.close();
    }
  };
  return {
    async groups() {
      const atOnce = mostAtOnce(await groupSettings(home, env), env);
      // To look makes no database.
      if (!(await home.hasGroups())) return { groups: [], atOnce };
      const states = await withGroups((all) => all.status(undefined, env));
      return {
        atOnce,
        groups: states.map(({ group, instructions: _, ...state }) => {
          const { mounts: __, limits: ___, options: ____, main = false, ...rest } = group;
          return { ...rest, main, ...state, state: groups.stateOf(group.id) };
        }),
      };
    },
    groupLog: async ({ group, last = usualLast }) => ({
      lines: await withGroups((all) => all.said(group, Math.max(1, Math.min(maxLast, Math.floor(last))))),
    }),
    async groupSay({ group, text, from, id }, caller) {
      // Who writes is the channel's word: here it is the client, or whoever it speaks for.
      await withGroups((all) => all.say(group, { text, from: from ?? caller.name, id }));
      return {};
    },
  };
}
