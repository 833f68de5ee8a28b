/** The chat groups: where each stands, and what is said in one of them. */
import "../overview/overview.css";
import "../settings/settings.css";
import "./groups.css";
import type { AnswerTo } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useCallback } from "react";
import { Link } from "../kit/link.tsx";
import { Ago } from "../kit/time.tsx";
import { useLooked } from "../live/use-looked.ts";
import { useWorld } from "../live/world.ts";
import { RailButton } from "../overview/rail-button.tsx";
import { words } from "../words.ts";
import { GroupChat } from "./group-chat.tsx";
import { GroupSign } from "./group-look.tsx";

export function GroupsPage({
  group: open,
  onRail,
}: {
  readonly group: string | undefined;
  readonly onRail: () => void;
}): ReactElement {
  const { client } = useWorld();
  const { answer, problem } = useLooked(useCallback(() => client.groups.list(), [client]));
  const group = answer?.groups.find(({ id }) => id === open);
  return (
    <main className="settings groups" id="main">
      <header className="head">
        <RailButton onOpen={onRail} />
        <h1>
          {open === undefined ? (
            words.groups.title
          ) : (
            <>
              <Link to={{ page: "groups" }}>{words.groups.title}</Link> / {visible(group?.name ?? open)}
            </>
          )}
        </h1>
      </header>
      {problem !== "" && (
        <p role="status" className="state quiet">
          {problem}
        </p>
      )}
      <div className="sheet">
        {open === undefined ? (
          answer && <GroupList {...answer} />
        ) : group ? (
          <GroupChat key={group.id} group={group} />
        ) : (
          answer && <p className="quiet">{words.groups.gone}</p>
        )}
      </div>
    </main>
  );
}

function GroupList({ groups, atOnce }: AnswerTo<"groups">): ReactElement {
  if (groups.length === 0)
    return (
      <p className="quiet">
        {words.groups.none} <code>keel groups add lunch</code>
      </p>
    );
  const working = groups.filter(({ state }) => state === "working").length;
  const queued = groups.filter(({ state }) => state === "queued").length;
  return (
    <>
      <p className="quiet">{words.groups.atWork(working, atOnce, queued)}</p>
      <ul className="rules group-list">
        {groups.map((group) => (
          <li key={group.id}>
            <GroupSign state={group.state} />
            <Link to={{ page: "groups", group: group.id }} className="about">
              <span className="one-line">{visible(group.name)}</span>
              <span className="quiet one-line">
                {group.channel} · {words.groups.meant(group)}
              </span>
            </Link>
            <span className="quiet">{words.groups.queue(group)}</span>
            {group.lastAt !== undefined && (
              <span className="quiet">
                <Ago at={group.lastAt} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
