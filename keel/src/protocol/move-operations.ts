/**
 * What may be asked of a server about sessions that come to it from another machine: rows of the table of operations. A
 * move is offered, sent in pieces, checked, and taken only when the session has left where it was; a move that is void is
 * never taken. Each may be asked again.
 */
import * as z from "zod/mini";

const text = z.string();
const opt = z.optional;
const ofMove = { move: z.uuid() };

/** Of one piece, before it is written as text. */
export const maxPieceBytes = 1024 * 1024;

const stateSchema = z.enum(["open", "taken", "void"]);

export const moveOperations = {
  offerMove: {
    says: "Offers a session that is to go on here; `have` is how much of it is here already",
    method: "POST",
    path: "/api/moves",
    access: "work",
    question: z.object({
      ...ofMove,
      session: z.uuid(),
      bytes: z.int().check(z.minimum(0)),
      /** Where it is to go on; where it was here before when left out. */
      folder: opt(text),
    }),
    answer: z.object({ home: text, have: z.number(), state: stateSchema }),
  },
  sendMove: {
    says: "A piece of an offered session, in base64, for the place where the last one ended",
    method: "POST",
    path: "/api/moves/{move}/pieces",
    access: "work",
    question: z.object({
      ...ofMove,
      at: z.int().check(z.minimum(0)),
      data: text.check(z.maxLength(2 * maxPieceBytes)),
    }),
    answer: z.object({ have: z.number() }),
  },
  checkMove: {
    says: "Whether a session that was sent could be taken in; nothing is changed",
    method: "POST",
    path: "/api/moves/{move}/check",
    access: "work",
    question: z.object(ofMove),
    answer: z.object({ cwd: text }),
  },
  takeMove: {
    says: "Takes a session in, which has left where it was: `tombstone` is the record of its log that says so",
    method: "POST",
    path: "/api/moves/{move}/take",
    access: "work",
    question: z.object({ ...ofMove, tombstone: text }),
    answer: z.object({ session: text, cwd: text, notices: z.readonly(z.array(text)) }),
  },
  voidMove: {
    says: "Never to be taken: the session stays where it is. Says how the move is settled",
    method: "DELETE",
    path: "/api/moves/{move}",
    access: "work",
    question: z.object({ ...ofMove, session: z.uuid() }),
    answer: z.object({ state: stateSchema }),
  },
  release: {
    says: "Lets go of a session that rests or waits for an answer, so that another process may have it",
    method: "POST",
    path: "/api/sessions/{session}/release",
    access: "work",
    question: z.object({ session: text }),
    answer: z.object({}),
  },
} as const;
export type MoveOperation = keyof typeof moveOperations;
