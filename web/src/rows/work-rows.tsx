/** Work beside the conversation: an agent with its own rows below it, a command in the background. */
import { type AgentRow, type Row, rowsOf, sayDuration, sayUsd, type TaskRow, visible } from "keel/view";
import { type ReactElement, useContext } from "react";
import { DisplayView } from "../displays/display-view.tsx";
import { Button } from "../kit/button.tsx";
import { Sign, type SignKind } from "../kit/sign.tsx";
import { Elapsed } from "../kit/time.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import { type RowProps, TranscriptContext, useRowActions } from "./row-actions.ts";

export const taskSigns = {
  running: "active",
  completed: "done",
  failed: "failed",
  stopped: "idle",
} as const satisfies Record<TaskRow["status"], SignKind>;

/** More than this is read in the agent's own conversation. */
const mostRows = 12;

export function DelegatedRow({ row, isOpen = false, onToggle }: RowProps<AgentRow>): ReactElement {
  const { openAgent, renderRow } = useRowActions();
  const transcript = useContext(TranscriptContext);
  const rows = rowsOf(transcript, row.id).toArray().filter(isShown);
  const last = rows.slice(-mostRows);
  const { costUsd } = row.totals;
  return (
    <div className="delegated">
      <button type="button" className="line" aria-expanded={isOpen} onClick={() => onToggle(row.id, !isOpen)}>
        <Sign kind={taskSigns[row.status]} says={words.task[row.status]} />
        <span className="name">{visible(row.agent)}</span>
        <span className="about one-line">{visible(row.title)}</span>
        <span className="end figures">
          {costUsd > 0 && <span>{sayUsd(costUsd)}</span>}
          {row.endedAt === null ? (
            <Elapsed since={row.at} />
          ) : (
            <span>{sayDuration(row.endedAt - row.at)}</span>
          )}
        </span>
      </button>
      {isOpen && (
        <div className="nested">
          {rows.length > last.length && (
            <p className="quiet">{words.earlierRows(rows.length - last.length)}</p>
          )}
          {last.map((one) => (
            <div key={one.id}>{renderRow(one)}</div>
          ))}
          {rows.length === 0 && row.data.report !== undefined && <Markdown text={row.data.report} />}
          <Button look="plain" onClick={() => openAgent(row)}>
            {words.openAgent}
          </Button>
        </div>
      )}
    </div>
  );
}

const isShown = ({ kind }: Row): boolean => kind !== "turn-end";

export function BackgroundRow({ row, isOpen = false, onToggle }: RowProps<TaskRow>): ReactElement {
  const { stopTask, isReadOnly } = useRowActions();
  return (
    <div className="background">
      <button type="button" className="line" aria-expanded={isOpen} onClick={() => onToggle(row.id, !isOpen)}>
        <Sign kind={taskSigns[row.status]} says={words.task[row.status]} />
        <span className="name">{words.background}</span>
        <code className="about one-line">{visible(row.title)}</code>
        <span className="end figures">
          {row.endedAt === null ? (
            <Elapsed since={row.at} />
          ) : (
            <span>{sayDuration(row.endedAt - row.at)}</span>
          )}
        </span>
      </button>
      {isOpen && (
        <div className="opened">
          {row.display && <DisplayView display={row.display} isRunning={row.status === "running"} />}
          {row.data.summary !== undefined && <p className="quiet">{visible(row.data.summary)}</p>}
          {row.status === "running" && !isReadOnly && (
            <Button icon="stop" onClick={() => void stopTask(row.taskId)}>
              {words.stopTask}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
