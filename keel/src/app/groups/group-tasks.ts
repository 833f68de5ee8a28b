/** Scheduled tasks of groups: schedules whose words go to the agent of a group, and whose results to its channel. */
import { contextModes, type DeskInput } from "../../groups/desk-tools.ts";
import { fault } from "../../kernel/fault.ts";
import { shorten } from "../../kernel/text.ts";
import type { ScheduleBook } from "../../ports/schedules.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import type { Schedule, ScheduledRun } from "../../protocol/schedule.ts";
import { sayWhen } from "../../view/say-schedule.ts";
import type { ScheduleBell } from "../schedules/bell.ts";
import { addSchedule, pauseSchedule, removeSchedule, scheduleStates } from "../schedules/change-schedules.ts";

export type GroupTasks = ReturnType<typeof groupTasks>;

/** More than any group has. */
const maxTasks = 100;
/** Oftener than that nobody wants to read an answer. */
const shortestMs = 60_000;

export function groupTasks({
  book,
  bell,
  now,
}: {
  readonly book: ScheduleBook;
  readonly bell: ScheduleBell;
  now(): number;
}) {
  const change = () => ({ book, bell, now: now() });
  /** Those that this group may see: of the main one all. */
  const ofGroup = ({ id, main = false }: ChatGroup, schedule: Schedule): boolean =>
    schedule.group !== undefined && (main || schedule.group === id);
  const mustFind = async (task: string, group: ChatGroup): Promise<Schedule> => {
    const found = await book.find(task);
    if (!found || !ofGroup(group, found)) throw wrong(`This group has no task ${task}.`);
    return found;
  };
  return {
    async add(
      wish: DeskInput<"schedule_task">,
      { group, id: call }: { readonly group: ChatGroup; readonly id: string },
    ): Promise<string> {
      const own = (await book.list()).filter((each) => each.group === group.id);
      const id = nameOf(wish.prompt, call);
      const known = own.find((each) => each.id === id);
      if (!known && own.length >= maxTasks) throw wrong(`This group has ${maxTasks} tasks already.`);
      const made =
        known ??
        (await addSchedule(
          {
            ...whenOf(wish),
            id,
            prompt: wish.prompt,
            cwd: group.folder,
            group: group.id,
            session: wish.context_mode === contextModes[1] ? undefined : group.session,
            by: `group ${group.id}`,
          },
          change(),
        ));
      return `Scheduled as ${made.id}: ${sayWhen(made.when)}.`;
    },

    async list(group: ChatGroup): Promise<string> {
      const states = await scheduleStates(book, now());
      const tasks = states
        .filter(({ schedule }) => ofGroup(group, schedule))
        .map(({ schedule, next, last }) => ({
          id: schedule.id,
          group: schedule.group,
          when: sayWhen(schedule.when),
          context_mode: schedule.session === undefined ? "isolated" : "group",
          status: schedule.paused ? "paused" : next === undefined ? "over" : "active",
          next_run: next === undefined ? null : new Date(next).toISOString(),
          last_run: last?.startedAt === undefined ? null : new Date(last.startedAt).toISOString(),
          last_result: last?.end ? `${last.end.how} (${last.end.why})` : null,
          prompt: shorten(schedule.prompt, 500),
        }));
      return tasks.length === 0 ? "There are no tasks." : JSON.stringify(tasks);
    },

    async pause(task: string, paused: boolean, group: ChatGroup): Promise<string> {
      const { id } = await mustFind(task, group);
      await pauseSchedule(id, paused, change());
      return paused ? `${id} is paused.` : `${id} goes on.`;
    },

    async cancel(task: string, group: ChatGroup): Promise<string> {
      const { id } = await mustFind(task, group);
      await removeSchedule(id, change());
      return `${id} is removed.`;
    },

    /** With their group. */
    async removeAll(group: string): Promise<void> {
      for (const { id, group: of } of await book.list()) if (of === group) await removeSchedule(id, change());
    },
  };
}

function whenOf({ schedule_type: type, schedule_value: value }: DeskInput<"schedule_task">) {
  if (type === "cron") return { cron: value };
  if (type === "once") return { at: value };
  const ms = /^\d+$/.test(value.trim()) ? Number(value) : undefined;
  if (ms !== undefined && ms < shortestMs) throw wrong("An interval has at least a minute.");
  if (/^\d+\s?s$/.test(value.trim()) && Number.parseInt(value, 10) * 1_000 < shortestMs)
    throw wrong("An interval has at least a minute.");
  return { every: ms === undefined ? value : `${Math.round(ms / 1_000)}s` };
}

/** The same for a call that is read again. */
function nameOf(prompt: string, call: string): string {
  const words = prompt.toLowerCase().match(/[a-z0-9]+/g) ?? ["task"];
  return `${words.slice(0, 4).join("-").slice(0, 40)}-${call.slice(-6)}`;
}

/** What the agent is told when a task is due. */
export const wordsOfTask = ({ id, prompt }: Schedule, { due }: ScheduledRun): string =>
  `(The scheduled task ${id} was due at ${new Date(due).toISOString()}. Nobody in the group wrote this just now. What you answer is sent to the group; if nothing is to be said, answer between <internal> and </internal> only.)\n\n${prompt}`;

const wrong = (reason: string) => fault("usage", { reason });
