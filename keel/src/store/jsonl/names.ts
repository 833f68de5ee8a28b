/** Names that become files and keys: ids of sessions, any UUID in one spelling, and whatever is kept beside a log. */
import { fault } from "../../kernel/fault.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_SHOWN = 200;

/** Throws `session_invalid_id`; called before any path or key is made of an id. */
export function sessionId(id: string): string {
  const lower = id.toLowerCase();
  if (!isSessionId(lower)) throw fault("session_invalid_id", { session: id.slice(0, MAX_SHOWN) });
  return lower;
}

/** True for the spelling that `sessionId` returns. */
export const isSessionId = (text: string): boolean => UUID.test(text);

/** Makes one plain file name of any text: no directory, no leading dot, nothing that a terminal reads as more. */
export function plainName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/\.{2,}|^\./g, "_");
  return plain.slice(0, MAX_CHARACTERS) || "output";
}

const MAX_CHARACTERS = 100;
const MAX_OF_ONE_NAME = 10_000;

/** The name itself, then others like it, for whoever finds it taken. */
export function* namesLike(name: string): Generator<string, never> {
  const plain = plainName(name);
  yield plain;
  const dot = plain.lastIndexOf(".");
  const end = dot > 0 ? dot : plain.length;
  for (let number = 2; number <= MAX_OF_ONE_NAME; number++)
    yield `${plain.slice(0, end)}-${number}${plain.slice(end)}`;
  throw new Error(`there are ${MAX_OF_ONE_NAME} outputs of this name already`);
}
