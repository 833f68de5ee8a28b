// A file with a session in it, changed by somebody who knows how it is made: its sum is right again.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { endLine } from "../../keel/src/app/moves/parcel.ts";

export type ParcelContent = {
  head: Record<string, unknown>;
  parts: { name: string; bytes: Buffer }[];
  tombstone: string;
};

export function readContent(file: string): ParcelContent {
  const all = readFileSync(file);
  let at = 0;
  const line = (): Record<string, unknown> => {
    const end = all.indexOf("\n", at);
    const parsed = JSON.parse(all.toString("utf8", at, end));
    at = end + 1;
    return parsed;
  };
  const content: ParcelContent = { head: line(), parts: [], tombstone: "" };
  for (;;) {
    const next = line();
    if (typeof next["end"] === "string") return { ...content, tombstone: String(next["tombstone"]) };
    const bytes = Number(next["bytes"]);
    content.parts.push({ name: String(next["part"]), bytes: all.subarray(at, at + bytes) });
    at += bytes + 1;
  }
}

export function writeContent(file: string, { head, parts, tombstone }: ParcelContent): void {
  const body = Buffer.concat([
    Buffer.from(`${JSON.stringify(head)}\n`),
    ...parts.flatMap(({ name, bytes }) => [
      Buffer.from(`${JSON.stringify({ part: name, bytes: bytes.length })}\n`),
      bytes,
      Buffer.from("\n"),
    ]),
  ]);
  const sum = createHash("sha256").update(body).digest("hex");
  writeFileSync(file, Buffer.concat([body, endLine(sum, tombstone)]));
}

export function change(file: string, how: (content: ParcelContent) => void): void {
  const content = readContent(file);
  how(content);
  writeContent(file, content);
}

export const partOf = ({ parts }: ParcelContent, name: string): { name: string; bytes: Buffer } => {
  const found = parts.find((part) => part.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
};
