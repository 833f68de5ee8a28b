/** All that the page knows of a session: the folds of `keel/view`, side by side, and nothing of its own. */
import type { Envelope } from "keel/protocol";
import {
  type Activity,
  type CacheHealth,
  type FileChanges,
  foldActivity,
  foldCacheHealth,
  foldFileChanges,
  foldStanding,
  foldTimeline,
  foldTotals,
  foldTranscript,
  idle,
  type KeyedTranscript,
  noCacheHealth,
  noFileChanges,
  noStanding,
  noTimeline,
  noTotals,
  noTranscript,
  type SessionStanding,
  type Timeline,
  type Totals,
} from "keel/view";

export type SessionView = {
  readonly transcript: KeyedTranscript;
  readonly activity: Activity;
  readonly standing: SessionStanding;
  readonly totals: Totals;
  readonly cache: CacheHealth;
  readonly changes: FileChanges;
  readonly timeline: Timeline;
  /** The last durable event of the session itself that is in it. */
  readonly seq: number;
  /** Counts what was told but for pieces: what stands beside the rows need not be drawn for each of those. */
  readonly told: number;
};

export const noView: SessionView = {
  transcript: noTranscript,
  activity: idle,
  standing: noStanding,
  totals: noTotals,
  cache: noCacheHealth,
  changes: noFileChanges,
  timeline: noTimeline,
  seq: 0,
  told: 0,
};

/** A piece of a reply changes the rows and what the session does, and nothing that is added up. */
const pieces: ReadonlySet<string> = new Set([
  "text.delta",
  "thinking.delta",
  "signature.delta",
  "call.delta",
  "tool.progress",
]);

export function foldView(view: SessionView, event: Envelope): SessionView {
  const transcript = foldTranscript(view.transcript, event);
  if (pieces.has(event.type)) return transcript === view.transcript ? view : { ...view, transcript };
  return {
    transcript,
    activity: foldActivity(view.activity, event),
    standing: foldStanding(view.standing, event),
    totals: foldTotals(view.totals, event),
    cache: foldCacheHealth(view.cache, event),
    changes: foldFileChanges(view.changes, event),
    timeline: foldTimeline(view.timeline, event),
    seq: "seq" in event && !event.origin ? event.seq : view.seq,
    told: view.told + 1,
  };
}
