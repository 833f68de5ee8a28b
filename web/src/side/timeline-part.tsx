/** Where the time and the money went: requests, calls, waits and agents as bars on one line of time. */
import { type SpanKind, sayDuration, sayUsd, type Timeline, type TimelineSpan, visible } from "keel/view";
import { type ReactElement, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { useNow } from "../kit/time.tsx";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

const lanes: readonly Exclude<SpanKind, "turn">[] = ["request", "call", "wait", "agent"];

export function TimelinePart({ view }: { readonly view: SessionView }): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const { timeline } = view;
  const turns = timeline.spans.toArray().filter(({ kind }) => kind === "turn");
  const last = turns.at(-1);
  if (!last) return null;
  return (
    <SideSection name="timeline" title={words.side.timeline} startsOpen={false}>
      <Turn turn={last} spans={spansOf(timeline, last)} />
      <Button look="plain" onClick={() => setOpen(true)}>
        {words.timeline.all}
      </Button>
      {isOpen && (
        <Dialog title={words.side.timeline} onClose={() => setOpen(false)}>
          <div className="timelines">
            {turns.toReversed().map((turn) => (
              <Turn key={turn.id} turn={turn} spans={spansOf(timeline, turn)} isDetailed />
            ))}
          </div>
        </Dialog>
      )}
    </SideSection>
  );
}

const spansOf = ({ spans }: Timeline, turn: TimelineSpan): readonly TimelineSpan[] =>
  spans
    .toArray()
    .filter(
      ({ kind, from }) => kind !== "turn" && from >= turn.from && (turn.to === null || from <= turn.to),
    );

type TurnProps = {
  readonly turn: TimelineSpan;
  readonly spans: readonly TimelineSpan[];
  readonly isDetailed?: boolean;
};

export function Turn({ turn, spans, isDetailed = false }: TurnProps): ReactElement {
  const now = useNow(turn.to === null ? 1_000 : null);
  const end = Math.max(turn.to ?? now, ...spans.map(({ to }) => to ?? 0), turn.from + 1);
  const whole = end - turn.from;
  const sum = (kind: SpanKind): number =>
    spans.filter((span) => span.kind === kind).reduce((ms, { from, to }) => ms + ((to ?? end) - from), 0);
  const used = lanes.filter((lane) => spans.some(({ kind }) => kind === lane));
  return (
    <figure className="timeline">
      <figcaption className="figures">
        {new Date(turn.from).toLocaleTimeString()} · {sayDuration(whole)}
        {turn.costUsd !== null && ` · ${sayUsd(turn.costUsd)}`}
      </figcaption>
      {used.map((lane) => (
        <div key={lane} className="lane">
          <span className="label">{words.timeline.lanes[lane]}</span>
          <span className="bars">
            {spans
              .filter(({ kind }) => kind === lane)
              .map((span) => (
                <span
                  key={span.id}
                  className={`bar of-${lane}${span.failed ? " is-failed" : ""}`}
                  title={`${visible(span.title)}: ${sayDuration((span.to ?? end) - span.from)}`}
                  style={{
                    left: `${((span.from - turn.from) / whole) * 100}%`,
                    width: `${Math.max(0.6, (((span.to ?? end) - span.from) / whole) * 100)}%`,
                  }}
                />
              ))}
          </span>
          <span className="quiet figures">{sayDuration(sum(lane))}</span>
        </div>
      ))}
      {isDetailed && (
        <ol className="spans">
          {spans.map((span) => (
            <li key={span.id}>
              <span className={`dot of-${span.kind}`} />
              <span className="one-line">{visible(span.title)}</span>
              <span className="quiet figures">
                {sayDuration((span.to ?? end) - span.from)}
                {span.costUsd !== null && span.costUsd > 0 && ` · ${sayUsd(span.costUsd)}`}
              </span>
            </li>
          ))}
        </ol>
      )}
    </figure>
  );
}
