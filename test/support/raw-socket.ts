/** A WebSocket as bytes, for frames that no library would send. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { headOf, knock, parseAnswer, type RawAddress, type RawAnswer, type RawRequest } from "./raw-http.ts";

export type RawFrame = {
  readonly payload?: string | Uint8Array;
  /** 1 is text, 2 binary, 0 the next piece, 8 the end, 9 a ping, 10 a pong. */
  readonly opcode?: number;
  /** False for a piece that another one follows. */
  readonly isLast?: boolean;
  /** 0x40 says that the payload is compressed. */
  readonly reserved?: number;
};

export type HeardFrame = { readonly opcode: number; readonly payload: Buffer };

export type RawWebSocket = {
  readonly socket: Socket;
  /** What the upgrade was answered with. */
  readonly answer: RawAnswer;
  send(...frames: RawFrame[]): void;
  /** Everything so far. */
  readonly heard: HeardFrame[];
  /** Resolves with a frame that fits; undefined when the connection ends before. */
  frame(fits: (frame: HeardFrame) => boolean): Promise<HeardFrame | undefined>;
  /** The code of the goodbye; undefined when the connection was cut without one. */
  readonly closed: Promise<number | undefined>;
};

export const upgradeHeaders = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": Buffer.from("keel tests, here").toString("base64"),
};

/** Resolves once the upgrade is answered, in whatever way. */
export async function rawSocket(
  address: RawAddress,
  { path, headers }: Pick<RawRequest, "path" | "headers">,
): Promise<RawWebSocket> {
  const socket = knock(address);
  socket.write(headOf({ path, headers: { ...upgradeHeaders, ...headers } }));
  const heard: HeardFrame[] = [];
  const waiting = new Set<() => void>();
  const answered = Promise.withResolvers<RawAnswer>();
  let bytes: Buffer = Buffer.alloc(0);
  let isOpen = false;
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!isOpen) {
      const end = bytes.indexOf("\r\n\r\n");
      if (end === -1) return;
      isOpen = true;
      answered.resolve(parseAnswer(bytes.subarray(0, end + 4).toString("latin1")));
      bytes = bytes.subarray(end + 4);
    }
    for (let frame = take(); frame; frame = take()) heard.push(frame);
    for (const look of waiting) look();
  });
  function take(): HeardFrame | undefined {
    const [first = 0, second = 0] = bytes;
    if (bytes.length < 2) return undefined;
    const start = second < 126 ? 2 : second === 126 ? 4 : 10;
    if (bytes.length < start) return undefined;
    const length =
      second < 126 ? second : second === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (bytes.length < start + length) return undefined;
    const payload = bytes.subarray(start, start + length);
    bytes = bytes.subarray(start + length);
    return { opcode: first & 0x0f, payload };
  }
  const closed = new Promise<number | undefined>((resolve) => {
    socket.on("close", () => {
      answered.resolve(parseAnswer(""));
      const last = heard.find(({ opcode }) => opcode === 8);
      resolve(last && last.payload.length >= 2 ? last.payload.readUInt16BE(0) : undefined);
      for (const look of waiting) look();
    });
  });
  return {
    socket,
    answer: await answered.promise,
    send: (...frames) => void socket.write(Buffer.concat(frames.map(encoded))),
    heard,
    frame: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = heard.find(fits);
          if (!found && !socket.closed) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    closed,
  };
}

/** Masked, as a client must. */
export function encoded({ payload = "", opcode = 1, isLast = true, reserved = 0 }: RawFrame): Buffer {
  const content = Buffer.from(payload);
  const mask = randomBytes(4);
  const masked = content.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([frameHead({ opcode, isLast, reserved, length: content.length }), mask, masked]);
}

/** With a length that the payload need not have. */
export function frameHead({
  opcode = 1,
  isLast = true,
  reserved = 0,
  length,
}: Omit<RawFrame, "payload"> & { readonly length: number }): Buffer {
  const first = (isLast ? 0x80 : 0) | reserved | opcode;
  if (length < 126) return Buffer.from([first, 0x80 | length]);
  if (length < 65_536) return Buffer.from([first, 0x80 | 126, length >> 8, length & 0xff]);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
