/**
 * The conversations of a home as tables that follow its logs. Whoever asks gets what the tables hold, brought up to date
 * first as far as that takes a moment; a file that was deleted or damaged is made again from the logs before it answers.
 */
import { each } from "../../kernel/one-by-one.ts";
import type { Conversations, LoggedToolUse, StoredConversation } from "../../ports/conversations.ts";
import type { SessionInfo, Store } from "../../ports/store.ts";
import {
  type ConversationCache,
  sqliteConversations,
  type TakenLog,
} from "../../store/sqlite/conversations.ts";
import type { FoundSession, SessionQuery } from "../../store/sqlite/found.ts";
import { SaidInLog } from "./said-in-log.ts";

export type HomeConversations = Conversations & {
  /** What all requests since a time have cost, in US dollars, as far as logs have it by now. */
  spent(since: number): Promise<number>;
  /** Sessions that did all of what is asked for. */
  find(wanted: SessionQuery): Promise<FoundSession[]>;
  /** Takes in what logs have said since; resolves when all of it is in. */
  refresh(): Promise<void>;
  /** Whether all logs were taken in once; else the first who asks waits for that. */
  isWhole(): Promise<boolean>;
  /** Makes the tables anew from the logs. */
  rebuild(): Promise<void>;
  close(): Promise<void>;
};

export type ConversationPlace = {
  readonly home: string;
  readonly store: Store;
  readonly sleep: (ms: number) => Promise<void>;
  /** Goes on whatever the wall clock does. */
  readonly nowMs: () => number;
};

/** Nobody waits longer for what other processes have said just now. */
const FRESH_MS = 25;
/** A search does not look for what is new more often: to look at ten thousand logs takes longer than to search them. */
const LOOKED_MS = 1_000;
/** Logs that are looked at to find out which of them have changed. */
const PAGE = 32;
/** Taken in at once: in between everything else goes on. */
const LOGS_AT_ONCE = 16;
/** Of one change: some ten milliseconds. Then everything else has its turn. */
const MESSAGES_AT_ONCE = 200;
const TURN_MS = 1;
/** No log has so many bytes. */
const NOT_ALL = -1;
/** A longer page is not looked at one by one. */
const LOOKED_AT = 200;

type FilledTables = Pick<ConversationPlace, "store" | "sleep"> & { readonly cache: ConversationCache };

export function homeConversations({ home, store, sleep, nowMs }: ConversationPlace): HomeConversations {
  const cache = sqliteConversations({ home });
  const place: FilledTables = { cache, store, sleep };
  let filling: Promise<void> | undefined;
  /** When all logs were looked at last. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  const refresh = (): Promise<void> => {
    const startedAt = nowMs();
    filling ??= fill(place)
      .then(() => {
        lookedAt = startedAt;
      })
      .finally(() => {
        filling = undefined;
      });
    return filling;
  };
  /** Before the answer a moment for what is new; behind it a look whether there was a whole file to ask. */
  const answered = async <T>(ask: () => Promise<T>, looksAgainMs = 0): Promise<T> => {
    if (await cache.isWhole()) {
      if (nowMs() - lookedAt >= looksAgainMs)
        await Promise.race([refresh().catch(() => undefined), sleep(FRESH_MS)]);
    } else await refresh();
    const asked = await Promise.allSettled([ask()]);
    if (!(await cache.isWhole())) {
      await filling?.catch(() => undefined);
      await refresh();
      return ask();
    }
    const [answer] = asked;
    if (answer.status === "rejected") throw answer.reason;
    return answer.value;
  };
  const isGone = ({ id, log, messages }: StoredConversation): boolean =>
    log === "there" && messages > 0 && store.location(id) === undefined;
  const looked = async (found: StoredConversation): Promise<StoredConversation> => {
    if (!isGone(found)) return found;
    await cache.setGone(found.id);
    return { ...found, log: "gone" };
  };
  return {
    ...cache,
    refresh,
    async rebuild() {
      await filling;
      await fill(place, "all");
    },
    list: (page) =>
      answered(async () => {
        const found = await cache.list(page);
        if (found.conversations.length > LOOKED_AT) return found;
        return { ...found, conversations: await Promise.all(found.conversations.map(looked)) };
      }),
    load: (id) =>
      answered(async () => {
        const { conversation, messages } = await cache.load(id);
        return { conversation: await looked(conversation), messages };
      }),
    search: (wanted) => answered(() => cache.search(wanted), LOOKED_MS),
    toolUses: (id) => answered(() => cache.toolUses(id)),
    async calls(wanted) {
      await refresh();
      return answered(() => cache.calls(wanted));
    },
    async spent(since) {
      await refresh();
      return answered(() => cache.spent(since));
    },
    async find(wanted) {
      await refresh();
      return answered(() => cache.find(wanted));
    },
    async close() {
      await filling?.catch(() => undefined);
      cache.close();
    },
  };
}

