import { describe, expect, test } from "vitest";
import type { FaultCode } from "../../kernel/faults.ts";
import { errorInBody, providerFault } from "./errors.ts";

const secret = "sk-canary-0123456789";
const about = { model: "m", secrets: [secret] };

const faultOf = (status: number | undefined, wire: unknown) =>
  providerFault({ ...about, wire, ...(status === undefined ? {} : { status }) });

describe("an error becomes a fault by its code, then its status, then its words", () => {
  test.each<[string, number | undefined, unknown, FaultCode]>([
    ["a code for too long", 400, { code: "context_length_exceeded", message: "x" }, "prompt_too_long"],
    [
      "a type for too long",
      400,
      { code: 400, type: "exceed_context_size_error", message: "x" },
      "prompt_too_long",
    ],
    [
      "words for too long",
      400,
      { type: "BadRequestError", message: "This model's maximum context length is 8192 tokens." },
      "prompt_too_long",
    ],
    [
      "too long as a failure",
      500,
      { message: "the request exceeds the available context size" },
      "prompt_too_long",
    ],
    ["too long as a plain word", 400, "context length exceeded", "prompt_too_long"],
    ["a code for the key", 400, { code: "invalid_api_key", message: "x" }, "key_refused"],
    ["the status for the key", 401, { message: "x" }, "key_refused"],
    ["no money left", 429, { code: "insufficient_quota", message: "x" }, "billing"],
    ["no credits", 402, { message: "x" }, "billing"],
    ["words for money", 403, { message: "Please check your billing details" }, "billing"],
    ["a model that is not there", 404, { code: "model_not_found", message: "x" }, "model_unknown"],
    [
      "a model that is not there, by type",
      404,
      { type: "not_found_error", message: "model 'x' not found" },
      "model_unknown",
    ],
    ["an address that is not there", 404, "404 page not found", "model_bad_request"],
    ["too much at once", 429, { code: "rate_limit_exceeded", message: "x" }, "rate_limited"],
    ["too large", 413, {}, "request_too_large"],
    ["a busy server", 503, { message: "x" }, "overloaded"],
    ["a busy server by type", 500, { type: "unavailable_error", message: "Loading model" }, "overloaded"],
    ["a failure", 500, { message: "x" }, "server_error"],
    ["a failure behind a gateway", 502, "", "server_error"],
    ["something wrong in the request", 422, { detail: [{ msg: "x" }] }, "model_bad_request"],
    ["an error inside a stream", undefined, { message: "x" }, "server_error"],
    ["an error inside a stream with a number", undefined, { code: 429, message: "x" }, "rate_limited"],
    ["an unknown code", 400, { code: "constructor", message: "x" }, "model_bad_request"],
  ])("%s", (_, status, wire, code) => {
    expect(faultOf(status, wire).code).toBe(code);
  });
});

describe("the words of an error", () => {
  test("are shown without secrets, on one line, with status and type", () => {
    const made = faultOf(400, { message: `bad key ${secret}\nreally`, type: "t", code: null });
    expect(made.message).not.toContain("canary");
    expect(made.detail).toMatchObject({ reason: "bad key [hidden] really", status: 400, type: "t" });
  });

  test.each([
    ['{"error":{"message":"a"}}', { message: "a" }],
    ['{"error":"a"}', "a"],
    ['{"object":"error","message":"a"}', { object: "error", message: "a" }],
    ['[{"error":{"message":"a"}}]', { message: "a" }],
    ['{"detail":"a"}', { detail: "a" }],
    ["plain words", "plain words"],
    ["<html>sign in</html>", ""],
    ["", ""],
  ])("are found in %s", (body, wire) => {
    expect(errorInBody(body)).toEqual(wire);
  });

  test("may be an object, and may be missing", () => {
    expect(faultOf(422, { detail: [{ msg: "Extra inputs" }] }).detail["reason"]).toContain("Extra inputs");
    expect(faultOf(400, {}).detail["reason"]).toBe("it answered 400 and gave no reason");
    expect(faultOf(302, "").detail["reason"]).toMatch(/redirect/);
  });
});
