/** The suggestions for what is being typed: commands and agents once, files as they are asked for. */
import type { KeelClient, SessionHandle } from "keel/client";
import { useEffect, useState } from "react";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { type Completing, fitting } from "./completion.ts";
import type { Suggestion } from "./completion-list.tsx";

const most = 8;

export function useSuggestions(session: string, completing: Completing | undefined): readonly Suggestion[] {
  const { client } = useWorld();
  const [found, setFound] = useState<readonly Suggestion[]>([]);
  const kind = completing?.kind;
  const typed = completing?.typed ?? "";
  useEffect(() => {
    if (kind === undefined) return setFound([]);
    let isWanted = true;
    const handle = client.attach(session);
    const look =
      kind === "command"
        ? commandsFor(handle, typed)
        : Promise.all([mentionsFor(handle, typed), sessionsFor(client, typed, session)]).then((all) =>
            all.flat(),
          );
    look.then(
      (suggestions) => {
        if (isWanted) setFound(suggestions);
      },
      // Who cannot be asked suggests nothing.
      () => setFound([]),
    );
    return () => {
      isWanted = false;
    };
  }, [client, session, kind, typed]);
  return kind === undefined ? [] : found;
}

async function commandsFor(handle: SessionHandle, typed: string): Promise<readonly Suggestion[]> {
  const all = await handle.inquire("commands");
  const listed = all.filter(({ hidden }) => !hidden);
  return fitting(listed, typed, ({ name }) => name)
    .slice(0, most)
    .map(({ name, description }) => ({
      name,
      about: description,
    }));
}

async function mentionsFor(handle: SessionHandle, typed: string): Promise<readonly Suggestion[]> {
  const [files, agents] = await Promise.all([handle.inquire("files", { typed }), handle.inquire("agents")]);
  const named = fitting(agents, typed.replace(/^agent-/, ""), ({ name }) => name)
    .slice(0, 2)
    .map(({ name, description }) => ({ name: `agent-${name}`, about: description }));
  return [...files.slice(0, most).map((path) => ({ name: path, about: "" })), ...(typed === "" ? [] : named)];
}

/** Sessions by their titles, from three letters on: a file is meant more often. */
async function sessionsFor(client: KeelClient, typed: string, own: string): Promise<readonly Suggestion[]> {
  const wanted = typed.replace(/^session-?/, "");
  if (wanted.length < 3 && wanted === typed) return [];
  const all = (await client.sessions({ limit: 100 })).filter(({ id }) => id !== own);
  return fitting(all, wanted, ({ title, firstInput }) => title ?? firstInput ?? "")
    .slice(0, 3)
    .map(({ id, title, firstInput }) => ({
      name: `session-${id}`,
      about: title ?? firstInput ?? words.untitled,
    }));
}
