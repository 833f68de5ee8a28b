import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { Output } from "./output.ts";

test("drained waits for a reader of any speed", async () => {
  const pipe = new PassThrough({ highWaterMark: 16 });
  const out = new Output(pipe);
  out.write("x".repeat(10_000));
  let isDrained = false;
  const drained = out.drained().then(() => {
    isDrained = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDrained).toBe(false);
  let bytes = 0;
  pipe.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await drained;
  expect(bytes).toBe(10_000);
});

test("a reader that goes away is told once, and nothing throws afterwards", async () => {
  const gone = new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error("EPIPE"), { code: "EPIPE" }));
    },
  });
  const out = new Output(gone);
  out.line("into the void");
  await out.closed;
  expect(out.isClosed).toBe(true);
  out.line("still nothing");
  expect(out.waitingBytes).toBe(0);
  await out.drained();
});
