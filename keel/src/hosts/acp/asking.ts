/** Puts what a session asks to the editor, and the answers to the session. What nobody answers stays open in the log. */
import type { OpenSession } from "../../app/open-session.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import { elicitationOf, filledAnswer } from "./forms.ts";
import { answerOf, unaskable } from "./permission.ts";
import type { EditorWire } from "./wire.ts";
import type { Wording } from "./wording.ts";

type AskedSession = Pick<OpenSession, "id" | "info" | "submit"> & {
  readonly readFile?: OpenSession["readFile"] | undefined;
};

export type AskingOptions = {
  readonly session: AskedSession;
  readonly wire: EditorWire;
  readonly wording: Pick<Wording, "permission">;
};

/** A file that is shown whole with a question; of a longer one the changed parts are. */
const maxShownBytes = 1024 * 1024;

export class Asking {
  readonly #given: AskingOptions;
  readonly #open = new Map<string, AbortController>();

  constructor(given: AskingOptions) {
    this.#given = given;
  }

  /** Never throws. An ask that the editor has before it is not put to it again. */
  async open(ask: Ask): Promise<void> {
    if (this.#open.has(ask.id)) return;
    const withdrawn = new AbortController();
    this.#open.set(ask.id, withdrawn);
    const answer = await this.#answer(ask, withdrawn.signal).catch(() => unaskable);
    // Answered elsewhere meanwhile, or the editor is gone: nothing is said in the person's name.
    if (!this.#open.delete(ask.id) || !answer) return;
    const by = answer === unaskable ? { by: "no-host" as const } : {};
    await this.#given.session.submit({ type: "answer", askId: ask.id, answer, ...by }).catch(() => undefined);
  }

  /** Somebody else has answered it, or nobody will. */
  close(askId: string): void {
    const withdrawn = this.#open.get(askId);
    this.#open.delete(askId);
    withdrawn?.abort();
  }

  /** Undefined where the editor is gone: it leaves its questions open. One that cannot ask says so by an error. */
  async #answer(ask: Ask, signal: AbortSignal): Promise<Answer | undefined> {
    const { session, wire } = this.#given;
    const { id: sessionId, info } = session;
    const form = wire.can.forms ? elicitationOf(ask, sessionId) : undefined;
    const asked = form
      ? { method: "elicitation/create", params: form, read: filledAnswer }
      : await this.#permission(ask, { sessionId, cwd: info.cwd });
    if (!asked) return unaskable;
    if (signal.aborted) return undefined;
    const answer = await wire.request(asked.method, asked.params, signal);
    if (answer.ok) return asked.read(ask, answer.result);
    return answer.isClosed || signal.aborted ? undefined : unaskable;
  }

  async #permission(ask: Ask, place: { sessionId: string; cwd: string }) {
    const params = this.#given.wording.permission(ask, { ...place, file: await this.#fileOf(ask) });
    return params && { method: "session/request_permission", params, read: answerOf };
  }

  async #fileOf({ body }: Ask): Promise<string | undefined> {
    if (body.kind !== "diff") return undefined;
    const read = await this.#given.session
      .readFile?.(body.path, { maxBytes: maxShownBytes })
      .catch(() => undefined);
    return read && new TextDecoder().decode(read.bytes);
  }
}
