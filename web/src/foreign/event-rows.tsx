/** An agent of another engine that is told in events of ours: the same rows as of a session, with its questions among them. */
import type { WorkerEntry } from "keel/client";
import { type KeyedTranscript, rowsOf } from "keel/view";
import { type ReactElement, useMemo } from "react";
import { RowList } from "../conversation/row-list.tsx";
import { useAccess, useWorld } from "../live/world.ts";
import { type RowActions, RowActionsContext, TranscriptContext } from "../rows/row-actions.ts";
import { WholeRow } from "../rows/row-view.tsx";
import { words } from "../words.ts";

type EventRowsProps = { readonly worker: WorkerEntry; readonly transcript: KeyedTranscript };

export function EventRows({ worker, transcript }: EventRowsProps): ReactElement {
  const { client } = useWorld();
  const access = useAccess();
  const { id } = worker;
  const rows = useMemo(() => rowsOf(transcript).toArray(), [transcript]);
  const actions = useMemo<RowActions>(
    () => ({
      session: id,
      cwd: "",
      // Its conversation is its own: nothing of it is taken back or copied from here.
      isReadOnly: true,
      mayAnswer: access !== "watch",
      hasSheet: false,
      renderRow: (row) => <WholeRow row={row} />,
      answer: async (ask, { verdict, option, reason }) => {
        const more = {
          ...(option === undefined ? {} : { option }),
          ...(reason === undefined ? {} : { words: reason }),
        };
        await client.workspaces.answerWorker({ worker: id, ask: ask.id, verdict, ...more });
      },
      dropInput: async () => undefined,
      editInput: async () => undefined,
      openAgent: () => undefined,
      linkTo: () => location.href,
      rewindTo: () => undefined,
      forkAt: () => undefined,
      stopTask: async () => undefined,
      whole: async () => undefined,
    }),
    [id, access, client],
  );
  return (
    <RowActionsContext value={actions}>
      <TranscriptContext value={transcript}>
        <RowList rows={rows} label={words.conversation} />
      </TranscriptContext>
    </RowActionsContext>
  );
}
