/**
 * A file's stamp is a digest of its content. A time cannot do it: clocks tick in milliseconds, and two writes of one
 * size fit into a tick. And a digest says no more than is true: a file that was touched, checked out again or copied
 * to another machine is still the file that was read, and a log stays the same from run to run.
 */
import { hash } from "node:crypto";

export function stampOf(bytes: Uint8Array): string {
  return `${bytes.length}-${hash("sha256", bytes, "base64url").slice(0, 22)}`;
}
