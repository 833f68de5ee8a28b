import type { Durable, Envelope, FaultData } from "keel/protocol";
import { rowsOf } from "keel/view";
import { expect, test } from "vitest";
import { typicalEvents, wholeTurns } from "../../../bench/workloads/events.ts";
import { type KeptEvents, keptNowhere } from "./kept-events.ts";
import { lightened } from "./lighten.ts";
import { type FeedPorts, SessionFeed, type SessionState } from "./session-feed.ts";
import { foldView, noView, type SessionView } from "./session-view.ts";

const log = typicalEvents({ count: wholeTurns(1_200), resultBytes: 2_000 });
const session = log[0]?.session ?? "";
const foldOf = (events: readonly Envelope[]): SessionView =>
  events.reduce((view, event) => foldView(view, lightened(event).event), noView);
const lastRow = ({ view }: SessionState): string | undefined => rowsOf(view.transcript).toArray().at(-1)?.id;
/** What happens in a turn that comes after the log. */
const later: readonly Durable[] = typicalEvents({
  count: log.length + 49,
  resultBytes: 10,
}).slice(log.length);
const lost: FaultData = { code: "link_lost", message: "cut" };

type Told = { readonly kept: number[]; readonly asked: string[] };

/** A server with a log, of which pages are given out when the test says so, and a browser that has kept its start. */
function stage(keptCount: number) {
  const told: Told = { kept: [], asked: [] };
  const pages: (() => void)[] = [];
  let isHeld = true;
  let isReachable = true;
  const news: Envelope[] = [];
  let wake: () => void = () => undefined;
  const kept: KeptEvents = {
    ...keptNowhere(),
    lastSeq: async () => keptCount,
    read: async (_, after, upTo) => log.slice(after, upTo).map((event) => lightened(event).event),
    keep: ({ seq }) => void told.kept.push(seq),
  };
  const ports: FeedPorts = {
    async *events(_id, after, signal) {
      told.asked.push(`follow after ${after}`);
      for (const event of log.slice(after)) yield event;
      for (let at = 0; !signal.aborted; at += 1) {
        while (at >= news.length) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const event = news[at];
        if (event) yield event;
      }
    },
    async history(_id, page) {
      if (!isReachable) throw lost;
      if ("last" in page) {
        told.asked.push(`last after ${page.after}`);
        return log.filter(({ seq }) => seq > page.after).slice(-page.last);
      }
      if (isHeld) await new Promise<void>((resolve) => pages.push(resolve));
      if (!isReachable) throw lost;
      told.asked.push(`page after ${page.after}`);
      return log.slice(page.after, page.after + page.limit);
    },
    kept,
    nextPaint: (then) => void setTimeout(then, 0),
    pause: () => new Promise((resolve) => setTimeout(resolve, 0)),
    now: () => performance.now(),
    faultOf: (thrown) => thrown as FaultData,
  };
  return {
    told,
    ports,
    open: () => new SessionFeed(session, ports),
    happen(event: Envelope): void {
      news.push(event);
      wake();
    },
    letPages(): void {
      isHeld = false;
      for (const go of pages.splice(0)) go();
    },
    reach(isThere: boolean): void {
      isReachable = isThere;
    },
    /** Given out as lost: whoever waits for one hears that nobody answers. */
    cutPages(): void {
      isReachable = false;
      for (const go of pages.splice(0)) go();
    },
  };
}

const until = (feed: SessionFeed, is: (state: SessionState) => boolean): Promise<SessionState> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (is(feed.get())) resolve(feed.get());
    };
    feed.subscribe(look);
    look();
  });

test("a long session that the browser never saw shows its end before the rest is asked for, and then all of it", async () => {
  const { told, open, letPages, happen } = stage(0);
  const feed = open();
  const end = lastRow({ view: foldOf(log), phase: "live", isWhole: true });
  const first = await until(feed, (state) => lastRow(state) === end);
  expect(first.isWhole).toBe(false);
  expect(rowsOf(first.view.transcript).toArray().length).toBeLessThan(240);
  expect(told.asked).toEqual(["last after 0", `follow after ${log.length}`]);
  // What would leave a gap is not kept.
  expect(told.kept).toEqual([]);

  const [news, ...more] = later;
  if (news) happen(news);
  await until(feed, ({ view }) => view.seq === news?.seq);
  letPages();
  const whole = await until(feed, ({ isWhole }) => isWhole);
  expect(whole.view).toEqual(foldOf([...log, ...later.slice(0, 1)]));
  for (const event of more) happen(event);
  const last = await until(feed, ({ view }) => view.seq === later.at(-1)?.seq);
  expect(last.view).toEqual(foldOf([...log, ...later]));
  expect(told.kept).toEqual([...log, ...later].map(({ seq }) => seq));
  feed.close();
});

test("what the browser has of a session that went on far beyond it is joined to its end", async () => {
  const keptCount = 500;
  const { told, open, letPages } = stage(keptCount);
  const feed = open();
  const end = lastRow({ view: foldOf(log), phase: "live", isWhole: true });
  await until(feed, (state) => lastRow(state) === end && !state.isWhole);
  letPages();
  const whole = await until(feed, ({ isWhole, view }) => isWhole && view.seq === log.length);
  expect(whole.view).toEqual(foldOf(log));
  expect(told.kept).toEqual(log.slice(keptCount).map(({ seq }) => seq));
  feed.close();
});

test("a server that goes in the middle of it is asked again, and one that never comes leaves what the browser has", async () => {
  const { open, cutPages, letPages, reach, told } = stage(0);
  const feed = open();
  await until(feed, ({ view }) => view.seq === log.length);
  cutPages();
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(told.asked.filter((one) => one.startsWith("page"))).toEqual([]);
  reach(true);
  letPages();
  const whole = await until(feed, ({ isWhole, view }) => isWhole && view.seq === log.length);
  expect(whole.view).toEqual(foldOf(log));
  feed.close();

  const away = stage(log.length);
  away.reach(false);
  const alone = away.open();
  const all = await until(alone, ({ isWhole }) => isWhole);
  expect(all.view).toEqual(foldOf(log));
  alone.close();
});

test("a short session, and one that only went on a little, are whole at once", async () => {
  const near = stage(log.length - 100);
  const feed = near.open();
  const whole = await until(feed, ({ isWhole, view }) => isWhole && view.seq === log.length);
  expect(whole.view).toEqual(foldOf(log));
  expect(near.told.asked).toEqual([`last after ${log.length - 100}`, `follow after ${log.length}`]);
  expect(near.told.kept).toEqual(log.slice(-100).map(({ seq }) => seq));
  feed.close();
});
