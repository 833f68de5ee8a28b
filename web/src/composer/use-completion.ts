/** The suggestions for what is being typed: commands and agents once, files as they are asked for. */
import type { SessionHandle } from "keel/client";
import { useEffect, useState } from "react";
import { useWorld } from "../live/world.ts";
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
    const look = kind === "command" ? commandsFor(handle, typed) : mentionsFor(handle, typed);
    look.then(
      (suggestions) => {
        if (isWanted) setFound(suggestions.slice(0, most));
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
  return fitting(listed, typed, ({ name }) => name).map(({ name, description }) => ({
    name,
    about: description,
  }));
}

async function mentionsFor(handle: SessionHandle, typed: string): Promise<readonly Suggestion[]> {
  const [files, agents] = await Promise.all([handle.inquire("files", { typed }), handle.inquire("agents")]);
  const named = fitting(agents, typed.replace(/^agent-/, ""), ({ name }) => name)
    .slice(0, 2)
    .map(({ name, description }) => ({ name: `agent-${name}`, about: description }));
  return [...files.map((path) => ({ name: path, about: "" })), ...(typed === "" ? [] : named)];
}
