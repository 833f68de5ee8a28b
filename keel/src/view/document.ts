/** A whole session as it is exported: what its log says about it, its rows and its totals. */
import type { Envelope } from "../protocol/event.ts";
import type { Row } from "./rows.ts";
import { foldTotals, noTotals, type Totals } from "./totals.ts";
import { growTranscript } from "./transcript.ts";

export type SessionDocument = {
  readonly session: string;
  readonly title: string | undefined;
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  readonly openedAt: number | undefined;
  readonly rows: readonly Row[];
  readonly totals: Totals;
};

export function documentOf(envelopes: Iterable<Envelope>): SessionDocument {
  const rows: Row[] = [];
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
    growTranscript(rows, envelope);
  }
  return { ...facts, rows, totals };
}
