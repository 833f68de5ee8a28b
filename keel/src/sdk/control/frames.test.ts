import { describe, expect, test } from "vitest";
import { readFrame } from "./frames.ts";
import { readHostRequest } from "./host-requests.ts";
import { readPermission, readProcessRequest } from "./process-requests.ts";

describe("a line", () => {
  test.each([
    [
      { type: "control_request", request_id: "1", request: { subtype: "x", more: 1 } },
      { kind: "request", id: "1" },
    ],
    [{ type: "control_response", response: { subtype: "success", request_id: "1" } }, { kind: "response" }],
    [
      { type: "control_response", response: { subtype: "error", request_id: "1", error: "no" } },
      { kind: "response" },
    ],
    [
      {
        type: "control_response",
        response: { subtype: "error", request_id: "1", error: "no", error_code: "late" },
      },
      { kind: "response", response: { error_code: "late" } },
    ],
    [
      { type: "control_cancel_request", request_id: "1" },
      { kind: "cancel", id: "1" },
    ],
    [{ type: "user", message: { role: "user", content: "hi" } }, { kind: "user" }],
    [{ type: "keep_alive" }, { kind: "other", type: "keep_alive" }],
    [{ type: "constructor" }, { kind: "other", type: "constructor" }],
    [
      { type: "control_request", request_id: "1" },
      { kind: "refused", id: "1" },
    ],
    [
      { type: "control_request", request_id: "1", request: { subtype: 1 } },
      { kind: "refused", id: "1" },
    ],
    [{ type: "control_request", request: { subtype: "x" } }, { kind: "bad" }],
    [{ type: "control_request", request_id: "", request: { subtype: "x" } }, { kind: "bad" }],
    [{ type: "control_request", request_id: "x".repeat(600), request: { subtype: "x" } }, { kind: "bad" }],
    [{ type: "control_response", response: { subtype: "error", request_id: "1" } }, { kind: "bad" }],
    [{ type: "user", message: { role: "assistant", content: "hi" } }, { kind: "bad" }],
    [{ type: "user", message: { role: "user" } }, { kind: "bad" }],
    [{ type: "user", message: { role: "user", content: "hi" }, uuid: 7 }, { kind: "bad" }],
    [{}, { kind: "bad" }],
    [{ type: ["user"] }, { kind: "bad" }],
  ])("%j is read as what it is", (line, expected) => {
    expect(readFrame(line)).toMatchObject(expected);
  });

  test("what is wrong with it is said in few words", () => {
    const frame = readFrame({ type: "user", message: "x".repeat(10_000) });
    expect(frame.kind === "bad" && frame.fault.message.length).toBeLessThan(300);
  });
});

describe("a request", () => {
  test("of a known subtype keeps its fields; others are passed over", () => {
    expect(readHostRequest({ subtype: "set_model", model: "m", from: "the future" })).toEqual({
      subtype: "set_model",
      model: "m",
    });
  });

  test.each(["dance", "constructor", "__proto__", "toString", ""])(
    "of the subtype %j is not supported",
    (subtype) => {
      const error = {
        message: `Unsupported control request subtype: ${subtype}`,
        code: "unsupported_request",
      };
      expect(() => readHostRequest({ subtype })).toThrow(expect.objectContaining(error));
      expect(() => readProcessRequest({ subtype })).toThrow(expect.objectContaining(error));
    },
  );

  test("with a field of the wrong form names the field", () => {
    expect(() => readHostRequest({ subtype: "mcp_toggle", serverName: "x", enabled: "yes" })).toThrow(
      "enabled",
    );
    expect(() => readProcessRequest({ subtype: "can_use_tool", tool_name: "x", input: [] })).toThrow("input");
  });
});

describe("an answer to a question", () => {
  test.each([undefined, null, {}, { behavior: "maybe" }, { behavior: "allow", updatedInput: 7 }, "allow"])(
    "%j is none",
    (answer) => {
      expect(() => readPermission(answer)).toThrow("no permission");
    },
  );

  test("with nulls where nothing is meant is one", () => {
    expect(readPermission({ behavior: "allow", updatedInput: null, updatedPermissions: null })).toEqual({
      behavior: "allow",
    });
    expect(readPermission({ behavior: "deny" })).toEqual({ behavior: "deny", message: "Refused." });
  });
});
