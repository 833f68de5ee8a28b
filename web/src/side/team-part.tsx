/** The team that a session leads: how each member stands, who waits for whom, and what they told each other. */
import type { TeamMemberEntry, TeamReport } from "keel/protocol";
import {
  type AgentRow,
  memberStates,
  messagesOf,
  rowsOf,
  sayDoing,
  sayWait,
  sayWhom,
  visible,
} from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Link } from "../kit/link.tsx";
import { Sign, type SignKind } from "../kit/sign.tsx";
import { Ago } from "../kit/time.tsx";
import type { SessionView } from "../live/session-view.ts";
import { useInquiry } from "../live/use-inquiry.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

const signs = {
  working: "active",
  asking: "asking",
  resting: "done",
  failed: "failed",
  left: "idle",
} as const satisfies Record<TeamMemberEntry["state"], SignKind>;

/** Much happens at once in a team: it is looked at when that is over. */
const settleMs = 400;
/** Of a member; the others stand in its conversation. */
const mostMessages = 8;

type TeamPartProps = {
  readonly session: string;
  readonly view: SessionView;
  readonly isReadOnly: boolean;
  readonly onAgent: (row: AgentRow) => void;
};

export function TeamPart({ session, view, isReadOnly, onAgent }: TeamPartProps): ReactElement | null {
  const { name, changes } = view.standing.team;
  const stamp = useSettled(changes);
  const team = useInquiry(session, "team", name === null ? undefined : stamp);
  if (name === null || !team) return null;
  const agents = new Map(
    rowsOf(view.transcript)
      .toArray()
      .flatMap((row) => (row.kind === "agent" ? [[row.taskId, row] as const] : [])),
  );
  const atWork = team.members.filter(({ state }) => state === "working" || state === "asking").length;
  return (
    <SideSection name="team" title={words.side.team(visible(team.name))} figure={atWork > 0 ? atWork : ""}>
      {team.description !== undefined && <p className="hint">{visible(team.description)}</p>}
      <ul className="tasks">
        {team.members.map((member) => (
          <OneMember
            key={member.name}
            leader={session}
            isReadOnly={isReadOnly}
            member={member}
            team={team}
            row={agents.get(member.taskId ?? "")}
            onAgent={onAgent}
          />
        ))}
      </ul>
    </SideSection>
  );
}

function OneMember({
  leader,
  member,
  team,
  row,
  isReadOnly,
  onAgent,
}: Pick<TeamPartProps, "isReadOnly"> & {
  readonly leader: string;
  readonly member: TeamMemberEntry;
  readonly team: TeamReport;
  /** As it stands in the conversation, where it does. */
  readonly row: AgentRow | undefined;
  readonly onAgent: (row: AgentRow) => void;
}): ReactElement {
  const world = useWorld();
  const [isOpen, setOpen] = useState(false);
  const { name, state, since, waits, session, taskId } = member;
  const isAtWork = taskId !== undefined && (state === "working" || state === "asking");
  const stop = (): void => void world.attempt(world.submit(leader, { type: "stop", taskId: taskId ?? "" }));
  const said = messagesOf(team, name).slice(-mostMessages);
  return (
    <li>
      <button type="button" className="task member" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Sign kind={signs[state]} says={memberStates[state]} />
        <span className="one-line">{visible(name)}</span>
        <span className="quiet one-line">{sayDoing(member)}</span>
        {waits.length > 0 && <span className="quiet whom one-line">{sayWhom(member)}</span>}
      </button>
      {isOpen && (
        <div className="task-body">
          {since !== undefined && (
            <p className="hint">
              {memberStates[state]} · <Ago at={since} />
            </p>
          )}
          {waits.map((wait) => (
            <p key={sayWait(wait)} className="hint">
              {sayWait(wait)}
            </p>
          ))}
          {said.length === 0 ? (
            <p className="quiet">{words.team.silent}</p>
          ) : (
            <ol className="told">
              {said.map(({ from, to, text, at }) => (
                <li key={`${at} ${from} ${to}`}>
                  <span className="quiet">
                    {words.team.said(visible(from), visible(to))} · <Ago at={at} />
                  </span>
                  <span className="words">{visible(text)}</span>
                </li>
              ))}
            </ol>
          )}
          {row ? (
            <Button look="plain" onClick={() => onAgent(row)}>
              {words.openAgent}
            </Button>
          ) : (
            taskId !== undefined && (
              <Link to={{ page: "session", session }} className="button plain">
                {words.openAgent}
              </Link>
            )
          )}
          {isAtWork && !isReadOnly && (
            <Button icon="stop" onClick={stop}>
              {words.stopTask}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** The value once it has stayed the same for a moment. */
function useSettled(value: number): number {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
