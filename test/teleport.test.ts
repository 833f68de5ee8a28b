// A session that goes to another machine by a file, and back: it is at one place at any time, and nothing of it is lost.
import { existsSync, readlinkSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import { reply } from "../keel/src/testing/reply.ts";
import { verifies } from "./support/verifies.ts";
import {
  fromFile,
  git,
  logOf,
  machine,
  newFolder,
  newModel,
  newRepository,
  open,
  owns,
  put,
  say,
  toFile,
  treeHash,
} from "./teleport/stage.ts";

const stateOf = async (...at: Parameters<typeof logOf>) => (await logOf(...at)).reduce(fold, emptyState);

describe("a session in a file", () => {
  test("goes on elsewhere with its files, committed or not, and comes back with what was done there", async () => {
    verifies("S4.40");
    const model = await newModel((_, { assistantTurns }) => reply(`Answer ${assistantTurns}.`));
    const folder = newFolder();
    const [here, there] = [machine(folder, "here", model), machine(folder, "there", model)];
    newRepository(here.project);
    git(here.project, "checkout", "-q", "-b", "feature");
    put(here.project, "a.txt", "changed\n");
    put(here.project, "staged.txt", "staged\n");
    git(here.project, "add", "staged.txt");
    put(here.project, "deep/untracked.bin", Buffer.from([0, 255, 1, 254]));
    symlinkSync("a.txt", path.join(here.project, "link"));
    put(here.project, "built/ignored.txt", "ignored\n");
    const session = await say(here, undefined, "Hello");
    const file = path.join(folder, "s.keel");
    const before = treeHash(here.project);

    await toFile(here, session, file);
    await expect(open(here, session)).rejects.toMatchObject({
      code: "session_moved",
      message: expect.stringContaining(file),
    });
    await expect(here.home.sessions.label(session, { title: "x" })).rejects.toMatchObject({
      code: "session_moved",
    });
    const arrival = await fromFile(there, file);
    expect(arrival).toMatchObject({ session, state: "new", cwd: there.project });
    expect(existsSync(file)).toBe(false);
    expect(treeHash(there.project)).toBe(before);
    expect(git(there.project, "status", "--porcelain")).toBe(git(here.project, "status", "--porcelain"));
    expect(git(there.project, "symbolic-ref", "--short", "HEAD")).toBe("feature");
    expect(readlinkSync(path.join(there.project, "link"))).toBe("a.txt");
    expect(existsSync(path.join(there.project, "built"))).toBe(false);
    expect([await owns(here, session), await owns(there, session)]).toEqual([false, true]);

    await say(there, session, "Still here?");
    const told = JSON.stringify(model.requests.at(-1)?.body);
    expect(told).toContain("goes on on another machine");
    expect(told).toContain(there.project);
    put(there.project, "a.txt", "changed there\n");
    git(there.project, "commit", "-qam", "third");
    put(there.project, "new.txt", "new\n");
    await toFile(there, session, file);
    const back = await fromFile(here, file);
    expect(back.cwd).toBe(here.project);
    expect(treeHash(here.project)).toBe(treeHash(there.project));
    expect(git(here.project, "rev-parse", "feature")).toBe(git(there.project, "rev-parse", "feature"));
    expect(existsSync(path.join(here.project, "built/ignored.txt"))).toBe(true);
    await say(here, session, "And back");
    expect((await stateOf(here, session)).turns).toBe(3);
    expect([await owns(here, session), await owns(there, session)]).toEqual([true, false]);
  });
});
