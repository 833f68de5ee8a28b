/**
 * What stands in an input as one sign and is more: a long paste, a picture, a file. The sign is of a range that nobody
 * writes; a text that has such signs itself is kept as an attachment whole, so that none of them is taken for one of ours.
 */
import type { InputBlock } from "../../../protocol/message.ts";
import { text as textBlock } from "../../../protocol/message.ts";
import { cellWidth, graphemes } from "../text/width.ts";

export type InputAttachment =
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "image"; readonly name: string; readonly mediaType: string; readonly data: string };

export type Attachments = readonly InputAttachment[];

export const noAttachments: Attachments = [];

const firstSign = 0x10_f000;
const maxSigns = 0x400;
const ours = /[\u{10f000}-\u{10f3ff}]/u;

/** From here on a paste is shown by its size and not by its text. */
const longLines = 8;
const longCharacters = 800;

export const isLong = (text: string): boolean =>
  text.length > longCharacters || text.split("\n", longLines + 1).length > longLines || ours.test(text);

export function attach(
  before: Attachments,
  attachment: InputAttachment,
): { attachments: Attachments; sign: string } {
  // When all signs are taken the last one is used again: nobody attaches a thousand things to one input.
  const at = Math.min(before.length, maxSigns - 1);
  return {
    attachments: [...before.slice(0, at), attachment],
    sign: String.fromCodePoint(firstSign + at),
  };
}

export function attachmentOf(attachments: Attachments, sign: string): InputAttachment | undefined {
  const code = sign.codePointAt(0) ?? 0;
  return code >= firstSign ? attachments[code - firstSign] : undefined;
}

/** What is seen in place of the sign. */
export function sayAttachment(attachment: InputAttachment, place: number): string {
  if (attachment.kind === "image")
    return `[Image ${place}: ${attachment.name}, ${sayBytes((attachment.data.length * 3) / 4)}]`;
  const lines = attachment.text.split("\n").length;
  return lines > 1
    ? `[Pasted text ${place}: ${lines.toLocaleString("en-US")} lines]`
    : `[Pasted text ${place}: ${attachment.text.length.toLocaleString("en-US")} characters]`;
}

const sayBytes = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

export function shownSign(attachments: Attachments, sign: string): string {
  const found = attachmentOf(attachments, sign);
  return found ? sayAttachment(found, (sign.codePointAt(0) ?? 0) - firstSign + 1) : sign;
}

export const widthOfSign =
  (attachments: Attachments) =>
  (sign: string): number =>
    ours.test(sign) ? cellWidth(shownSign(attachments, sign)) : cellWidth(sign);

/** The text as the session gets it: pastes in full, pictures as blocks where they stood. */
export function blocksOf(text: string, attachments: Attachments): InputBlock[] {
  const blocks: InputBlock[] = [];
  let words = "";
  const endWords = (): void => {
    if (words !== "") blocks.push(textBlock(words));
    words = "";
  };
  for (const part of splitAtSigns(text)) {
    const found = attachmentOf(attachments, part);
    if (found?.kind === "image") {
      endWords();
      blocks.push({ type: "image", mediaType: found.mediaType, data: found.data });
    } else words += found ? found.text : part;
  }
  endWords();
  return blocks;
}

/** The text with its pastes in full, for a history and for an editor; a picture is named. */
export function expanded(text: string, attachments: Attachments): string {
  return splitAtSigns(text)
    .map((part) => {
      const found = attachmentOf(attachments, part);
      return found?.kind === "paste" ? found.text : shownSign(attachments, part);
    })
    .join("");
}

const splitAtSigns = (text: string): string[] => text.split(/([\u{10f000}-\u{10f3ff}])/u).filter(Boolean);

/** The text as it is seen. */
export const shownText = (text: string, attachments: Attachments): string =>
  ours.test(text)
    ? graphemes(text)
        .map((sign) => shownSign(attachments, sign))
        .join("")
    : text;
