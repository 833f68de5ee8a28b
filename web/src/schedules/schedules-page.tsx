/** What is due by the clock: when each starts next, what became of it, and what a person may do with it. */
import "../overview/overview.css";
import "../settings/settings.css";
import "./schedules.css";
import type { AnswerTo, ScheduleEntry } from "keel/protocol";
import { readable, sayNext, sayRun, sayUntil, sayUsd, sayWhen, visible } from "keel/view";
import { type ReactElement, useCallback, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Link } from "../kit/link.tsx";
import { Sign, type SignKind } from "../kit/sign.tsx";
import { useNow } from "../kit/time.tsx";
import { useLooked } from "../live/use-looked.ts";
import { useAccess, useWorld } from "../live/world.ts";
import { RemoveDialog } from "../overview/change-dialogs.tsx";
import { RailButton } from "../overview/rail-button.tsx";
import { words } from "../words.ts";

/** A due time is minutes away, and who works on one says so in its own conversation. */
const everyMs = 5_000;

export function SchedulesPage({
  schedule,
  onRail,
}: {
  /** The one that is open. */
  readonly schedule: string | undefined;
  readonly onRail: () => void;
}): ReactElement {
  const { client } = useWorld();
  const { answer, problem, look } = useLooked(
    useCallback(() => client.schedules.list(), [client]),
    everyMs,
  );
  return (
    <main className="settings schedules" id="main">
      <header className="head">
        <RailButton onOpen={onRail} />
        <h1>{words.schedules.title}</h1>
      </header>
      {problem !== "" && (
        <p role="status" className="state quiet">
          {problem}
        </p>
      )}
      <div className="sheet">
        {answer && <ScheduleList {...answer} schedule={schedule} onChanged={look} />}
      </div>
    </main>
  );
}

function ScheduleList({
  schedules,
  total,
  schedule,
  onChanged,
}: AnswerTo<"schedules"> & {
  readonly schedule: string | undefined;
  readonly onChanged: () => Promise<void>;
}): ReactElement {
  if (schedules.length === 0)
    return (
      <p className="quiet">
        {words.schedules.none} <code>keel schedule add --every 1h PROMPT</code>
      </p>
    );
  return (
    <>
      <ul className="rules schedule-list">
        {schedules.map((entry) => (
          <OneSchedule
            key={entry.schedule.id}
            entry={entry}
            isOpen={entry.schedule.id === schedule}
            onChanged={onChanged}
          />
        ))}
      </ul>
      {total > schedules.length && <p className="quiet">{words.schedules.more(total - schedules.length)}</p>}
    </>
  );
}

function signOf({ schedule, runs, open, next }: ScheduleEntry): SignKind {
  if (open > 0) return "active";
  if (runs.at(-1)?.end?.how === "failed") return "failed";
  return schedule.paused || next.length === 0 ? "idle" : "waiting";
}

function OneSchedule({
  entry,
  isOpen,
  onChanged,
}: {
  readonly entry: ScheduleEntry;
  readonly isOpen: boolean;
  readonly onChanged: () => Promise<void>;
}): ReactElement {
  const now = useNow(30_000);
  const { schedule, runs, open } = entry;
  const { id, prompt, when } = schedule;
  const last = runs.at(-1);
  return (
    <li className={isOpen ? "is-open" : ""}>
      <Link
        to={{ page: "schedules", schedule: isOpen ? undefined : id }}
        className="due-line"
        aria-current={isOpen ? "true" : undefined}
      >
        <Sign kind={signOf(entry)} />
        <span className="one-line">{visible(id)}</span>
        <span className="next">{open > 0 ? words.schedules.open(open) : sayNext(entry, now)}</span>
        {!isOpen && <span className="quiet one-line">{visible(prompt)}</span>}
        <span className="quiet one-line">
          {when.kind === "once" ? words.schedules.once(localTime(when.at)) : visible(sayWhen(when))}
          {last?.end && ` · ${words.schedules.last(sayRun(last))}`}
        </span>
      </Link>
      {isOpen && <ScheduleBody entry={entry} now={now} onChanged={onChanged} />}
    </li>
  );
}

function ScheduleBody({
  entry: { schedule, next, runs },
  now,
  onChanged,
}: {
  readonly entry: ScheduleEntry;
  readonly now: number;
  readonly onChanged: () => Promise<void>;
}): ReactElement {
  const world = useWorld();
  const { schedules } = world.client;
  const mayChange = useAccess() === "work";
  const [isRemoving, setRemoving] = useState(false);
  const { id, prompt, cwd, paused = false } = schedule;
  const act = (work: Promise<void>): void => void world.attempt(work.then(onChanged));
  return (
    <div className="schedule-body">
      <p className="whole">{readable(prompt)}</p>
      <p className="quiet one-line" title={visible(cwd)}>
        {visible(cwd)}
      </p>
      <ul className="dues">
        {next.map((at) => (
          <li key={`next ${at}`}>
            <Moment at={at} /> <span className="quiet">{sayUntil(at - now)}</span>
          </li>
        ))}
        {runs.toReversed().map((run) => (
          <li key={`run ${run.due}`} className="is-past">
            <Moment at={run.due} /> <span className="quiet">{sayRun(run)}</span>{" "}
            {run.end?.costUsd !== undefined && <span className="quiet">{sayUsd(run.end.costUsd)}</span>}{" "}
            {run.startedAt !== undefined && (
              <Link to={{ page: "session", session: run.session }}>{words.schedules.session}</Link>
            )}
          </li>
        ))}
      </ul>
      {mayChange && (
        <div className="acts">
          <Button onClick={() => act(schedules.run(id))}>{words.schedules.run}</Button>
          <Button onClick={() => act(schedules.pause({ schedule: id, paused: !paused }))}>
            {paused ? words.schedules.goOn : words.schedules.pause}
          </Button>
          <Button look="plain" icon="trash" onClick={() => setRemoving(true)}>
            {words.schedules.remove}
          </Button>
        </div>
      )}
      {isRemoving && (
        <RemoveDialog
          title={words.schedules.removeTitle(visible(id))}
          about={words.schedules.removeAbout}
          verb={words.schedules.removeVerb}
          onRemove={() => act(schedules.remove(id))}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}

const Moment = ({ at }: { readonly at: number }): ReactElement => (
  <time dateTime={new Date(at).toISOString()}>{localTime(at)}</time>
);

const localTime = (at: number): string => new Date(at).toLocaleString(undefined, moment);

const moment = {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
} as const;
