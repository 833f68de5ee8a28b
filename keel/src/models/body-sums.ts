/** A body that is written in pieces and grows at its end, and the sum of its bytes: shared by the wires that have no marks. */
import type { BytesSum } from "../protocol/usage.ts";
import { RunningDigest } from "./encoding.ts";

/** Of the pieces the first `steady` stand at the same place in the next request too. */
export type WrittenBody = {
  readonly head: string;
  readonly pieces: readonly Uint8Array[];
  readonly steady: number;
};

/** What the running digest of a session has read, by the pieces themselves. */
type HashedStart = { readonly head: string; readonly pieces: Uint8Array[]; readonly digest: RunningDigest };

/** A session and some agents of it: one more makes the oldest be hashed anew when it speaks next. */
const maxHashed = 8;

/** The sum of a body: only what it adds to the start of the one before it is read. */
export function bodySums(): (session: string, body: WrittenBody) => BytesSum {
  const hashed = new Map<string, HashedStart>();
  return (session, { head, pieces, steady }) => {
    const before = hashed.get(session);
    const isSame =
      before?.head === head &&
      before.pieces.length <= steady &&
      before.pieces.every((one, at) => one === pieces[at]);
    const found = isSame ? before : { head, pieces: [], digest: new RunningDigest() };
    hashed.delete(session);
    hashed.set(session, found);
    if (hashed.size > maxHashed) hashed.delete([...hashed.keys()][0] ?? "");
    if (!isSame) found.digest.add(bytesOf(head));
    for (const piece of pieces.slice(found.pieces.length, steady)) {
      found.digest.add(piece);
      found.pieces.push(piece);
    }
    return found.digest.sumWith(pieces.slice(steady));
  };
}

export const joined = ({ head, pieces }: WrittenBody): Uint8Array =>
  Buffer.concat([bytesOf(head), ...pieces]);

export const between = (pieces: readonly Uint8Array[], mark: Uint8Array): Uint8Array[] =>
  pieces.flatMap((piece, index) => (index > 0 ? [mark, piece] : [piece]));

// Unlike a small Buffer, what it makes is no slice of a common one: what is remembered keeps alive only itself.
const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

export const comma = bytesOf(",");
