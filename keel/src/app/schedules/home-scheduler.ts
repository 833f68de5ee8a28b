/** What starts the schedules of a home in this process, over the sessions that it serves. */
import type { Home } from "../home.ts";
import type { ServedSessions } from "../sessions/served-sessions.ts";
import { folderBell } from "./bell.ts";
import { type PerformPorts, performRun } from "./perform.ts";
import { Scheduler, type SchedulerPorts } from "./scheduler.ts";

export type HomeScheduler = { readonly scheduler: Scheduler; close(): Promise<void> };

/** Whoever has the agents of groups, where there is one. */
type WithGroups = { readonly groups?: Pick<SchedulerPorts, "perform"> | undefined };

export async function homeScheduler(
  home: Home,
  served: ServedSessions,
  { asks, groups, tell }: Pick<PerformPorts, "asks"> & Pick<SchedulerPorts, "tell"> & WithGroups,
): Promise<HomeScheduler> {
  const book = await home.scheduleBook();
  const scheduler = new Scheduler({
    book,
    clock: home.clock,
    ids: home.ids,
    bell: folderBell(home.schedulesPath),
    hold: (name) => home.hold(name),
    perform: (schedule, run, signal) =>
      schedule.group !== undefined && groups
        ? groups.perform(schedule, run, signal)
        : performRun(schedule, run, { use: (id, opening) => served.useOrBegin(id, opening), asks, signal }),
    // One that another process has is told by that process, if it is the server; else when it is free. Groups are
    // where a server is.
    mayStart: async ({ session, group }) =>
      group !== undefined
        ? groups !== undefined
        : session === undefined ||
          home.opened(session) !== undefined ||
          !(await home.owners([session])).has(session),
    tell,
  });
  return {
    scheduler,
    close: async () => {
      await scheduler.stop();
      await book.close();
    },
  };
}
