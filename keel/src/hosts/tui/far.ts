/** Sessions of a server, as a screen needs them: by the same handle, over a link that may be cut. */
import type { KeelClient } from "../../client/connect.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { maxHistory, type SessionEntry } from "../../protocol/operation.ts";
import type { ScreenHost, SessionsSide } from "./screen/host.ts";
import type { PanelItem } from "./screen/panel.ts";
import { sayAgo } from "./screen/screen-row.ts";

const maxListed = 200;

export function farSessions(client: KeelClient, now: () => number): SessionsSide {
  return {
    list: async () => (await client.sessions({ limit: maxListed })).flatMap((entry) => itemOf(entry, now())),
    read: (id) => readHistory(client, id),
  };
}

export const onLinkOf =
  (client: KeelClient): NonNullable<ScreenHost["onLink"]> =>
  (listener) =>
    client.onLink(({ state }) => listener(state === "lost" ? "lost" : "open"));

function itemOf({ id, title, firstInput, cwd, changedAt, owner }: SessionEntry, now: number): PanelItem[] {
  const label = (title ?? firstInput ?? "").replace(/\s+/g, " ").trim();
  if (label === "") return [];
  return [
    {
      id,
      label,
      note: `${cwd}, ${sayAgo(now - changedAt)}`,
      ...(owner === "open" ? { mark: "running" as const } : {}),
    },
  ];
}

/** In pages, as the server gives it. */
async function* readHistory(client: KeelClient, session: string): AsyncGenerator<Durable, void> {
  let after = 0;
  for (;;) {
    const { events, more } = await client.history({ session, after, limit: maxHistory });
    yield* events;
    const last = events.at(-1);
    if (!more || !last) return;
    after = last.seq;
  }
}
