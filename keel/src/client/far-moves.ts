/** Sessions that go to a server from elsewhere, from afar. */
import type { AnswerTo, OperationQuestion } from "../protocol/operation.ts";
import type { ServerLink } from "./link.ts";

/** Each throws what the server says, and `link_lost`; each may be asked again. */
export type FarMoves = {
  offer(question: OperationQuestion<"offerMove">): Promise<AnswerTo<"offerMove">>;
  send(question: OperationQuestion<"sendMove">): Promise<AnswerTo<"sendMove">>;
  check(move: string): Promise<AnswerTo<"checkMove">>;
  take(question: OperationQuestion<"takeMove">): Promise<AnswerTo<"takeMove">>;
  void(question: OperationQuestion<"voidMove">): Promise<AnswerTo<"voidMove">>;
  /** Throws `not_moved` while it is at work. */
  release(session: string): Promise<void>;
};

export const farMoves = (link: ServerLink): FarMoves => ({
  offer: (question) => link.call("offerMove", question),
  send: (question) => link.call("sendMove", question),
  check: (move) => link.call("checkMove", { move }),
  take: (question) => link.call("takeMove", question),
  void: (question) => link.call("voidMove", question),
  release: async (session) => void (await link.call("release", { session })),
});
