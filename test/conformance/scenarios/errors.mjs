export default function scenarios({ httpError, reply, replyWith, text }) {
  const OVERLOADED = httpError(529, "overloaded_error", "Overloaded");
  const SERVER_ERROR = httpError(500, "api_error", "Internal server error");

  return {
    "retry-overloaded": {
      about: "529 is tried again; each retry is announced",
      seconds: 3,
      replies: [OVERLOADED, OVERLOADED, reply("Finally.")],
    },

    "retry-after": {
      about: "429 with retry-after waits that long",
      seconds: 2,
      replies: [
        httpError(429, "rate_limit_error", "Rate limited", { "retry-after": "1" }),
        reply("Finally."),
      ],
    },

    "retries-exhausted": {
      about: "500 until the retries are used up",
      quirk: "The reference reports subtype success with is_error; an error subtype is accepted.",
      seconds: 3,
      env: { CLAUDE_CODE_MAX_RETRIES: "2" },
      otherwise: SERVER_ERROR,
    },

    "fallback-model": {
      about: "overload with a fallbackModel switches the model",
      seconds: 3,
      env: { CLAUDE_CODE_MAX_RETRIES: "3" },
      side: [{ when: { modelContains: "haiku" }, lane: "main", reply: reply("From fallback.") }],
      otherwise: OVERLOADED,
      options: { fallbackModel: "claude-haiku-4-5" },
    },

    "bad-key": {
      about: "401 ends the turn with an authentication error",
      quirk:
        "The reference retries 401 and reports subtype success with is_error; failing at once, and an error subtype, are accepted.",
      seconds: 2,
      env: { CLAUDE_CODE_MAX_RETRIES: "1" },
      otherwise: httpError(401, "authentication_error", "invalid x-api-key"),
    },

    "bad-request": {
      about: "400 is not retried as such",
      quirk:
        "The reference sends changed requests before it gives up, and reports success with is_error; " +
        "one request, and an error subtype, are accepted.",
      otherwise: httpError(400, "invalid_request_error", "messages.0: something is wrong"),
      probes: ["something is wrong"],
    },

    "unknown-model": {
      about: "404 for the model",
      quirk:
        "The reference reports subtype success with is_error and asks twice; an error subtype, and one request, are accepted.",
      otherwise: httpError(404, "not_found_error", "model: claude-nope"),
      options: { model: "claude-nope" },
    },

    "stream-error": {
      about: "an error event in the middle of a stream: the request is repeated",
      replies: [
        replyWith(
          { breakAfter: { events: 4, error: { type: "overloaded_error", message: "Overloaded" } } },
          "partial text that will be lost",
        ),
        reply("Recovered."),
      ],
    },

    refusal: {
      about: "stop_reason refusal",
      quirk: "The reference asks the model once more; ending the turn with the refusal is accepted.",
      replies: [replyWith({ stopReason: "refusal" }, "I cannot help with that."), reply("Second attempt.")],
    },

    "empty-reply": {
      about: "a reply without content",
      quirk: "The reference asks the model once more; ending the turn with an empty result is accepted.",
      replies: [reply(), reply("Now with content.")],
    },

    "prompt-too-long-at-once": {
      about: "the first prompt is too long for the model",
      quirk: "The reference reports subtype success with is_error; an error subtype is accepted.",
      otherwise: httpError(
        400,
        "invalid_request_error",
        "prompt is too long: 250000 tokens > 200000 maximum",
      ),
    },

    "resume-unknown-session": {
      about: "resume of a session that does not exist: one error result, no request",
      replies: [reply("unreachable")],
      options: { resume: "99999999-9999-4999-8999-999999999999" },
    },
  };
}
