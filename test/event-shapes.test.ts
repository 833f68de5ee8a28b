// The shapes of events are made of schemas: what a schema may refuse or change must be unsure in them, whatever it is.
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { fits } from "../keel/src/kernel/shape.ts";
import { shapeOf } from "../scripts/reference/event-shapes.ts";

const small = z.object({ a: z.string() });
const large = z.object({ a: z.string(), b: z.string() });

test.each([
  ["a union whose first schema leaves something out", z.union([small, large]), { a: "", b: "" }],
  ["such a union in lists", z.union([z.array(small), z.array(large)]), [{ a: "", b: "" }]],
  ["a union whose first schema makes something else of it", z.union([upper(), z.string()]), "a"],
  ["a record with names of a pattern", z.record(z.string().check(z.regex(/^x/)), z.string()), { a: "" }],
  ["a record with names of a list", z.record(z.enum(["a", "b"]), z.string()), { a: "", c: "" }],
  ["what is made a text", z.array(z.coerce.string()), ["a"]],
  ["a text with a rule", z.string().check(z.minLength(2)), "a"],
])("%s is not surely taken as it is", (_, schema, value) => {
  expect(fits(shapeOf(schema), value)).toBe(false);
});

test.each([
  ["a union of what cannot be changed", z.union([z.string(), z.array(z.string())]), ["a"]],
  ["a union with one object", z.union([z.null(), small]), { a: "" }],
  ["a record with any names", z.record(z.string(), small), { x: { a: "" } }],
])("%s is surely taken as it is", (_, schema, value) => {
  expect(fits(shapeOf(schema), value)).toBe(true);
});

function upper() {
  return z.pipe(
    z.string(),
    z.transform((text: string) => text.toUpperCase()),
  );
}
