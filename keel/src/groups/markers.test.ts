import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { type BoxOutput, MarkerReader, outputEnd, outputStart, writeOutput } from "./markers.ts";

const one: BoxOutput = {
  status: "success",
  result: "Hello\nthere ---KEEL_OUTPUT_END---",
  input: "a",
  at: 0,
  step: "result",
};
const none: BoxOutput = { status: "success", result: null, input: "a", at: 1, step: "ended" };

test("what stands between markers is read, however the stream is cut, and nothing else is", () => {
  verifies("S2.58");
  const text = `noise\n${writeOutput(one)}debug ${outputStart}\n{"status":"success"}\n${writeOutput(none)}`;
  for (let size = 1; size < 40; size++) {
    const reader = new MarkerReader();
    const found: BoxOutput[] = [];
    for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)));
    expect(found, String(size)).toEqual([one, none]);
  }
});

test("what is no output between markers is left out, and what follows is read", () => {
  verifies("S2.58");
  const reader = new MarkerReader();
  const bad = [
    `${outputStart}\n{broken\n${outputEnd}\n`,
    `${outputStart}\n{"status":"odd"}\n${outputEnd}\n`,
    `${outputEnd}\n`,
  ];
  expect(reader.push(`${bad.join("")}${outputStart}\ncut off\n${writeOutput(one)}`)).toEqual([one]);
  expect(reader.push(`${outputStart}\n${"x".repeat(9_000_000)}\n${outputEnd}\n${writeOutput(none)}`)).toEqual(
    [none],
  );
});
