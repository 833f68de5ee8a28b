import path from "node:path";
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { readTool } from "./read.ts";

const room = realTools();
const edit = (input: object) => room.call(notebookEditTool, { notebook_path: "n.ipynb", ...input });
const read = (more: object = {}) => room.call(readTool, { file_path: "n.ipynb", ...more });
const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64");

const notebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\\n",
    "words"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "sum",
   "metadata": {
    "scale": 1.0
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "3\\n"
     ]
    },
    {
     "data": {
      "image/png": "${png}",
      "text/plain": "<Figure>"
     },
     "metadata": {},
     "output_type": "display_data"
    },
    {
     "ename": "E",
     "evalue": "no",
     "output_type": "error",
     "traceback": [
      "\\u001b[31mE: no\\u001b[0m"
     ]
    }
   ],
   "source": "1 + 2"
  }
 ],
 "metadata": {
  "language_info": {
   "name": "python",
   "version": "3.10"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;
const given = async (text = notebook): Promise<void> => {
  room.put("n.ipynb", text);
  await read();
};

describe("Read shows a notebook", () => {
  test("as cells with their outputs, and pictures as pictures", async () => {
    room.put("n.ipynb", notebook);
    const call = await read();
    expect(call.said).toBe(
      [
        "[cell 1 of 2, id intro, markdown]\n# Title\nwords",
        "[cell 2 of 2, id sum, code (python)]\n1 + 2\n[output]\n3\n[output]\n<Figure>\n[output]\nE: no",
      ].join("\n"),
    );
    expect(call.content.at(-1)).toEqual({ type: "image", mediaType: "image/png", data: png });
    expect(call.data).toEqual({
      type: "notebook",
      file: {
        filePath: path.join(room.cwd, "n.ipynb"),
        cells: [
          { cellType: "markdown", source: "# Title\nwords", cell_id: "intro" },
          { cellType: "code", source: "1 + 2", cell_id: "sum", language: "python" },
        ],
      },
    });
  });

  test("in part, and says how to go on", async () => {
    room.put("n.ipynb", notebook);
    expect((await read({ limit: 1 })).said).toMatch(/words\n\(Cells 1 to 1 of 2\. Go on with offset 2\.\)$/);
    expect((await read({ offset: 2 })).said).toMatch(/^\[cell 2 of 2/);
  });

  test("as text, when it is damaged", async () => {
    room.put("n.ipynb", '{"cells": [');
    expect((await read()).said).toBe('1\t{"cells": [');
  });
});

describe("NotebookEdit", () => {
  test("replaces a cell by its id, drops its outputs and leaves every other byte", async () => {
    await given();
    const call = await edit({ cell_id: "sum", new_source: "1 + 3\n2" });
    const text = room.get("n.ipynb");
    const expected = notebook
      .replace('"execution_count": 3', '"execution_count": null')
      .replace(/"outputs": \[[\s\S]*?\n {3}\],/, '"outputs": [],')
      .replace('"1 + 2"', '"1 + 3\\n2"');
    expect(text).toBe(expected);
    expect(text).toContain('"scale": 1.0');
    expect(call.said).toMatch(/^Replaced cell 2 of .*n\.ipynb \(\+\d+ -\d+ lines\)\.\n\n1 \+ 3\n2$/);
    expect(call.data).toMatchObject({
      new_source: "1 + 3\n2",
      old_source: "1 + 2",
      cell_id: "sum",
      cell_type: "code",
      language: "python",
      edit_mode: "replace",
      original_file: notebook,
      updated_file: text,
    });
  });

  test("keeps a text that stood there line by line", async () => {
    await given();
    await edit({ cell_id: "1", new_source: "a\nb\n" });
    expect(JSON.parse(room.get("n.ipynb")).cells[0].source).toEqual(["a\n", "b\n"]);
  });

  test("inserts a cell behind another or at the start, with an id of its own", async () => {
    await given();
    await edit({ cell_id: "intro", new_source: "x = 1", cell_type: "code", edit_mode: "insert" });
    await edit({ new_source: "# First", cell_type: "markdown", edit_mode: "insert" });
    const { cells } = JSON.parse(room.get("n.ipynb"));
    expect(cells.map((cell: { source: unknown }) => [cell.source].flat().join(""))).toEqual([
      ...["# First", "# Title\nwords", "x = 1", "1 + 2"],
    ]);
    const ids = cells.map((cell: { id: string }) => cell.id);
    expect(new Set(ids).size).toBe(4);
    expect(cells[2]).toMatchObject({ cell_type: "code", outputs: [], execution_count: null });
    expect(cells[0]).not.toHaveProperty("outputs");
  });

  test("gives no id where the format knows none", async () => {
    await given(notebook.replace('"nbformat_minor": 5', '"nbformat_minor": 4'));
    await edit({ new_source: "x", cell_type: "code", edit_mode: "insert" });
    expect(JSON.parse(room.get("n.ipynb")).cells[0]).not.toHaveProperty("id");
  });

  test("deletes a cell, and makes code of words", async () => {
    await given();
    await edit({ cell_id: "cell-1", new_source: "print()", cell_type: "code" });
    expect(JSON.parse(room.get("n.ipynb")).cells[0]).toMatchObject({ cell_type: "code", outputs: [] });
    await edit({ cell_id: "sum", edit_mode: "delete" });
    expect(JSON.parse(room.get("n.ipynb")).cells).toHaveLength(1);
  });

  test.each([
    [{ notebook_path: "a.txt", cell_id: "1", new_source: "x" }, "not a notebook (.ipynb). Use Edit"],
    [{ notebook_path: "no.ipynb", cell_id: "1", new_source: "x" }, "No such notebook: no.ipynb"],
    [{ new_source: "x" }, "Name the cell to replace as cell_id."],
    [{ cell_id: "9", new_source: "x" }, "There is no cell 9; there are 2 cells."],
    [{ new_source: "x", edit_mode: "insert" }, "To insert a cell, say its cell_type."],
  ])("refuses %j before anyone is asked", async (input, why) => {
    await given();
    expect(await edit(input)).toMatchObject({ refused: true, said: expect.stringContaining(why) });
  });

  test("refuses a notebook that was not read, or is none", async () => {
    room.put("n.ipynb", notebook);
    expect((await edit({ cell_id: "1", new_source: "x" })).said).toContain("has not been read");
    await given('{"worksheets": []}');
    expect((await edit({ cell_id: "1", new_source: "x" })).said).toContain("no list of cells");
  });
});
