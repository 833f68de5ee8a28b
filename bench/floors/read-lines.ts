/** A log read in large pieces, cut at line ends, each line through `JSON.parse` and let go: no check, no order. */
import { open } from "node:fs/promises";
import { runProgram } from "../program.ts";

const lineEnd = 0x0a;
const pieceBytes = 2 ** 20;

await runProgram(async ({ file }: { file: string }) => {
  const startedAt = performance.now();
  await using handle = await open(file, "r");
  const piece = Buffer.allocUnsafeSlow(pieceBytes);
  let rest = Buffer.alloc(0);
  let events = 0;
  for (;;) {
    const { bytesRead } = await handle.read(piece, 0, pieceBytes);
    if (bytesRead === 0) break;
    const bytes = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
    let from = 0;
    for (let end = bytes.indexOf(lineEnd); end !== -1; end = bytes.indexOf(lineEnd, from)) {
      const record: { seq?: number } = JSON.parse(bytes.toString("utf8", from, end));
      if (record.seq !== undefined) events += 1;
      from = end + 1;
    }
    rest = bytes.subarray(from);
  }
  return { ms: performance.now() - startedAt, events };
});
