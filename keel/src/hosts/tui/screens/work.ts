/** Screens about work that goes on by itself: the team, what is due by the clock, and the goal with its tries. */
import type { ScheduleEntry } from "../../../protocol/schedule.ts";
import type { TeamMemberEntry, TeamReport } from "../../../protocol/team.ts";
import { isoTime } from "../../../view/say.ts";
import { sayNext, sayRun, sayUntil, sayWhen } from "../../../view/say-schedule.ts";
import { messagesOf, sayMember, sayWait } from "../../../view/say-team.ts";
import { just } from "../screen/on-event.ts";
import { listPanel, type PanelItem, textPanel } from "../screen/panel.ts";
import { ask, push, ready, type ScreenRow, sayAgo } from "../screen/screen-row.ts";
import { goalLines, textLines } from "../screen/screen-texts.ts";
import { rowContext } from "../screen/state.ts";

export const workScreens: readonly ScreenRow[] = [
  {
    names: ["team"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "team",
          "Team",
          "loading",
          "Enter: what it was told and what it said",
          "There is no team. Ask for one: the model makes it.",
        ),
        ask("team", "team"),
      ),
    fill(panel, got, state) {
      if (panel.kind !== "list" || got.what !== "inquiry" || got.name !== "team") return panel;
      const team = got.answer;
      const title = team === null ? panel.title : `Team ${team.name}`;
      const items = team?.members.map((member) => memberItem(member, team, state.now)) ?? [];
      return { ...ready(panel, items), title };
    },
    choose: (state, item) =>
      push(state, textPanel("talk", item.label, textLines(item.whole ?? "Nothing was said yet."))),
  },
  { names: ["talk"], inner: true, open: (state) => just(state) },
  {
    names: ["schedules", "schedule"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "schedules",
          "Schedules",
          "loading",
          "`keel schedule` pauses, starts and removes them",
          "Nothing is due by the clock. `keel schedule add --every 1h PROMPT` makes a schedule.",
        ),
        ask("schedules", "schedules"),
      ),
    fill: (panel, got, state) =>
      got.what === "inquiry" && got.name === "schedules"
        ? ready(
            panel,
            got.answer.map((entry) => scheduleItem(entry, state.now)),
          )
        : panel,
  },
  {
    names: ["goal"],
    alone: true,
    open: (state) => push(state, textPanel("goal", "Goal", goalLines(state.goal, rowContext(state)))),
  },
];

const marks: Readonly<Record<TeamMemberEntry["state"], PanelItem["mark"]>> = {
  working: "running",
  asking: "running",
  resting: "done",
  failed: "failed",
  left: undefined,
};

function memberItem(member: TeamMemberEntry, team: TeamReport, now: number): PanelItem {
  const { name, state, since, waits } = member;
  const said = messagesOf(team, name).map(
    ({ from, to, text, at }) => `${sayAgo(now - at)}  ${from} to ${to}: ${text.replaceAll("\n", " ")}`,
  );
  return {
    id: name,
    label: name === "main" ? "main (leads)" : name,
    note: [sayMember(member), ...(since === undefined ? [] : [sayAgo(now - since)])].join(" · "),
    mark: marks[state],
    ...(said.length + waits.length > 0
      ? { whole: [...waits.map(sayWait), ...said.toReversed()].join("\n") }
      : {}),
  };
}

function scheduleItem(entry: ScheduleEntry, now: number): PanelItem {
  const { schedule, next, runs, open } = entry;
  const last = runs.at(-1);
  return {
    id: schedule.id,
    label: schedule.id,
    note: `${sayNext(entry, now)} · ${sayWhen(schedule.when)}${last ? ` · last ${sayRun(last)}` : ""}`,
    mark: open > 0 ? "running" : last?.end?.how === "failed" ? "failed" : last ? "done" : undefined,
    whole: [
      schedule.prompt.replaceAll("\n", " "),
      ...next.map((at) => `starts ${minute(at)}  ${sayUntil(at - now)}`),
      ...runs.toReversed().map((run) => `was due ${minute(run.due)}  ${sayRun(run)}${costOf(run)}`),
    ].join("\n"),
  };
}

const minute = (at: number): string => `${(isoTime(at) ?? "").slice(0, 16).replace("T", " ")} UTC`;
const costOf = ({ end }: ScheduleEntry["runs"][number]): string =>
  end?.costUsd === undefined ? "" : `  $${end.costUsd.toFixed(4)}`;
