/** Providers take images up to 5 MB in base64, which is a third longer than the bytes. */
export const maxImageBytes = 3_750_000;

/** Which image a file holds, by its first bytes: names lie. */
const signatures: readonly {
  readonly type: string;
  readonly starts: readonly (readonly [at: number, bytes: string])[];
}[] = [
  { type: "image/png", starts: [[0, "\x89PNG\r\n\x1a\n"]] },
  { type: "image/jpeg", starts: [[0, "\xff\xd8\xff"]] },
  { type: "image/gif", starts: [[0, "GIF87a"]] },
  { type: "image/gif", starts: [[0, "GIF89a"]] },
  {
    type: "image/webp",
    starts: [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  },
];

export function imageType(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return signatures.find(({ starts }) => starts.every(([at, part]) => start.startsWith(part, at)))?.type;
}
