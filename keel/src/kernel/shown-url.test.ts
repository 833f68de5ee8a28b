import { expect, test } from "vitest";
import { shownUrl } from "./shown-url.ts";

test.each([
  ["http://127.0.0.1:9/mcp", "http://127.0.0.1:9/mcp"],
  ["https://person:word@host/a", "https://…@host/a"],
  ["https://per@son:wo@rd@host/a@b", "https://…@host/a@b"],
  ["https://host/a?key=secret&plain#part=hidden", "https://host/a?key=…&plain#part=…"],
  ["not an address", "not an address"],
])("%s is shown as %s", (address, shown) => {
  expect(shownUrl(address)).toBe(shown);
});
