import { describe, expect, test } from "vitest";
import { maxRetryAfterMs, reasonFrom, retryAfterMs } from "./provider-error.ts";

describe("a provider's words", () => {
  test("are one line of at most 300 characters", () => {
    const reason = reasonFrom(`a\n\tb\u2028c\u001b[31m ${"x".repeat(5_000)}`, []);
    expect(reason).toMatch(/^a b c \[31m x+…$/);
    expect(reason.length).toBe(300);
  });

  test.each([
    ["the key itself", "bad key my-secret-key-1 given", ["my-secret-key-1"]],
    ["something like a key", "bad key sk-ant-api03-abcdefgh given", []],
    ["a bearer token", 'header "Authorization: Bearer abc.def-ghi" refused', []],
    ["a JSON web token", "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc expired", []],
    ["a password in a URL", "proxy https://user:pass@proxy.example/ refused", []],
  ])("lose %s", (_, words, secrets) => {
    const reason = reasonFrom(words, secrets);
    expect(reason).toContain("[hidden]");
    expect(reason).not.toMatch(/my-secret|abcdefgh|abc\.def|eyJ|user:pass/);
  });

  test("keep what only looks short", () => {
    expect(reasonFrom("test the test", ["test"])).toBe("test the test");
  });

  test("are read in time that grows with their length only", () => {
    const hostile = ["sk-", "eyJ", "bearer ", "://", "a".repeat(50)]
      .map((piece) => piece.repeat(20_000))
      .join("");
    expect(reasonFrom(hostile, []).length).toBeLessThanOrEqual(300);
  });
});

describe("retry-after", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const read = (headers: Record<string, string>) => retryAfterMs((name) => headers[name], now);

  test.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    [{ "retry-after": "86400" }, maxRetryAfterMs],
    [{ "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" }, maxRetryAfterMs],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "1e9" }, undefined],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  ])("%o is %s", (headers, ms) => {
    expect(read(headers)).toBe(ms);
  });
});
