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

export type AskingWorker = {
  readonly workspace: string;
  readonly title: string;
  readonly worker: string;
  readonly name: string;
  readonly asks: number;
};

/** Agents of other engines that wait for a person: what they ask is shown where they are. */
export function useAskingElsewhere(): readonly AskingWorker[] {
  const { all } = useWorkspaces();
  return all
    .filter(({ archived }) => !archived)
    .flatMap(({ id, title, workers }) =>
      workers.flatMap(({ id: worker, name, engine, asks = 0 }) =>
        engine !== "keel" && asks > 0 ? [{ workspace: id, title, worker, name, asks }] : [],
      ),
    );
}

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
  const elsewhere = useAskingElsewhere();
  const count = elsewhere.reduce((sum, { asks }) => sum + asks, others.length);
  if (count === 0) return null;
  return (
    <SideSection name="asks" title={words.side.asks} figure={<span className="count asks">{count}</span>}>
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
        {elsewhere.map((one) => (
          <li key={one.worker}>
            <AskingElsewhere {...one} />
          </li>
        ))}
      </ul>
    </SideSection>
  );
}

/** Leads to where it is answered. */
export const AskingElsewhere = ({ workspace, worker, title, name, asks }: AskingWorker): ReactElement => (
  <Link to={{ page: "worker", workspace, worker }} className="waiting-ask">
    <Sign kind="asking" />
    <span className="one-line">{words.rail.asks(asks)}</span>
    <span className="quiet one-line">{`${visible(title)} · ${visible(name)}`}</span>
  </Link>
);
