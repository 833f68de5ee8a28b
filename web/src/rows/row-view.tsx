/** One table: a row of the view → its component. */
import type { Row } from "keel/view";
import { memo, type ReactElement, useState } from "react";
import { CallRow } from "./call-row.tsx";
import { NoteRow, QuestionRow, ShortenedRow, TurnEnd } from "./quiet-rows.tsx";
import type { RowProps } from "./row-actions.ts";
import { ReplyRow, SaidRow, ThoughtRow } from "./word-rows.tsx";
import { BackgroundRow, DelegatedRow } from "./work-rows.tsx";

/** A part of a reply that is too long for one item. */
export type RowPart = { readonly text: string; readonly isFirst: boolean; readonly isLast: boolean };

export const RowView = memo(function RowView({
  row,
  part,
  ...rest
}: RowProps<Row> & { readonly part?: RowPart | undefined }): ReactElement {
  switch (row.kind) {
    case "user":
      return <SaidRow row={row} {...rest} />;
    case "text": {
      const { text, isFirst, isLast } = part ?? { text: row.text, isFirst: true, isLast: true };
      return <ReplyRow row={row} part={text} isFirst={isFirst} isLast={isLast} {...rest} />;
    }
    case "thinking":
      return <ThoughtRow row={row} {...rest} />;
    case "tool":
      return <CallRow row={row} {...rest} />;
    case "notice":
      return <NoteRow row={row} {...rest} />;
    case "ask":
      return <QuestionRow row={row} {...rest} />;
    case "compaction":
      return <ShortenedRow row={row} {...rest} />;
    case "turn-end":
      return <TurnEnd row={row} {...rest} />;
    case "agent":
      return <DelegatedRow row={row} {...rest} />;
    case "task":
      return <BackgroundRow row={row} {...rest} />;
  }
});

/** A row outside of a list, which remembers itself whether it is open. */
export function WholeRow({ row }: { readonly row: Row }): ReactElement {
  const [isOpen, setOpen] = useState<boolean>();
  return <RowView row={row} isOpen={isOpen} onToggle={(_, open) => setOpen(open)} />;
}
