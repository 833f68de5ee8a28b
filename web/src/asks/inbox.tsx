/** Every open question of every worker, in one list: the oldest first. */
import "../overview/overview.css";
import type { Ask } from "keel/protocol";
import { askTitle, visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { Link } from "../kit/link.tsx";
import { Sign } from "../kit/sign.tsx";
import { useWorkspaces, useWorld } from "../live/world.ts";
import { SideSection } from "../side/section.tsx";
import { words } from "../words.ts";

export type WaitingAsk = {
  readonly workspace: string;
  readonly title: string;
  readonly worker: string;
  readonly session: string;
  readonly cwd: string;
  readonly ask: Ask;
};

/** Asked of each worker that has any, and again whenever one changes. */
export function useInbox(): readonly WaitingAsk[] {
  const world = useWorld();
  const { all } = useWorkspaces();
  const asking = all
    .filter(({ archived }) => !archived)
    .flatMap(({ id, title, cwd, workers }) =>
      workers.flatMap(({ id: worker, engine, session, asks = 0, activity }) =>
        engine === "keel" && session !== undefined && (asks > 0 || activity === "asking")
          ? [{ workspace: id, title, cwd, worker, session, asks }]
          : [],
      ),
    );
  const stamp = JSON.stringify(asking.map(({ worker, asks }) => [worker, asks]));
  const [found, setFound] = useState<readonly WaitingAsk[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stamp says when they are others
  useEffect(() => {
    let isWanted = true;
    const look = asking.map(async ({ asks: _, ...about }) => {
      const open = await world.client.attach(about.session).asks();
      return open.map((ask): WaitingAsk => ({ ...about, ask }));
    });
    Promise.allSettled(look).then(
      (looked) => {
        if (isWanted) setFound(looked.flatMap((one) => (one.status === "fulfilled" ? one.value : [])));
      },
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [world, stamp]);
  return found;
}

/** Beside a conversation: what waits in the others. */
export function InboxPart({ session }: { readonly session: string }): ReactElement | null {
  const others = useInbox().filter((one) => one.session !== session);
  if (others.length === 0) return null;
  return (
    <SideSection
      name="asks"
      title={words.side.asks}
      figure={<span className="count asks">{others.length}</span>}
    >
      <ul className="waiting-asks">
        {others.map(({ workspace, worker, title, ask }) => (
          <li key={`${worker} ${ask.id}`}>
            <Link to={{ page: "worker", workspace, worker }} className="waiting-ask">
              <Sign kind="asking" />
              <span className="one-line">{askTitle(ask)}</span>
              <span className="quiet one-line">{visible(title)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </SideSection>
  );
}
