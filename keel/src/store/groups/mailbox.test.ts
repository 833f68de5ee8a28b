import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { FolderMailbox } from "./mailbox.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "keel-mailbox-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const texts = async (box: FolderMailbox): Promise<unknown[]> =>
  (await box.letters()).letters.map(({ body }) => body["text"]);

test("letters come in their order, and stay until they are removed", async () => {
  verifies("S2.51");
  const box = new FolderMailbox(folder);
  for (let at = 0; at < 20; at++)
    await box.post({ text: at }, { at: 1_790_000_000_000 + Math.floor(at / 5), name: `../m${at}` });
  expect(await texts(box)).toEqual(Array.from({ length: 20 }, (_, at) => at));
  const [first] = (await box.letters()).letters;
  if (first) await box.remove(first);
  expect(await texts(new FolderMailbox(folder))).toHaveLength(19);
});

test("non-atomic writes, seed 002: whoever looks all the time never sees half a letter", async () => {
  verifies("S2.51");
  const box = new FolderMailbox(folder);
  const text = "x".repeat(400_000);
  const state = { isDone: false };
  const posting = (async () => {
    for (let at = 0; at < 20; at++) await box.post({ text }, { at, name: `m${at}` });
    state.isDone = true;
  })();
  const reader = new FolderMailbox(folder);
  while (!state.isDone)
    for (const { body } of (await reader.letters()).letters)
      expect(String(body["text"]).length).toBe(text.length);
  await posting;
  expect(readdirSync(folder)).not.toContain("bad");
});

test("what is no letter is set aside: half JSON, links to elsewhere, what is far too large, folders", async () => {
  verifies("S2.51");
  const box = new FolderMailbox(folder);
  const outside = path.join(folder, "..", `${path.basename(folder)}-secret.json`);
  writeFileSync(outside, '{"text":"secret of another group"}');
  writeFileSync(path.join(folder, "000000000000001-half.json"), '{"text":');
  symlinkSync(outside, path.join(folder, "000000000000002-link.json"));
  writeFileSync(path.join(folder, "000000000000003-large.json"), `{"text":"${"x".repeat(5_000_000)}"}`);
  writeFileSync(path.join(folder, "000000000000004-list.json"), "[1]");
  writeFileSync(path.join(folder, "note.txt"), "not for us");
  await box.post({ text: "good" }, { at: 1, name: "m" });
  expect(await texts(box)).toEqual(["good"]);
  expect(readdirSync(path.join(folder, "bad"))).toHaveLength(4);
  rmSync(outside);
});

test("swallowed `_close`, seed 002: it stays until somebody opens the mailbox again, however often it is seen", async () => {
  verifies("S2.51");
  const box = new FolderMailbox(folder);
  await box.post({ text: "last" }, { at: 1, name: "m" });
  await box.close();
  for (let look = 0; look < 3; look++) expect((await box.letters()).isClosed).toBe(true);
  // What came before it is not lost by it.
  expect(await texts(box)).toEqual(["last"]);
  await box.reopen();
  expect((await box.letters()).isClosed).toBe(false);
});

test("a link that a box has put where its host writes leads the host nowhere", async () => {
  verifies("S2.51");
  const mine = path.join(folder, "profile");
  const [ipc, elsewhere] = [path.join(folder, "ipc"), path.join(folder, "elsewhere")];
  for (const place of [ipc, elsewhere]) mkdirSync(place);
  writeFileSync(mine, "of the person");
  const planted = [
    "._close.new",
    ".answer.json.new",
    ...Array.from({ length: 50 }, (_, at) => letterFile(7, at)),
  ];
  for (const name of planted) symlinkSync(mine, path.join(ipc, name));
  symlinkSync(elsewhere, path.join(ipc, "bad"));
  writeFileSync(path.join(ipc, "000000000000001-half.json"), "{");
  const box = new FolderMailbox(ipc, path.join(folder, "aside"));
  await box.close();
  await box.place("answer.json", "{}");
  for (let at = 0; at < 50; at++) await box.post({ text: at }, { at: 7, name: "m" });
  await box.letters();
  expect(readFileSync(mine, "utf8")).toBe("of the person");
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(readdirSync(path.join(folder, "aside"))).toEqual(["000000000000001-half.json"]);
  expect(lstatSync(path.join(ipc, "_close")).isFile()).toBe(true);
});

const letterFile = (at: number, count: number): string =>
  `.${String(at * 100 + count).padStart(15, "0")}-m.json.new`;
