/** The conversations of a desktop: those of its folder, in the tables of the home, each with the session that it is. */
import type { Home } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { ConversationMessage, StoredConversation } from "../../ports/conversations.ts";

export class ConversationList {
  readonly #home: Home;
  readonly #cwd: string;
  /** Those that began here and may have said nothing yet. */
  readonly #begun = new Set<string>();

  constructor(home: Home, cwd: string) {
    this.#home = home;
    this.#cwd = cwd;
  }

  /** Known from now on; its first message makes its log. */
  begin(id: string): void {
    this.#begun.add(id);
  }

  async create(id: string): Promise<StoredConversation> {
    this.begin(id);
    const tables = await this.#home.conversations();
    return tables.create({ id, cwd: this.#cwd, at: this.#home.clock.now() });
  }

  /** Throws `session_unknown`. */
  async load(id: string) {
    const tables = await this.#fresh();
    return tables.load(id);
  }

  /** The newest change first. */
  async list(limit?: number): Promise<readonly StoredConversation[]> {
    const tables = await this.#fresh();
    return (await tables.list({ cwd: this.#cwd, limit })).conversations;
  }

  /** Throws `session_unknown`. */
  async delete(id: string): Promise<void> {
    const { sessions } = this.#home;
    this.#begun.delete(id);
    if (sessions.location(id) !== undefined) return sessions.delete(id);
    const tables = await this.#home.conversations();
    await tables.delete(id);
  }

  /** Whether nothing was said in it. Throws `session_unknown`. */
  async isEmpty(id: string): Promise<boolean> {
    if (this.#home.sessions.location(id) !== undefined) return false;
    return this.#begun.has(id) || (await this.load(id)).messages.length === 0;
  }

  /** Throws `session_unknown`. */
  async choiceOf(id: string): Promise<OpenOptions["which"]> {
    return (await this.isEmpty(id)) ? { kind: "new", id } : { kind: "resume", from: { session: id } };
  }

  /** With what was said a moment ago. */
  async #fresh() {
    const tables = await this.#home.conversations();
    await tables.refresh();
    return tables;
  }
}

export const conversationJson = (conversation: StoredConversation): JsonObject => {
  const { id, title, createdAt, updatedAt, messages, session, log } = conversation;
  return {
    id,
    title,
    created_at: createdAt,
    updated_at: updatedAt,
    message_count: messages,
    ...(session === undefined ? {} : { session_id: session }),
    log,
  };
};

export const messageJson = ({ id, role, content, at }: ConversationMessage): JsonObject => {
  const images = content.flatMap((part) =>
    part.type === "image" ? [{ mime_type: part.mediaType, data: part.data }] : [],
  );
  const words = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { id, role, content: words.join("\n"), ...(images.length > 0 ? { images } : {}), timestamp: at };
};