/**
 * All logs where the tables are new or doubted, else the newest until none has changed. Of those that are taken in together
 * the oldest come first: what stands later in the tables was said later.
 */
async function fill(tables: FilledTables, which?: "all"): Promise<void> {
  const { cache, store } = tables;
  if (which === "all" || !(await cache.isWhole())) {
    const all = (await store.list()).toReversed();
    for (let from = 0; from < all.length; from += LOGS_AT_ONCE)
      await takeIn(tables, all.slice(from, from + LOGS_AT_ONCE));
    return cache.setWhole(new Set(all.map(({ id }) => id)));
  }
  for (let skip = 0; ; skip += PAGE) {
    const page = await store.list({ limit: PAGE, skip });
    const changed = await takeIn(tables, page.toReversed());
    if (changed === 0 || page.length < PAGE) return;
  }
}

/** How many of them had said something new. */
async function takeIn({ cache, store, sleep }: FilledTables, infos: readonly SessionInfo[]): Promise<number> {
  let changed = 0;
  let logs: TakenLog[] = [];
  let messages = 0;
  const flush = async (): Promise<void> => {
    const taken = logs;
    logs = [];
    messages = 0;
    if (taken.length > 0) await cache.takeIn(taken);
  };
  for (const info of infos) {
    const taken = await cache.taken(info.id);
    if (taken?.bytes === info.bytes) continue;
    const log = await read(store, info, taken?.seq ?? 0);
    if (!log) continue;
    changed++;
    for (const part of partsOf(log, taken?.seq ?? 0)) {
      logs.push(part);
      messages += part.messages.length;
      if (messages < MESSAGES_AT_ONCE) continue;
      await flush();
      await sleep(TURN_MS);
    }
  }
  await flush();
  return changed;
}

/** A long log in several: only the last says how far it was taken in, so that whoever is killed before begins it again. */
function* partsOf(log: TakenLog, before: number): Generator<TakenLog> {
  let from = 0;
  for (; from + MESSAGES_AT_ONCE < log.messages.length; from += MESSAGES_AT_ONCE)
    yield {
      ...log,
      messages: log.messages.slice(from, from + MESSAGES_AT_ONCE),
      uses: [],
      failures: [],
      seq: before,
      bytes: NOT_ALL,
    };
  yield { ...log, messages: log.messages.slice(from) };
}

/** Undefined for a log that cannot be read; whoever opens it is told why. */
async function read(store: Store, info: SessionInfo, after: number): Promise<TakenLog | undefined> {
  const { id, cwd, createdAt, title, bytes } = info;
  const said = new SaidInLog(after);
  try {
    await each(store.read(id, after), (event) => said.add(event));
  } catch {
    return undefined;
  }
  const { messages, charges, failures, seq } = said;
  const uses = [...said.uses, ...(await usesOfAgents(store, said.agents))];
  return { id, cwd, createdAt, title, bytes, seq, messages, uses, charges, failures };
}

/** Each in a log of its own. What cannot be read is not counted. */
async function usesOfAgents(store: Store, agents: ReadonlySet<string>): Promise<LoggedToolUse[]> {
  const uses: LoggedToolUse[] = [];
  const waiting = new Set(agents);
  for (const agent of waiting) {
    const said = new SaidInLog(0);
    await each(store.read(agent, 0), (event) => said.add(event)).catch(() => undefined);
    uses.push(...said.uses.map((use) => ({ ...use, callId: `${agent}/${use.callId}` })));
    // It may have had some of its own; a set that grows is gone through to its end.
    for (const below of said.agents) waiting.add(below);
  }
  return uses;
}
