/** Session ids: any UUID, in the one spelling that names files and keys. */
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
