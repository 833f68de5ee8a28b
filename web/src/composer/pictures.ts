/** What was pasted, dropped or chosen, as a message carries it: an image as one, a text file as its words. */
import type { InputBlock } from "keel/protocol";
import { words } from "../words.ts";

export type Picture = Extract<InputBlock, { type: "image" }>;

/** What every provider takes. */
const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const maxBytes = 5 * 1024 * 1024;

/** Of words, which stand in the message itself. */
const maxTextBytes = 200 * 1024;

/** Those that come as files; text that is pasted goes its usual way. */
export const filesIn = (data: DataTransfer | null): File[] => [...(data?.files ?? [])];

export type TakenFiles = {
  readonly pictures: readonly Picture[];
  /** The text files, each with its name, as they stand in a message. */
  readonly text: string;
  /** Sentences about what cannot be sent. */
  readonly problem: string;
};

export async function takeFiles(files: readonly File[]): Promise<TakenFiles> {
  const isPicture = ({ type }: File): boolean => type.startsWith("image/");
  const read = await Promise.all(files.filter(isPicture).map(readPicture));
  const texts = await Promise.all(files.filter((file) => !isPicture(file)).map(readText));
  const problems = [
    ...read.filter((one) => typeof one === "string"),
    ...texts.flatMap(({ problem }) => problem ?? []),
  ];
  return {
    pictures: read.filter((one) => typeof one !== "string"),
    text: texts.flatMap(({ text }) => text ?? []).join("\n\n"),
    problem: problems.join(" "),
  };
}

async function readText(file: File): Promise<{ readonly text?: string; readonly problem?: string }> {
  if (file.size > maxTextBytes) return { problem: words.composer.tooLongFile(file.name) };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes("\0")) return { problem: words.composer.notText(file.name) };
    const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
    return { text: `${file.name}:\n${fence}\n${text.trimEnd()}\n${fence}` };
  } catch {
    return { problem: words.composer.notText(file.name) };
  }
}

/** A sentence where it cannot be sent. */
async function readPicture(file: File): Promise<Picture | string> {
  if (!kinds.includes(file.type)) return words.composer.notAPicture(file.name);
  if (file.size > maxBytes) return words.composer.tooLarge(file.name);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { type: "image", mediaType: file.type, data: btoa(binary) };
}
