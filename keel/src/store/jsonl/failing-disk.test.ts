import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FailingFiles, failAll, failingFiles, failNth } from "../../../../test/store/failing-files.ts";
import {
  copiesOf,
  faultOf,
  foundIn,
  type Home,
  makeHome,
  readAll,
  session,
  warnings,
  writeLog,
} from "../../../../test/store/home.ts";
import { Fault } from "../../kernel/fault.ts";
import type { Log, Store } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { calls, envelopes, opened, said } from "../../testing/store-suite-events.ts";
import { nodeFiles } from "./files.ts";
import { jsonlStore } from "./store.ts";

let place: Home;
let files: FailingFiles;
let store: Store;

beforeEach(async () => {
  place = await makeHome();
  files = failingFiles(nodeFiles());
  store = jsonlStore({ home: place.home, fs: files });
});
afterEach(() => place.remove());

describe("a failing disk", () => {
  const codes = ["ENOSPC", "EIO", "EROFS", "EDQUOT", "EMFILE"];

  test.each(codes.slice(0, 2))(
    "that fails any one call with %s loses nothing that was accepted",
    async (code) => {
      for (let nth = 1; ; nth++) {
        const { remove, home, cwd } = await makeHome();
        const faulty = failingFiles(nodeFiles());
        const outcome = failNth(faulty, nth, code);
        const accepted = await tryToWrite(jsonlStore({ home, fs: faulty }), cwd);
        faulty.plan = () => undefined;
        const found = await foundIn(jsonlStore({ home }));
        expect(found.slice(0, accepted.length), `call ${nth} with ${code}`).toEqual(accepted);
        await remove();
        if (!outcome.reached) break;
      }
    },
  );

  test.each(["ENOSPC", "EIO"])(
    "that is %s for a while refuses with a reason and works again",
    async (code) => {
      const log = await store.create(session, { cwd: place.cwd });
      const events = envelopes(session, [opened(place.cwd), ...calls(4)]);
      await log.append(events.slice(0, 2));
      failAll(files, code);
      const refused = await faultOf(log.append(events.slice(2)));
      expect(refused.code).toBe("log_unwritable");
      expect(refused.message).toContain(code);
      expect(refused.detail["path"]).toBe(store.location(session));
      expect(await readAll(log.read())).toEqual(events.slice(0, 2));
      files.plan = () => undefined;
      await log.append(events.slice(2));
      await log.close();
      expect(await foundIn(store)).toEqual(events);
    },
  );

  test("that writes half and cannot even be cut back is mended before the next record", async () => {
    const log = await store.create(session, { cwd: place.cwd });
    const events = envelopes(session, [opened(place.cwd), ...calls(4)]);
    await log.append(events.slice(0, 2));
    files.plan = ({ operation }) => {
      if (operation === "write") return "short";
      return operation === "truncate" || operation === "datasync" ? "EIO" : undefined;
    };
    await faultOf(log.append(events.slice(2)));
    await faultOf(log.append(events.slice(2)));
    files.plan = () => undefined;
    expect((await stat(store.location(session) ?? "")).size).toBeGreaterThan(0);
    await log.append(events.slice(2));
    await log.close();
    expect(await foundIn(store)).toEqual(events);
  });

  test("refuses what waits behind the failed append too, and then goes on", async () => {
    const log = await store.create(session, { cwd: place.cwd });
    const events = envelopes(session, [opened(place.cwd), ...calls(4)]);
    const outcome = failNth(files, 2, "ENOSPC");
    const results = await Promise.allSettled(events.map((event) => log.append([event])));
    expect(outcome.reached).toBe(true);
    expect(results.map(({ status }) => status)).toEqual(events.map(() => "rejected"));
    await log.append(events);
    await log.close();
    expect(await foundIn(store)).toEqual(events);
  });

  test("lets an existing session be read, says at once that nothing can be kept, and goes on when it can", async () => {
    const { events } = await writeLog(store, place.cwd, 3);
    failAll(files, "ENOSPC");
    const log = await store.open(session);
    expect(await readAll(log.read())).toEqual(events);
    expect(log.notices).toEqual([
      { level: "warning", code: "log_unwritable", text: expect.stringContaining("disk is full") },
    ]);
    const more = envelopes(session, [said("later")], 3);
    expect((await faultOf(log.append(more))).code).toBe("log_unwritable");
    files.plan = () => undefined;
    await log.append(more);
    expect(log.notices).toEqual([]);
    await log.close();
    expect(await foundIn(store)).toEqual([...events, ...more]);
  });

  test("that cannot keep a copy of a torn log leaves the log as it is", async () => {
    const { file, events } = await writeLog(store, place.cwd, 3);
    const torn = (await readFile(file)).subarray(0, -9);
    await writeFile(file, torn);
    files.plan = ({ operation, path: target }) =>
      operation === "write" && target.includes(".damaged-") ? "ENOSPC" : undefined;
    const log = await store.open(session);
    expect(warnings(log.notices)).toHaveLength(2);
    expect((await faultOf(log.append(envelopes(session, calls(1), 2)))).code).toBe("log_unwritable");
    expect((await readFile(file)).equals(torn)).toBe(true);
    expect(await copiesOf(file)).toEqual([]);
    files.plan = () => undefined;
    const more = envelopes(session, calls(1), 2);
    await log.append(more);
    await log.close();
    expect(await foundIn(store)).toEqual([...events.slice(0, 2), ...more]);
    expect((await copiesOf(file))[0]?.equals(torn)).toBe(true);
  });

  test.each(codes)("that refuses a new session with %s leaves nothing of it", async (code) => {
    await writeLog(jsonlStore({ home: place.home }), place.cwd, 1);
    failAll(files, code);
    const other = "0193f0a0-0000-7000-8000-0000000000dd";
    expect((await faultOf(store.create(other, { cwd: place.cwd }))).code).toBe("log_unwritable");
    files.plan = () => undefined;
    const log = await store.create(other, { cwd: place.cwd });
    await log.close();
  });

  test("that fails any one call of a fork leaves the copy whole or not there", async () => {
    const { events } = await writeLog(store, place.cwd, 3);
    const copy = "0193f0a0-0000-7000-8000-0000000000ee";
    for (let nth = 1; ; nth++) {
      const outcome = failNth(files, nth, "EIO");
      const failed = await faultOf(store.fork(session, { id: copy }));
      files.plan = () => undefined;
      const wasCopied = store.location(copy) !== undefined;
      if (wasCopied) expect(await readAll(store.read(copy))).toHaveLength(events.length);
      else expect(failed.code, `call ${nth}`).toBe("log_unwritable");
      if (wasCopied) await store.delete(copy);
      expect(await foundIn(store)).toEqual(events);
      if (!outcome.reached) break;
    }
  });

  test("that fails any one call of a deletion lets it be done again", async () => {
    for (let nth = 1; ; nth++) {
      await writeLog(store, place.cwd, 2);
      const outcome = failNth(files, nth, "EIO");
      const failed = await faultOf(store.delete(session));
      files.plan = () => undefined;
      const isThere = store.location(session) !== undefined;
      if (isThere) expect(failed.code, `call ${nth}`).toBe("log_unwritable");
      if (isThere) await store.delete(session);
      expect(await store.list()).toEqual([]);
      if (!outcome.reached) break;
    }
  });

  test("that fails any one call of a spill leaves no half of an output", async () => {
    await writeLog(store, place.cwd, 1);
    const put = (name: string) => store.artifacts.put({ session, kind: "output", name }, "text");
    const directory = path.dirname((await put("first")).path);
    for (let nth = 1; ; nth++) {
      const outcome = failNth(files, nth, "ENOSPC");
      const failed = await faultOf(put("x"));
      files.plan = () => undefined;
      if (!outcome.reached) break;
      expect(failed.code, `call ${nth}`).toBe("log_unwritable");
      expect(await files.names(directory)).toEqual(["first"]);
    }
    expect(await files.names(directory)).toEqual(["first", "x"]);
  });
});

/** Works until something fails, as a session does; returns what was acknowledged. */
async function tryToWrite(target: Store, cwd: string): Promise<Durable[]> {
  const accepted: Durable[] = [];
  const logs: Log[] = [];
  const append = async (log: Log, events: readonly Durable[]) => {
    logs.push(log);
    for (const event of events) {
      await log.append([event]);
      accepted.push(event);
    }
    await log.close();
  };
  try {
    await append(await target.create(session, { cwd }), envelopes(session, [opened(cwd), ...calls(3)]));
    await append(await target.open(session), envelopes(session, [said("more")], accepted.length));
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Fault);
    expect(thrown).toMatchObject({ code: expect.stringMatching(/^log_un/) });
  }
  for (const log of logs) await log.close();
  return accepted;
}
