import { expect, test } from "vitest";
import { UndoList } from "./close.ts";

async function doing(body: (undo: UndoList) => void): Promise<void> {
  await using undo = new UndoList();
  body(undo);
}

test("the newest is undone first, and all of them also when one fails", async () => {
  const undone: string[] = [];
  const failing = doing((undo) => {
    undo.defer(() => undone.push("first"));
    undo.defer(() => Promise.reject(new Error("stuck")));
    undo.defer(() => undone.push("last"));
  });
  await expect(failing).rejects.toThrow("stuck");
  expect(undone).toEqual(["last", "first"]);
});

test("nothing is undone where all went well", async () => {
  const undone: string[] = [];
  await doing((undo) => {
    undo.defer(() => undone.push("first"));
    undo.keep();
  });
  expect(undone).toEqual([]);
});
