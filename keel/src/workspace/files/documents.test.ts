import { describe, expect, test } from "vitest";
import { pdfOf } from "../../../../test/support/pdf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { nodeDocuments } from "./documents.ts";

const { pdfText } = nodeDocuments();
const signal = new AbortController().signal;

describe("the text of a PDF", () => {
  test("is that of the pages that were asked for, and the number of all", async () => {
    const bytes = pdfOf(["First page", "Second page", "Third page"]);
    expect(await pdfText({ bytes, first: 2, last: 9 }, signal)).toEqual({
      ok: true,
      totalPages: 3,
      pages: ["Second page\nand a second line", "Third page\nand a second line"],
    });
    // The bytes are still ours: they are not moved into the thread.
    expect(bytes.length).toBeGreaterThan(0);
  });

  test("is refused for what is damaged or is none", async () => {
    const bytes = Buffer.from("%PDF-1.4\nnothing of it");
    expect(await pdfText({ bytes, first: 1, last: 1 }, signal)).toEqual({
      ok: false,
      why: "The PDF is damaged or is none.",
    });
  });

  test("ends when nobody waits for it any more", async () => {
    verifies("G45");
    const bytes = pdfOf(["x"]);
    expect(await pdfText({ bytes, first: 1, last: 1 }, AbortSignal.abort("over"))).toMatchObject({
      ok: false,
      why: expect.stringContaining("interrupted"),
    });
  });
});
