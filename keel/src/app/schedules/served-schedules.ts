/** The schedules of a home for clients of its server. */
import type { ScheduleBook } from "../../ports/schedules.ts";
import type { ScheduleOperation } from "../../protocol/schedule-operations.ts";
import type { Home } from "../home.ts";
import type { HomeHandlers } from "../sessions/served-sessions.ts";
import { folderBell, type ScheduleBell } from "./bell.ts";
import { mustFind, pauseSchedule, removeSchedule, runNow, scheduleEntries } from "./change-schedules.ts";

const usualLimit = 200;
const maxLimit = 1_000;

export function scheduleHandlers(
  home: Pick<Home, "scheduleBook" | "schedulesPath" | "clock" | "ids">,
): Pick<HomeHandlers, ScheduleOperation> {
  type Place = { readonly book: ScheduleBook; readonly bell: ScheduleBell; readonly now: number };
  const within = async <T>(work: (place: Place) => Promise<T>): Promise<T> => {
    const book = await home.scheduleBook();
    try {
      return await work({ book, bell: folderBell(home.schedulesPath), now: home.clock.now() });
    } finally {
      await book.close();
    }
  };
  return {
    schedules: ({ limit = usualLimit }) =>
      within(async ({ book, now }) => {
        const all = await scheduleEntries(book, now);
        return { schedules: all.slice(0, Math.max(1, Math.min(limit, maxLimit))), total: all.length };
      }),
    async pauseSchedule({ schedule, paused }) {
      await within((place) => pauseSchedule(schedule, paused, place));
      return {};
    },
    async runSchedule({ schedule }) {
      await within((place) => runNow(schedule, place, () => home.ids.uuid()));
      return {};
    },
    async removeSchedule({ schedule }) {
      await within(async (place) => {
        await mustFind(schedule, place.book);
        await removeSchedule(schedule, place);
      });
      return {};
    },
  };
}
