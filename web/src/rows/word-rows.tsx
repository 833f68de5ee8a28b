/** What people and the model say: the rows that are read. */
import { readable, type TextRow, type ThinkingRow, type UserRow, visible } from "keel/view";
import type { ReactElement } from "react";
import { Attachments } from "../displays/attachments.tsx";
import { Button } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { Sign } from "../kit/sign.tsx";
import { Part } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import { type RowProps, useRowActions } from "./row-actions.ts";
import { RowMenu } from "./row-menu.tsx";

export function SaidRow({ row }: RowProps<UserRow>): ReactElement {
  const { dropInput, editInput, isReadOnly } = useRowActions();
  const { content, from, status, reason } = row;
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return (
    <div className={`said from-${from.kind} is-${status}`}>
      {from.kind !== "person" && <p className="sender">{words.sender(from)}</p>}
      {text !== "" && <p className="words">{readable(text)}</p>}
      <Attachments parts={content} />
      {status === "waiting" && (
        <p className="waits">
          <Sign kind="waiting" />
          <span>{words.queued}</span>
          {!isReadOnly && from.kind === "person" && (
            <>
              <Button look="plain" icon="edit" onClick={() => void editInput(row.id)}>
                {words.edit}
              </Button>
              <Button look="plain" icon="trash" onClick={() => void dropInput(row.id)}>
                {words.drop}
              </Button>
            </>
          )}
        </p>
      )}
      {status === "dropped" && <p className="waits">{words.dropped(reason)}</p>}
      {status === "taken" && <RowMenu row={row} text={text} />}
    </div>
  );
}

/** A reply in parts: a long one is many items of the list, and only the last of them grows. */
export const ReplyRow = ({
  row,
  part,
  isFirst,
  isLast,
}: RowProps<TextRow> & {
  readonly part: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}): ReactElement => (
  <div className={`reply${row.live ? " is-live" : ""}`}>
    <div className="prose">
      <Part text={readable(part)} isLive={row.live && isLast} />
    </div>
    {isFirst && !row.live && <RowMenu row={row} text={row.text} />}
  </div>
);

export function ThoughtRow({ row, isOpen = false, onToggle }: RowProps<ThinkingRow>): ReactElement {
  const hasWords = row.text.trim() !== "";
  const says = row.live ? words.thinking : row.hidden || !hasWords ? words.thoughtHidden : words.thought;
  if (!hasWords)
    return (
      <div className="thought">
        <p className="line still">
          {row.live ? <Sign kind="active" /> : <Icon name="chevron" />}
          <span className="name">{says}</span>
        </p>
      </div>
    );
  return (
    <div className="thought">
      <button type="button" className="line" aria-expanded={isOpen} onClick={() => onToggle(row.id, !isOpen)}>
        {row.live ? <Sign kind="active" /> : <Icon name="chevron" />}
        <span className="name">{says}</span>
        <span className="about one-line">{isOpen ? "" : visible(lastSentence(row.text, row.live))}</span>
      </button>
      {isOpen && (
        <div className="opened prose">
          <Part text={readable(row.text)} isLive={row.live} />
        </div>
      )}
    </div>
  );
}

/** While it thinks the newest words, afterwards the first ones. */
function lastSentence(text: string, isLive: boolean): string {
  const lines = text.trim().split("\n");
  return ((isLive ? lines.at(-1) : lines[0]) ?? "").replace(/[*_`#]/g, "").slice(0, 200);
}
