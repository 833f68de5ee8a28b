/** Conversations that are kept in memory, for hosts that are tested without a home. */
import { fault } from "../kernel/fault.ts";
import { oneLine, shorten } from "../kernel/text.ts";
import type {
  ConversationMessage,
  Conversations,
  FoundMessage,
  LoggedToolUse,
  StoredConversation,
} from "../ports/conversations.ts";
import { textOf } from "../protocol/message.ts";
import type { CountedCall } from "../protocol/outcome.ts";
import { titleOf } from "../protocol/title.ts";

type HeldConversation = {
  readonly id: string;
  readonly cwd: string;
  readonly createdAt: number;
  given: string | undefined;
  session: string | undefined;
  updatedAt: number;
  readonly messages: Map<string, ConversationMessage>;
  readonly uses: Map<string, LoggedToolUse>;
};

export function memoryConversations(): Conversations {
  const all = new Map<string, HeldConversation>();
  const find = (id: string): HeldConversation => {
    const kept = all.get(id);
    if (!kept) throw fault("session_unknown", { session: id });
    return kept;
  };
  return {
    async create({ id, cwd, at, title }) {
      const kept = all.get(id) ?? {
        id,
        cwd,
        createdAt: at,
        updatedAt: at,
        given: title,
        session: undefined,
        messages: new Map(),
        uses: new Map(),
      };
      all.set(id, kept);
      return shown(kept);
    },
    async list({ cwd, limit = Number.POSITIVE_INFINITY, after } = {}) {
      const rows = [...all.values()]
        .filter((one) => cwd === undefined || one.cwd === cwd)
        .sort(newestFirst)
        .filter((one) => after === undefined || newestFirst(one, after) > 0);
      const conversations = rows.slice(0, limit).map(shown);
      const last = conversations.at(-1);
      return rows.length > conversations.length && last
        ? { conversations, next: { updatedAt: last.updatedAt, id: last.id } }
        : { conversations };
    },
    async load(id) {
      const kept = find(id);
      return { conversation: shown(kept), messages: [...kept.messages.values()] };
    },
    async rename(id, title) {
      find(id).given = title;
    },
    async delete(id) {
      find(id);
      all.delete(id);
    },
    async addMessage(id, message) {
      const kept = find(id);
      if (kept.messages.has(message.id)) return;
      kept.messages.set(message.id, message);
      kept.updatedAt = Math.max(kept.updatedAt, message.at);
    },
    async saveSession(id, session) {
      find(id).session = session;
    },
    async logToolUse(id, use) {
      find(id).uses.set(use.callId, use);
    },
    toolUses: async (id) => [...find(id).uses.values()],
    async calls({ id, cwd, since = 0 }) {
      return [...all.values()]
        .filter((one) => (id === undefined || one.id === id) && (cwd === undefined || one.cwd === cwd))
        .flatMap((one) => [...one.uses.values()].map((use) => counted(one, use)))
        .filter(({ at }) => at >= since)
        .sort((left, right) => left.at - right.at);
    },
    async search({ words, limit = 50 }) {
      const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
      if (wanted.length === 0) return [];
      return [...all.values()]
        .sort(newestFirst)
        .flatMap((kept) => placesIn(kept, wanted))
        .slice(0, limit);
    },
  };
}

type Placed = Pick<StoredConversation, "updatedAt" | "id">;

const newestFirst = (left: Placed, right: Placed): number =>
  right.updatedAt - left.updatedAt || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);

function shown({
  id,
  cwd,
  createdAt,
  updatedAt,
  given,
  session,
  messages,
}: HeldConversation): StoredConversation {
  const said = [...messages.values()];
  const first = (role: ConversationMessage["role"]): string =>
    textOf([...(said.find((message) => message.role === role)?.content ?? [])]);
  const title = given ?? titleOf({ said: first("user"), answered: first("assistant") });
  const base = { id, title, cwd, createdAt, updatedAt, messages: said.length, log: "there" as const };
  return session === undefined ? base : { ...base, session };
}

function placesIn(kept: HeldConversation, wanted: readonly string[]): FoundMessage[] {
  const { title, updatedAt } = shown(kept);
  const about = { conversation: kept.id, title, cwd: kept.cwd };
  const has = (text: string): boolean => wanted.every((word) => text.toLowerCase().includes(word));
  const line = (text: string): string => oneLine(shorten(text.replace(/\s+/g, " "), 120));
  const inTitle: FoundMessage[] = has(title)
    ? [{ ...about, role: "title", at: updatedAt, excerpt: line(title) }]
    : [];
  const inMessages = [...kept.messages.values()].flatMap(({ id, role, content, at }): FoundMessage[] => {
    const text = textOf([...content]);
    return has(text) ? [{ ...about, message: id, role, at, excerpt: line(text) }] : [];
  });
  return [...inTitle, ...inMessages];
}

function counted({ id, cwd }: HeldConversation, use: LoggedToolUse): CountedCall {
  const { tool, at, ms, outcome, by, input } = use;
  const inputBytes = new TextEncoder().encode(JSON.stringify(input)).length;
  return { tool, session: id, cwd, at, ms, outcome, ...(by === undefined ? {} : { by }), inputBytes };
}
