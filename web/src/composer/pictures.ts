/** Images that were pasted, dropped or chosen, as a message carries them. */
import type { InputBlock } from "keel/protocol";
import { words } from "../words.ts";

export type Picture = Extract<InputBlock, { type: "image" }>;

/** What every provider takes. */
const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const maxBytes = 5 * 1024 * 1024;

export const picturesIn = (data: DataTransfer | null): File[] =>
  [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));

/** A sentence where it cannot be sent. */
export async function readPicture(file: File): Promise<Picture | string> {
  if (!kinds.includes(file.type)) return words.composer.notAPicture(file.name);
  if (file.size > maxBytes) return words.composer.tooLarge(file.name);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { type: "image", mediaType: file.type, data: btoa(binary) };
}
