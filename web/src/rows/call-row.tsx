/** A call: one quiet line, and what it shows when it is opened. */
import { callLine, readable, type ToolRow, type ToolStatus, visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { Attachments } from "../displays/attachments.tsx";
import { DisplayView, opensByItself, PlainText } from "../displays/display-view.tsx";
import { Icon } from "../kit/icon.tsx";
import { Sign, type SignKind } from "../kit/sign.tsx";
import { Elapsed } from "../kit/time.tsx";
import { words } from "../words.ts";
import { type RowProps, useRowActions } from "./row-actions.ts";

const signs: Readonly<Partial<Record<ToolStatus, SignKind>>> = {
  writing: "active",
  running: "active",
  asking: "asking",
  failed: "failed",
  denied: "denied",
  interrupted: "idle",
};

export function CallRow({ row, isOpen: chosen, onToggle }: RowProps<ToolRow>): ReactElement {
  const { cwd } = useRowActions();
  const { tool, about, end, added, removed } = callLine(row, cwd);
  const isRunning = row.status === "running" || row.status === "writing";
  const isOpen = chosen ?? (row.display !== null && opensByItself(row.display));
  const sign = signs[row.status];
  return (
    <div className={`call is-${row.status}`}>
      <button type="button" className="line" aria-expanded={isOpen} onClick={() => onToggle(row.id, !isOpen)}>
        {sign ? <Sign kind={sign} says={words.call[row.status]} /> : <Icon name="chevron" />}
        <span className="name">{visible(tool)}</span>
        <code className="about one-line">{visible(about)}</code>
        <span className="end figures">
          {added + removed > 0 && (
            <>
              <span className="added">+{added}</span> <span className="removed">−{removed}</span>
            </>
          )}
          {end !== "" && <span className={row.status === "failed" ? "removed" : ""}>{end}</span>}
          {isRunning && <Elapsed since={row.at} />}
        </span>
      </button>
      {(isOpen || (row.status === "running" && row.display?.kind === "terminal")) && (
        <CallBody row={row} isRunning={isRunning} isAsked={chosen === true} />
      )}
    </div>
  );
}

type CallBodyProps = {
  readonly row: ToolRow;
  readonly isRunning: boolean;
  /** Somebody opened it, and may want to know more than it shows by itself. */
  readonly isAsked: boolean;
};

function CallBody({ row, isRunning, isAsked }: CallBodyProps): ReactElement {
  const { display, result, spilledTo, denied } = useWhole(row);
  const [isRaw, setRaw] = useState(false);
  const input = row.inputText ?? JSON.stringify(row.input, null, 2);
  return (
    <div className="opened">
      {denied && <p className="quiet">{visible(denied.reason)}</p>}
      {display ? <DisplayView display={display} isRunning={isRunning} /> : <PlainText text={input} />}
      <Attachments parts={result} />
      {spilledTo !== undefined && <p className="quiet">{words.spilled(readable(spilledTo))}</p>}
      {!isRunning && isAsked && (
        <button type="button" className="unfold" aria-expanded={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? words.hideRaw : words.showRaw}
        </button>
      )}
      {isRaw && (
        <dl className="raw">
          <dt>{words.input}</dt>
          <dd>
            <PlainText text={input} />
          </dd>
          <dt>{words.seenByModel}</dt>
          <dd>
            <PlainText
              text={result.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n")}
            />
          </dd>
        </dl>
      )}
    </div>
  );
}

/** The row as its event has it, where the page holds less. */
function useWhole(row: ToolRow): ToolRow {
  const { whole } = useRowActions();
  const [found, setFound] = useState<ToolRow>();
  useEffect(() => {
    let isWanted = true;
    whole(row.callId).then(
      (event) => {
        if (!isWanted || event?.type !== "tool.finished") return;
        setFound({ ...row, display: event.display, result: event.content });
      },
      // What the page holds is shown then.
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [row, whole]);
  return found?.id === row.id && found.status === row.status ? found : row;
}
