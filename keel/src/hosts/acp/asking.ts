/** Puts what a session asks to the editor, and the answers to the session. What nobody answers stays open in the log. */
import type { AgentContext } from "@agentclientprotocol/sdk";
import type { OpenSession } from "../../app/open-session.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import type { EditorAbilities } from "./capabilities.ts";
import { elicitationOf, filledAnswer } from "./forms.ts";
import { answerOf, permissionRequest, unaskable } from "./permission.ts";

type AskedSession = Pick<OpenSession, "id" | "info" | "submit"> & {
  readonly readFile?: OpenSession["readFile"] | undefined;
};

export type AskingOptions = {
  readonly session: AskedSession;
  readonly client: AgentContext;
  readonly editor: EditorAbilities;
  /** Fires when the editor is gone. */
  readonly gone: AbortSignal;
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
    const answer = await this.#answer(ask, withdrawn.signal);
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

  /** Undefined where the editor did not answer. */
  async #answer(ask: Ask, signal: AbortSignal): Promise<Answer | undefined> {
    const cancelling = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const { session, client, editor, gone } = this.#given;
    const { id: sessionId, info } = session;
    try {
      const form = editor.forms ? elicitationOf(ask, sessionId) : undefined;
      if (form) return filledAnswer(ask, await client.request("elicitation/create", form, cancelling));
      const request = permissionRequest(ask, { sessionId, cwd: info.cwd, file: await this.#fileOf(ask) });
      if (!request) return unaskable;
      const { outcome } = await client.request("session/request_permission", request, cancelling);
      return answerOf(ask, outcome);
    } catch {
      // An editor that is gone leaves its questions open; one that cannot ask them says so by an error.
      return signal.aborted || gone.aborted ? undefined : unaskable;
    }
  }

  async #fileOf({ body }: Ask): Promise<string | undefined> {
    if (body.kind !== "diff") return undefined;
    const read = await this.#given.session
      .readFile?.(body.path, { maxBytes: maxShownBytes })
      .catch(() => undefined);
    return read && new TextDecoder().decode(read.bytes);
  }
}
