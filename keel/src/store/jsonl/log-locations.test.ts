import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, makeHome, session, writeLog } from "../../../../test/store/home.ts";
import { projectKey } from "./log-locations.ts";
import { plainName } from "./names.ts";
import { jsonlStore } from "./store.ts";

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

describe("the place of a log", () => {
  test("is a folder of the project, with the log and beside it what belongs to it", async () => {
    const store = jsonlStore({ home: place.home });
    const { file } = await writeLog(store, place.cwd, 1);
    const { path: spilled } = await store.artifacts.put(
      { session, kind: "output", name: "call-1.txt" },
      "text",
    );
    expect(file).toBe(path.join(place.home, "projects", projectKey(place.cwd), `${session}.jsonl`));
    expect(spilled).toBe(
      path.join(place.home, "projects", projectKey(place.cwd), session, "output", "call-1.txt"),
    );
  });

  test("is the same when the project is reached through a link", async () => {
    const store = jsonlStore({ home: place.home });
    const { file } = await writeLog(store, place.cwd, 1);
    const link = path.join(path.dirname(place.cwd), "link");
    await symlink(place.cwd, link);
    expect((await store.list({ cwd: link })).map(({ id }) => id)).toEqual([session]);
    expect(path.dirname(file)).toContain("-project-");
  });

  test("is known to a store that never met the session", async () => {
    const { file } = await writeLog(jsonlStore({ home: place.home }), place.cwd, 1);
    expect(jsonlStore({ home: place.home }).location(session)).toBe(file);
  });

  test("is refused when the project's folder is a link to elsewhere", async () => {
    await mkdir(path.join(place.home, "projects"), { recursive: true });
    await symlink(place.cwd, path.join(place.home, "projects", projectKey(place.cwd)));
    const store = jsonlStore({ home: place.home });
    await expect(store.create(session, { cwd: place.cwd })).rejects.toMatchObject({ code: "log_unreadable" });
  });
});

describe("the key of a project", () => {
  test("is the end of its path, and a hash that tells equal ends apart", () => {
    expect(projectKey("/home/dev/app")).toMatch(/^home-dev-app-[0-9a-f]{8}$/);
    expect(projectKey("/home/dev/app")).not.toBe(projectKey("/home/dev-app"));
    expect(projectKey(`/${"long/".repeat(100)}tail`)).toMatch(/-tail-[0-9a-f]{8}$/);
    expect(projectKey(`/${"long/".repeat(100)}tail`).length).toBeLessThan(100);
  });

  test.each(["/", "/日本", "/..", "/a b\nc"])("of %j is one plain name", (realPath) => {
    expect(projectKey(realPath)).toMatch(/^([A-Za-z0-9-]+-)?[0-9a-f]{8}$/);
  });
});

test.each([
  ["call-1.txt", "call-1.txt"],
  ["../../etc/passwd", "____etc_passwd"],
  [".hidden", "_hidden"],
  ["a\u0000b\u001b[31m\u202e", "a_b_31m_"],
  ["", "output"],
])("the plain name of %j is %s", (name, plain) => {
  expect(plainName(name)).toBe(plain);
  expect(plainName(name.repeat(500)).length).toBeLessThanOrEqual(100);
});
