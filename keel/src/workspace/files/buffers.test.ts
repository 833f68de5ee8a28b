// Files as an editor has them, over the real disk.
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { type EditorBuffers, withBuffers } from "./buffers.ts";
import { nodeFiles } from "./files.ts";

const limits = { maxBytes: 1_000 };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function stage(saved: string, open: string | undefined) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-buffers-")));
  const file = path.join(folder, "a.txt");
  writeFileSync(file, saved);
  const editor = { text: open, takes: true };
  const buffers: EditorBuffers = {
    read: async () => editor.text,
    write: async (_, text) => {
      if (editor.takes) editor.text = text;
      return editor.takes;
    },
  };
  const files = withBuffers(nodeFiles({ cwd: folder, roots: [folder] }), buffers);
  const read = async (): Promise<{ text: string; stamp: string }> => {
    const found = await files.read(file, limits);
    if (!found.ok) throw new Error(found.why);
    return { text: new TextDecoder().decode(found.file.bytes), stamp: found.file.stamp };
  };
  return { folder, file, files, editor, read, saved: () => readFileSync(file, "utf8") };
}

test("what is open counts; where nothing is, the disk does", async () => {
  expect((await stage("saved", "open").read()).text).toBe("open");
  expect((await stage("saved", undefined).read()).text).toBe("saved");
  expect((await stage("a\r\nb\r\n", "a\nb\n").read()).text).toBe("a\r\nb\r\n");
});

test("a change goes through the editor, and its stamp holds for the next one", async () => {
  const { files, file, editor, read, saved } = stage("saved", "open");
  const { stamp } = await read();
  const first = await files.write(file, bytes("first"), { stamp });
  expect(first).toMatchObject({ ok: true });
  expect([editor.text, saved()]).toEqual(["first", "saved"]);
  const next = await files.write(file, bytes("second"), { stamp: first.ok ? first.stamp : null });
  expect(next).toMatchObject({ ok: true });
  expect(editor.text).toBe("second");
});

test("what was typed since it was read is not written over", async () => {
  const { files, file, editor, read } = stage("saved", "open");
  const { stamp } = await read();
  editor.text = "typed since";
  expect(await files.write(file, bytes("lost"), { stamp })).toMatchObject({ ok: false });
  expect(editor.text).toBe("typed since");
});

test("what was saved elsewhere since it was read is not written over", async () => {
  const { files, file, editor, read } = stage("saved", undefined);
  const { stamp } = await read();
  writeFileSync(file, "saved since");
  expect(await files.write(file, bytes("lost"), { stamp })).toMatchObject({ ok: false });
  expect(editor.text).toBeUndefined();
});

test("an editor that does not take it leaves it to the disk, as do new files and what is no text", async () => {
  const { files, folder, file, editor, read, saved } = stage("saved", undefined);
  editor.takes = false;
  expect(await files.write(file, bytes("written"), { stamp: (await read()).stamp })).toMatchObject({
    ok: true,
  });
  expect(saved()).toBe("written");
  const made = path.join(folder, "b", "new.txt");
  expect(await files.write(made, bytes("new"), { stamp: null })).toMatchObject({ ok: true });
  expect(readFileSync(made, "utf8")).toBe("new");
});
