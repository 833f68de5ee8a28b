import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { Output } from "../output.ts";
import { readPrompt } from "./prompt.ts";

describe("the prompt", () => {
  test("a terminal is not read", async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    expect(await readPrompt(["hello", "there"], contextOf(input))).toBe("hello there");
  });

  test("characters that are cut by the pipe are whole again", async () => {
    const input = new PassThrough();
    const bytes = Buffer.from("Grüße 世界");
    const read = readPrompt([], contextOf(input));
    for (const byte of bytes) input.write(Buffer.from([byte]));
    input.end();
    expect(await read).toBe("Grüße 世界");
  });

  test("nothing at all is no prompt", async () => {
    const input = new PassThrough();
    input.end(" \n");
    expect(await readPrompt([" "], contextOf(input))).toBeUndefined();
  });

  test("with words given, an input that stays open and silent does not hang it", async () => {
    const said: string[] = [];
    const context = contextOf(new PassThrough(), (words) => said.push(words));
    expect(await readPrompt(["go"], context, 20)).toBe("go");
    expect(said.join("")).toContain("nothing came on standard input");
  });

  test("an input that breaks is an ended one, and one that never stops is refused", async () => {
    const broken = new PassThrough();
    const read = readPrompt([], contextOf(broken));
    broken.write("so far");
    broken.once("resume", () => undefined);
    setImmediate(() => broken.destroy(new Error("EIO")));
    expect(await read).toBe("so far");
    const endless = new PassThrough();
    const refused = readPrompt([], contextOf(endless));
    const megabyte = Buffer.alloc(1024 * 1024, 0x61);
    const feed = () => {
      if (!endless.writableEnded && endless.write(megabyte)) setImmediate(feed);
      else endless.once("drain", feed);
    };
    feed();
    await expect(refused).rejects.toMatchObject({ code: "usage" });
    endless.destroy();
  });
});

function contextOf(input: PassThrough, say: (words: string) => void = () => undefined) {
  const err = new PassThrough();
  err.on("data", (chunk: Buffer) => say(chunk.toString()));
  return { input, err: new Output(err) };
}
