// Holds every test to the request law: a break that nobody declared fails the test it happened in, wherever the
// refused request went. The number of requests that were checked goes into the closing lines of the run.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { LawMessage, lawChannel as theChannel } from "../../keel/src/testing/request-law.ts";
import { note } from "./notes.ts";

// The law itself is loaded only by those who need it: this runs before every file.
const lawChannel: typeof theChannel = "keel:request-law";
const found: string[] = [];
const counted = { requests: 0, breaks: 0 };

function hear(message: unknown): void {
  // Only the law publishes here.
  const told = message as LawMessage;
  if (told.type === "checked") counted.requests += 1;
  else {
    counted.breaks += 1;
    found.push(told.sentence);
  }
}

beforeAll(() => subscribe(lawChannel, hear));

afterEach(() => {
  expect(found.splice(0), "undeclared breaks of the request law").toEqual([]);
});

afterAll(() => {
  unsubscribe(lawChannel, hear);
  if (counted.requests > 0) note("requests", `${counted.requests} ${counted.breaks}`);
});
