import { describe, expect, test } from "vitest";
import { errorInBody, providerFault } from "./errors.ts";

const secret = "sk-ant-api03-canary-0123456789";
const about = { model: "claude-x", secrets: [secret] };

const codeFor = (status: number | undefined, type?: string, message = "words"): string =>
  providerFault({
    ...about,
    ...(status === undefined ? {} : { status }),
    wire: type === undefined ? {} : { type, message },
  }).code;

describe("an error of the provider", () => {
  test.each<[number | undefined, string | undefined, string, string]>([
    [400, "invalid_request_error", "messages: field required", "model_bad_request"],
    [400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "prompt_too_long"],
    [400, "invalid_request_error", "input length and `max_tokens` exceed context limit", "prompt_too_long"],
    [400, "invalid_request_error", "Your credit balance is too low to access the API", "billing"],
    [401, "authentication_error", "invalid x-api-key", "key_refused"],
    [401, undefined, "", "key_refused"],
    [402, "billing_error", "", "billing"],
    [402, undefined, "", "billing"],
    [403, "permission_error", "not for you", "model_forbidden"],
    [404, "not_found_error", "model: claude-x", "model_unknown"],
    [404, undefined, "", "model_bad_request"],
    [408, undefined, "", "server_error"],
    [413, "request_too_large", "", "request_too_large"],
    [413, undefined, "", "request_too_large"],
    [429, "rate_limit_error", "slow down", "rate_limited"],
    [429, "rate_limit_error", "reached the spend limit", "billing"],
    [500, "api_error", "", "server_error"],
    [502, undefined, "", "server_error"],
    [504, "timeout_error", "", "server_error"],
    [529, "overloaded_error", "", "overloaded"],
    [529, undefined, "", "overloaded"],
    [307, undefined, "", "model_bad_request"],
    [422, "some_new_error", "", "model_bad_request"],
    [undefined, "overloaded_error", "", "overloaded"],
    [undefined, "some_new_error", "", "server_error"],
    [400, "constructor", "", "model_bad_request"],
  ])("with status %s and type %s (%s) is %s", (status, type, message, code) => {
    expect(codeFor(status, type, message)).toBe(code);
  });

  test("carries status, type, request id and how long to wait, and the words for the person", () => {
    const made = providerFault({
      ...about,
      status: 429,
      wire: { type: "rate_limit_error", message: "slow down" },
      requestId: "req_1",
      retryAfterMs: 2_000,
    });
    expect(made.detail).toEqual({
      reason: "slow down",
      status: 429,
      type: "rate_limit_error",
      requestId: "req_1",
      retryAfterMs: 2_000,
    });
    expect(made.message).toBe("The provider limits the rate: slow down");
  });

  test("names the model that is unknown", () => {
    expect(providerFault({ ...about, status: 404, wire: { type: "not_found_error" } }).message).toContain(
      "claude-x",
    );
  });

  test("never repeats the key, wherever the provider puts it", () => {
    const made = providerFault({
      model: `model-${secret}`,
      secrets: [secret],
      status: 404,
      requestId: `req ${secret}`,
      wire: { type: `not_found_error ${secret}`, message: `${"x".repeat(290)}${secret} is wrong` },
    });
    expect(JSON.stringify(made.toData())).not.toContain(secret);
    expect(JSON.stringify(made.toData())).not.toContain("canary");
  });
});

describe("the body of an error", () => {
  test.each<[string, unknown]>([
    ['{"type":"error","error":{"type":"api_error","message":"m"}}', { type: "api_error", message: "m" }],
    ['{"message":"from a gateway"}', { message: "from a gateway" }],
    ["upstream broke", { message: "upstream broke" }],
    ["<html>502</html>", { message: "" }],
    ["", { message: "" }],
  ])("%s gives what it says", (body, wire) => {
    expect(errorInBody(body)).toEqual(wire);
  });
});
