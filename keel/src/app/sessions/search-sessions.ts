/**
 * Looks for words in what people and models said: in the tables of conversations where they hold all of it, else session by
 * session, the newest change first. Logs are read as they are: whoever looks waits a moment at most, and is told where that
 * was not enough; the tables are made meanwhile, for the next one.
 */
import { oneLine } from "../../kernel/text.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Conversations, FoundMessage } from "../../ports/conversations.ts";
import { saidIn } from "./said-in.ts";
import type { Sessions, StoredSession } from "./sessions.ts";

export type FoundWords = {
  readonly session: string;
  readonly title?: string | undefined;
  readonly firstInput?: string | undefined;
  readonly cwd: string;
  readonly at: number;
  /** The row of the transcript that has them; left out where they are in the title. */
  readonly row?: string | undefined;
  readonly by: "title" | "person" | "agent";
  readonly excerpt: string;
};

export type SessionSearch = {
  readonly words: string;
  readonly limit?: number | undefined;
};

/** Places in one answer: who wants more says more. */
const maxFound = 50;

/** Longer than this nobody waits for a list that grows while they type. */
const searchMs = 2_000;
/** Of one session; the rest is found in it. */
const mostOfSession = 5;
const around = 60;

type FoundInSessions = { readonly found: FoundWords[]; readonly more: boolean };

/** Tables that follow the logs of the home. */
type FollowingTables = Pick<Conversations, "search"> & {
  isWhole(): Promise<boolean>;
  refresh(): Promise<void>;
};

export async function searchHome(
  home: {
    readonly sessions: Pick<Sessions, "list" | "read" | "location">;
    readonly clock: Pick<Clock, "now">;
    conversations(): Promise<FollowingTables>;
  },
  wanted: SessionSearch,
): Promise<FoundInSessions> {
  const tables = await home.conversations();
  if (await tables.isWhole().catch(() => false)) {
    const { words, limit = maxFound } = wanted;
    const most = Math.max(1, Math.min(limit, maxFound));
    const found = await tables.search({ words, limit: most * mostOfSession });
    return boundOf(
      found.filter(({ conversation }) => home.sessions.location(conversation)).map(wordsOf),
      most,
    );
  }
  void tables.refresh().catch(() => undefined);
  return searchSessions(home.sessions, wanted, home.clock);
}

/** Not all of one session: the rest is found in it. */
function boundOf(all: readonly FoundWords[], most: number): FoundInSessions {
  const counts = new Map<string, number>();
  const found = all.filter(({ session }) => {
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    return count <= mostOfSession;
  });
  return { found: found.slice(0, most), more: found.length > most };
}

const sayers = { title: "title", user: "person", assistant: "agent" } as const;

const wordsOf = ({ conversation, title, cwd, at, message, role, excerpt }: FoundMessage): FoundWords => ({
  session: conversation,
  title,
  cwd,
  at,
  row: message,
  by: sayers[role],
  excerpt,
});

export async function searchSessions(
  sessions: Pick<Sessions, "list" | "read">,
  { words, limit = maxFound }: SessionSearch,
  { now }: Pick<Clock, "now">,
): Promise<FoundInSessions> {
  const wanted = words.trim().toLowerCase();
  const found: FoundWords[] = [];
  if (wanted === "") return { found, more: false };
  const most = Math.max(1, Math.min(limit, maxFound));
  const until = now() + searchMs;
  for (const session of await sessions.list({})) {
    if (now() > until) return { found, more: true };
    let left = mostOfSession;
    for await (const one of wordsIn(session, sessions, wanted)) {
      if (found.length === most) return { found, more: true };
      found.push(one);
      left -= 1;
      if (left === 0 || now() > until) break;
    }
  }
  return { found, more: false };
}

async function* wordsIn(
  { id, title, firstInput, cwd, changedAt }: StoredSession,
  sessions: Pick<Sessions, "read">,
  wanted: string,
): AsyncGenerator<FoundWords, void> {
  const about = { session: id, title, firstInput, cwd };
  const inTitle = title === undefined ? undefined : excerptOf(title, wanted);
  if (inTitle !== undefined) yield { ...about, at: changedAt, by: "title", excerpt: inTitle };
  try {
    for await (const event of sessions.read(id))
      for (const { row, by, text } of saidIn(event)) {
        const excerpt = excerptOf(text, wanted);
        if (excerpt !== undefined) yield { ...about, at: event.at, row, by, excerpt };
      }
  } catch {
    // A log that cannot be read has nothing to find; whoever opens it is told why.
  }
}

/** The words with a little of what stands around them, as one line. */
function excerptOf(text: string, wanted: string): string | undefined {
  const at = text.toLowerCase().indexOf(wanted);
  if (at === -1) return undefined;
  const from = Math.max(0, at - around);
  const to = Math.min(text.length, at + wanted.length + around);
  return `${from > 0 ? "…" : ""}${oneLine(text.slice(from, to)).trim()}${to < text.length ? "…" : ""}`;
}
