/**
 * Tells a person what they have spent when a sum of theirs is passed: once for each sum, session, day and month, whichever
 * process it happens in and however often it starts. Nothing is stopped by it. Loaded where settings have such a sum.
 */
import { mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import path from "node:path";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import { codeOf } from "../../kernel/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import { foldBill } from "../../protocol/bill.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { noBill } from "../../protocol/usage.ts";
import type { HomeConversations } from "../conversations/home-conversations.ts";

export type CostAlarms = {
  follow(session: Pick<Session, "id" | "state" | "onEvent" | "relay" | "notify">): void;
  /** Settles when all that was spent so far has been looked at. Never rejects. */
  settled(): Promise<void>;
};

type AlarmedHome = {
  readonly path: string;
  readonly clock: Clock;
  conversations(): Promise<Pick<HomeConversations, "spent">>;
};

type Sums = number | readonly number[] | undefined;

/** What was told so long ago concerns nobody any more. */
const keptMs = 400 * 24 * 60 * 60_000;

export function costAlarms(home: AlarmedHome, settings: KeelSettings): CostAlarms {
  const { sessionUsd, dayUsd, monthUsd } = settings.costAlarms ?? {};
  const claimed = claims(path.join(home.path, "alarms"), home.clock);
  let looking: Promise<void> = Promise.resolve();

  /** The words for the highest sum that was passed and not told yet. */
  const passed = async ({ sums, spent, name, say }: Passing): Promise<string | undefined> => {
    const fresh: number[] = [];
    for (const sum of asSums(sums)) if (spent >= sum && (await claimed(`${name}-${sum}`))) fresh.push(sum);
    return fresh.length === 0 ? undefined : say(usd(spent), usd(Math.max(...fresh)));
  };
  const spentSince = async (sums: Sums, since: number): Promise<number> =>
    asSums(sums).length === 0 ? 0 : (await home.conversations()).spent(since);

  return {
    settled: () => looking,
    follow(session) {
      const look = async (): Promise<void> => {
        const now = new Date(home.clock.now());
        const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
        const day = now.toISOString().slice(0, 10);
        const words = [
          await passed({
            sums: sessionUsd,
            spent: session.state.bill.costUsd,
            name: `session-${session.id}`,
            say: (spent, sum) => `This session has cost ${spent}: your alarm for a session is ${sum}.`,
          }),
          await passed({
            sums: dayUsd,
            spent: await spentSince(dayUsd, Date.UTC(year, month, now.getUTCDate())),
            name: `day-${day}`,
            say: (spent, sum) => `Today (${day}, UTC) has cost ${spent}: your alarm for a day is ${sum}.`,
          }),
          await passed({
            sums: monthUsd,
            spent: await spentSince(monthUsd, Date.UTC(year, month)),
            name: `month-${day.slice(0, 7)}`,
            say: (spent, sum) =>
              `This month (${day.slice(0, 7)}, UTC) has cost ${spent}: your alarm for a month is ${sum}.`,
          }),
        ];
        for (const text of words) {
          if (text === undefined) continue;
          const notice = { type: "notice.raised", level: "warning", text, code: "cost_alarm" } as const;
          session.relay({ ...notice, at: home.clock.now(), session: session.id });
          await session.notify({ message: text, title: "Keel", kind: "cost_alarm" });
        }
      };
      session.onEvent((event) => {
        if (!isDurable(event) || event.origin) return;
        if (foldBill(noBill, event).costUsd === 0) return;
        // A look that fails keeps nobody from working; the next charge looks again.
        looking = looking.then(look).catch(() => undefined);
      });
    },
  };
}

type Passing = {
  readonly sums: Sums;
  readonly spent: number;
  /** By which it is known that it was told. */
  readonly name: string;
  say(spent: string, sum: string): string;
};

const asSums = (sums: Sums): readonly number[] =>
  sums === undefined ? [] : typeof sums === "number" ? [sums] : sums;

const usd = (amount: number): string => `$${amount.toFixed(2)}`;

/** Whoever makes the file tells it: of several processes one, and none that starts later. */
function claims(folder: string, clock: Clock): (name: string) => Promise<boolean> {
  const here = new Set<string>();
  return async (name) => {
    if (here.has(name)) return false;
    here.add(name);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await (await open(path.join(folder, name), "wx", 0o600)).close();
      await prune(folder, clock.now() - keptMs);
      return true;
    } catch (thrown) {
      // Where nothing can be written it is told once by each process: better twice than never.
      return codeOf(thrown) !== "EEXIST";
    }
  };
}

async function prune(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if ((await stat(file)).mtimeMs < before) await unlink(file);
  }
}
