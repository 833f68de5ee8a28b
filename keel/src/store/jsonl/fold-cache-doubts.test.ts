import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { otherSession, session } from "../../../../test/store/home.ts";
import { changeByte, type KeptStage, keeping, makeKeptStage } from "../../../../test/store/kept-log.ts";
import { randomOf } from "../../../../test/store/random.ts";
import { seed } from "../../../../test/support/budget.ts";
import { encodeHeader } from "./line.ts";

let stage: KeptStage;
beforeEach(async () => {
  stage = await makeKeptStage();
});
afterEach(() => stage.remove());

describe("what was kept counts for nothing", () => {
  test("to another build", async () => {
    await stage.keepLog();
    expect(
      await stage.recalled(stage.storeOf({ keeping: { ...keeping, build: "that build" } })),
    ).toBeUndefined();
    expect(await stage.recalled(stage.storeOf({ keeping: undefined }))).toBeUndefined();
    expect(await stage.recalled()).toBeDefined();
  });

  test("for another session, and in another form", async () => {
    const { kept } = await stage.keepLog();
    const [head = "", ...rest] = (await readFile(kept, "utf8")).split("\n");
    for (const wrong of [
      "",
      "\n",
      "null",
      "[]",
      "{}",
      head.replace(session, otherSession),
      head.slice(0, -1),
    ]) {
      await writeFile(kept, [wrong, ...rest].join("\n"));
      expect(await stage.recalled(), wrong).toBeUndefined();
    }
  });

  test("when the log lost its end, has another one, or a header of a format to come behind it", async () => {
    const { file, kept } = await stage.keepLog();
    const [log, fold] = [await readFile(file), await readFile(kept)];
    const header = encodeHeader({ session, cwd: stage.cwd, at: 1 });
    const changes: (() => Promise<void>)[] = [
      () => truncate(file, log.length - 1),
      () => appendFile(file, "{"),
      () => appendFile(file, "no record\n"),
      () => appendFile(file, log.subarray(log.lastIndexOf("\n", -2) + 1)),
      () => appendFile(file, header),
    ];
    for (const [at, change] of changes.entries()) {
      await Promise.all([writeFile(file, log), writeFile(kept, fold)]);
      await change();
      await stage.withLog(async (open) => {
        expect(open.cachedFold?.(), `change ${at}`).toBeUndefined();
        expect(open.lastSeq).toBe(8);
      });
    }
  });

  test("when the log was changed by hand, and then it is removed: what was taken out stands nowhere", async () => {
    const { file, kept } = await stage.keepLog();
    await changeByte(file, 300);
    expect(
      await stage.recalled(stage.storeOf({ keeping: { ...keeping, build: "that build" } })),
    ).toBeUndefined();
    expect(await stage.names()).toContain(path.basename(kept));
    expect(await stage.recalled()).toBeUndefined();
    expect(await stage.names()).not.toContain(path.basename(kept));
  });

  test("when a byte of it or of the log is another, or missing", async () => {
    const { file, kept } = await stage.keepLog();
    const random = randomOf(seed());
    const original = new Map([
      [file, await readFile(file)],
      [kept, await readFile(kept)],
    ]);
    const heading = (original.get(kept) ?? Buffer.alloc(0)).indexOf("\n");
    for (let run = 0; run < 200 + heading; run++) {
      // Each byte of what it says of itself, and any of the rest.
      const [name, bytes] = run < heading ? [kept, Buffer.alloc(0)] : random.pick([...original]);
      const at = run < heading ? run : random.below(bytes.length);
      for (const [each, content] of original) await writeFile(each, content);
      if (run % 4 === 0 && run >= heading) await truncate(name, at);
      else await changeByte(name, at, 1 + random.below(run < heading ? 15 : 255));
      expect(
        await stage.recalled(),
        `seed ${seed()}, run ${run}: ${path.extname(name)} at ${at}`,
      ).toBeUndefined();
    }
  });
});
