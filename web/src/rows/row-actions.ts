/** What can be done from a row. Rows are pure: they get this from the conversation that they stand in. */
import type { Answer, Ask, Durable } from "keel/protocol";
import { type KeyedTranscript, noTranscript, type Row, type RuleFile } from "keel/view";
import { createContext, type ReactNode, useContext } from "react";

export type RowProps<R extends Row> = {
  readonly row: R;
  /** What somebody chose; undefined where the row decides. */
  readonly isOpen?: boolean | undefined;
  readonly onToggle: (id: string, isOpen: boolean) => void;
};

export type RowActions = {
  readonly session: string;
  readonly cwd: string;
  /** Nothing can be done here: the session is only read, or this device may only watch. */
  readonly isReadOnly: boolean;
  /** Questions can be answered here; a device may be let to do this alone. */
  readonly mayAnswer: boolean;
  /** Open questions stand below the rows and not among them. */
  readonly hasSheet: boolean;
  /** A row within a row, such as those of an agent. */
  renderRow(row: Row): ReactNode;
  answer(ask: Ask, answer: Answer, keep?: RuleFile): Promise<void>;
  dropInput(inputId: string): Promise<void>;
  /** Takes it back into the field. */
  editInput(inputId: string): Promise<void>;
  openAgent(row: Extract<Row, { kind: "agent" }>): void;
  linkTo(row: Row): string;
  rewindTo(inputId: string): void;
  forkAt(row: Row): void;
  stopTask(taskId: string): Promise<void>;
  /** The event of a call or an input, where only a part of it is shown. */
  whole(id: string): Promise<Durable | undefined>;
};

/** Apart from the actions: it changes with every piece of a reply, and only the rows of agents look at it. */
export const TranscriptContext = createContext<KeyedTranscript>(noTranscript);

export const RowActionsContext = createContext<RowActions | undefined>(undefined);

export function useRowActions(): RowActions {
  const actions = useContext(RowActionsContext);
  if (!actions) throw new Error("a row outside of a conversation");
  return actions;
}
