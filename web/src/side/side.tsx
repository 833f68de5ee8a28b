/** Beside the conversation: what waits elsewhere, what was changed, what runs, what it takes. */
import "./side.css";
import type { AgentRow } from "keel/view";
import { lazy, memo, type ReactElement } from "react";
import { InboxPart } from "../asks/inbox.tsx";
import { IconButton } from "../kit/button.tsx";
import { Loaded } from "../kit/loaded.tsx";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";
import { ContextPart } from "./context-part.tsx";
import { CostPart } from "./cost-part.tsx";
import { FilesPart } from "./files-part.tsx";
import { TasksPart } from "./tasks-part.tsx";
import { TodoPart } from "./todo-part.tsx";

const GoalPart = lazy(async () => ({ default: (await import("./goal-part.tsx")).GoalPart }));
const TeamPart = lazy(async () => ({ default: (await import("./team-part.tsx")).TeamPart }));
const PanelsPart = lazy(async () => ({ default: (await import("./panels-part.tsx")).PanelsPart }));
const TimelinePart = lazy(async () => ({ default: (await import("./timeline-part.tsx")).TimelinePart }));

type SideProps = {
  readonly session: string;
  readonly view: SessionView;
  readonly isReadOnly: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onFile: (path: string) => void;
  readonly onRewind: () => void;
  readonly onAgent: (row: AgentRow) => void;
};

export const Side = memo(function Side({
  session,
  view,
  isReadOnly,
  isOpen,
  onClose,
  onFile,
  onRewind,
  onAgent,
}: SideProps): ReactElement {
  return (
    <aside className={`side${isOpen ? " is-open" : ""}`} aria-label={words.side.label}>
      <span className="close">
        <IconButton icon="close" label={words.close} onClick={onClose} />
      </span>
      <InboxPart session={session} />
      {(view.standing.settings?.goal ?? "") !== "" && (
        <Loaded>
          <GoalPart view={view} />
        </Loaded>
      )}
      <TodoPart view={view} />
      {view.standing.team.name !== null && (
        <Loaded>
          <TeamPart session={session} view={view} isReadOnly={isReadOnly} onAgent={onAgent} />
        </Loaded>
      )}
      <FilesPart view={view} isReadOnly={isReadOnly} onFile={onFile} onRewind={onRewind} />
      <TasksPart session={session} view={view} isReadOnly={isReadOnly} onAgent={onAgent} />
      <ContextPart session={session} view={view} isReadOnly={isReadOnly} />
      <CostPart view={view} />
      <Loaded>
        <PanelsPart session={session} view={view} isReadOnly={isReadOnly} />
      </Loaded>
      <Loaded>
        <TimelinePart view={view} />
      </Loaded>
    </aside>
  );
});
