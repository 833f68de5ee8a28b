import { expect, test } from "vitest";
import { shownUrl, withShownUrls } from "./shown-url.ts";

test.each([
  ["http://127.0.0.1:9/mcp", "http://127.0.0.1:9/mcp"],
  ["https://person:word@host/a", "https://…@host/a"],
  ["https://per@son:wo@rd@host/a@b", "https://…@host/a@b"],
  ["https://host/a?key=secret&plain#part=hidden", "https://host/a?key=…&plain#part=…"],
  ["https:\\\\person:word@host/a", "https:\\\\…@host/a"],
  ["https:person:word@host/a", "https:…@host/a"],
  [" https://person:word@host/a", " https://…@host/a"],
  ["https://person:wo/rd@host/a", "https://…@host/a"],
  ["not an address", "not an address"],
])("%s is shown as %s", (address, shown) => {
  expect(shownUrl(address)).toBe(shown);
});

test("every address in a command is shown without its secrets, and the rest as it is", () => {
  const command = "serve --db=postgresql://me:word@db/x?key=secret -- 'https://host/a' a=b me@here";
  expect(withShownUrls(command)).toBe("serve --db=postgresql://…@db/x?key=… -- 'https://host/a' a=b me@here");
});
