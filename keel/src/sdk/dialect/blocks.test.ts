import { expect, test } from "vitest";
import { withPicture } from "./blocks.ts";

const picture = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
const data = { type: "image", file: { filePath: "/a.png", type: "image/png", originalSize: 3 } };

test("the data of a picture holds it, as its content does", () => {
  expect(withPicture(data, [picture])).toEqual({ type: "image", file: { ...data.file, base64: "AAAA" } });
});

test.each([
  ["a text beside a picture", { type: "text", file: {} }, [picture]],
  ["a picture that is not there", data, []],
  ["a list", [1], [picture]],
  ["nothing", null, [picture]],
])("%s stays as it is", (_, given, content) => {
  expect(withPicture(given, content)).toBe(given);
});
