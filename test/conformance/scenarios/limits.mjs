export default function scenarios({ allow, reply, replyWith, text, toolUse }) {
  const echo = (word) => toolUse("Bash", { command: `echo ${word}`, description: "echo" });

  const ANSWER_SCHEMA = {
    type: "object",
    properties: { answer: { type: "number" }, label: { type: "string" } },
    required: ["answer"],
    additionalProperties: false,
  };

  const ANSWER_FORMAT = { outputFormat: { type: "json_schema", schema: ANSWER_SCHEMA } };

  return {
    "max-turns": {
      about: "maxTurns: results of the last tools are still given, then error_max_turns",
      replies: [reply(echo("1")), reply(echo("2")), reply("unreachable")],
      options: { maxTurns: 2 },
      permission: allow,
      data: ["1", "2"],
    },

    "max-budget": {
      about: "maxBudgetUsd: checked after the reply, the tool does not run",
      replies: [
        replyWith({ usage: { input_tokens: 200000, output_tokens: 50000 } }, echo("1")),
        reply("unreachable"),
      ],
      options: { maxBudgetUsd: 0.01 },
      permission: allow,
    },

    "structured-output": {
      about: "outputFormat: a valid call of StructuredOutput ends the turn",
      replies: [reply(toolUse("StructuredOutput", { answer: 42, label: "x" })), reply("unreachable")],
      options: ANSWER_FORMAT,
      permission: allow,
    },

    "structured-output-invalid": {
      about: "outputFormat: output that does not fit the schema is sent back",
      replies: [
        reply(toolUse("StructuredOutput", { answer: "not a number" })),
        reply(toolUse("StructuredOutput", { answer: 7 })),
        reply("unreachable"),
      ],
      options: ANSWER_FORMAT,
      permission: allow,
    },

    "structured-output-text-only": {
      about: "outputFormat: a model that only writes text is reminded",
      quirk:
        "The reference reminds once, then reports success without structured_output; error_max_structured_output_retries is accepted.",
      otherwise: reply("just text"),
      options: ANSWER_FORMAT,
      permission: allow,
    },

    "max-tokens": {
      about: "a reply cut off at max_tokens is continued",
      quirk: "The reference continues by itself; ending the turn with the cut text is accepted.",
      replies: [replyWith({ stopReason: "max_tokens" }, "This was cut"), reply(" and continued.")],
    },

    "max-tokens-again": {
      about: "replies that are cut off again and again end with an error",
      quirk:
        "The reference reports subtype success with is_error; an error subtype, and fewer attempts, are accepted.",
      otherwise: replyWith({ stopReason: "max_tokens" }, "cut again"),
    },
  };
}
