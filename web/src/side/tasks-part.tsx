/** What runs beside the conversation: agents and commands in the background, with what they print. */
import { type AgentRow, type Row, rowsOf, sayDuration, type TaskRow, visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { parseAnsi } from "../displays/ansi.ts";
import { AnsiLines } from "../displays/terminal-display.tsx";
import { Button } from "../kit/button.tsx";
import { Sign } from "../kit/sign.tsx";
import { Elapsed } from "../kit/time.tsx";
import type { SessionView } from "../live/session-view.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { taskSigns } from "../rows/work-rows.tsx";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

type Work = AgentRow | TaskRow;
const isWork = (row: Row): row is Work => row.kind === "agent" || row.kind === "task";
/** What ended is listed too, but not for ever. */
const mostEnded = 5;

type TasksPartProps = {
  readonly session: string;
  readonly view: SessionView;
  readonly isReadOnly: boolean;
  readonly onAgent: (row: AgentRow) => void;
};

export function TasksPart({ session, view, isReadOnly, onAgent }: TasksPartProps): ReactElement | null {
  const { name: team } = view.standing.team;
  // Members of the team stand in a part of their own.
  const all = rowsOf(view.transcript)
    .toArray()
    .filter(isWork)
    .filter(({ data }) => team === null || data.team !== team);
  const running = all.filter(({ status }) => status === "running");
  const ended = all.filter(({ status }) => status !== "running").slice(-mostEnded);
  if (all.length === 0) return null;
  return (
    <SideSection name="tasks" title={words.side.tasks} figure={running.length > 0 ? running.length : ""}>
      <ul className="tasks">
        {[...running, ...ended.reverse()].map((row) => (
          <OneTask key={row.id} session={session} row={row} isReadOnly={isReadOnly} onAgent={onAgent} />
        ))}
      </ul>
    </SideSection>
  );
}

function OneTask({
  session,
  row,
  isReadOnly,
  onAgent,
}: Omit<TasksPartProps, "view"> & { readonly row: Work }): ReactElement {
  const world = useWorld();
  const [isOpen, setOpen] = useState(false);
  const stop = (): void => void world.attempt(world.submit(session, { type: "stop", taskId: row.taskId }));
  return (
    <li>
      <button type="button" className="task" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Sign kind={taskSigns[row.status]} says={words.task[row.status]} />
        <span className="one-line">{visible(row.title)}</span>
        <span className="quiet figures">
          {row.endedAt === null ? <Elapsed since={row.at} /> : sayDuration(row.endedAt - row.at)}
        </span>
      </button>
      {isOpen && (
        <div className="task-body">
          {row.kind === "task" ? (
            <TaskOutput session={session} row={row} />
          ) : (
            <Button look="plain" onClick={() => onAgent(row)}>
              {words.openAgent}
            </Button>
          )}
          {row.status === "running" && !isReadOnly && (
            <Button icon="stop" onClick={stop}>
              {words.stopTask}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

const readEveryMs = 2_000;

/** What it has printed; looked at again as long as it runs. */
function TaskOutput({ session, row }: { readonly session: string; readonly row: TaskRow }): ReactElement {
  const { client } = useWorld();
  const [output, setOutput] = useState<string>();
  const isRunning = row.status === "running";
  useEffect(() => {
    let isWanted = true;
    const read = (): void =>
      void client
        .attach(session)
        .inquire("taskOutput", { id: row.taskId })
        .then(
          (found) => isWanted && setOutput(found?.text ?? ""),
          (thrown: unknown) => isWanted && setOutput(faultOf(thrown).message),
        );
    read();
    const timer = isRunning ? setInterval(read, readEveryMs) : undefined;
    return () => {
      isWanted = false;
      clearInterval(timer);
    };
  }, [client, session, row.taskId, isRunning]);
  if (output === undefined) return <p className="quiet">{words.reading}</p>;
  if (output.trim() === "") return <p className="quiet">{words.noOutput}</p>;
  return (
    <div className="terminal">
      <AnsiLines lines={parseAnsi(output.trimEnd()).slice(-40)} from={0} />
    </div>
  );
}
