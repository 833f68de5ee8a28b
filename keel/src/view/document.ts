/** A whole session as it is exported: what its log says about it, its rows and its totals. */
import type { Envelope } from "../protocol/event/envelope.ts";
import type { ConversationRow, Row } from "./rows.ts";
import { foldTotals, noTotals, type Totals } from "./totals.ts";
import { foldTranscript, noTranscript, rowsOf } from "./transcript.ts";

export type SessionDocument = {
  readonly session: string;
  readonly title: string | undefined;
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  readonly openedAt: number | undefined;
  /** Work beside the conversation is told by the calls that started it. */
  readonly rows: readonly ConversationRow[];
  readonly totals: Totals;
};

export function documentOf(envelopes: Iterable<Envelope>): SessionDocument {
  let transcript = noTranscript;
  let facts: Omit<SessionDocument, "rows" | "totals"> = {
    session: "",
    title: undefined,
    cwd: undefined,
    model: undefined,
    openedAt: undefined,
  };
  let totals = noTotals;
  for (const envelope of envelopes) {
    facts = { ...facts, session: envelope.session };
    if (envelope.type === "session.opened") {
      const { settings, cwd, at } = envelope;
      facts = { ...facts, cwd, openedAt: facts.openedAt ?? at, model: settings.model, title: settings.title };
    }
    if (envelope.type === "settings.changed" && envelope.why !== "fallback") {
      const { model, title } = envelope.patch;
      facts = { ...facts, model: model ?? facts.model, title: title ?? facts.title };
    }
    totals = foldTotals(totals, envelope);
    transcript = foldTranscript(transcript, envelope);
  }
  return { ...facts, rows: rowsOf(transcript).toArray().filter(isConversation), totals };
}

const isConversation = (row: Row): row is ConversationRow => row.kind !== "agent" && row.kind !== "task";
