export default function scenarios({ reply, text, thinking, TINY_PNG }) {
  return {
    "plain-text": {
      about: "one prompt, one text reply",
      prompt: "say hello",
      replies: [reply("Hello! This is a plain reply.")],
      probes: ["say hello"],
    },

    "partial-messages": {
      about: "includePartialMessages forwards the stream events",
      replies: [reply("Hello! This is a streamed reply in several chunks.")],
      options: { includePartialMessages: true },
    },

    "thinking-blocks": {
      about: "thinking is delivered as a block of its own",
      replies: [reply(thinking("Let me think about it for a moment."), "The answer is 4.")],
      options: { thinking: { type: "enabled", budgetTokens: 2048 } },
    },

    "thinking-partial": {
      about: "partial messages with thinking deltas",
      replies: [reply(thinking("Let me think about it for a moment."), "The answer is 4.")],
      options: { includePartialMessages: true, thinking: { type: "adaptive" }, effort: "high" },
    },

    "system-prompt-string": {
      about: "a custom system prompt reaches the model",
      replies: [reply("Arr.")],
      options: { systemPrompt: "You are a pirate called REDBEARD." },
      probes: ["You are a pirate called REDBEARD."],
    },

    "system-prompt-append": {
      about: "the preset prompt with appended text",
      replies: [reply("Fine.")],
      options: { systemPrompt: { type: "preset", preset: "claude_code", append: "APPENDED-MARK" } },
      probes: ["APPENDED-MARK"],
    },

    "tools-none": {
      about: "tools: [] offers no built-in tools",
      replies: [reply("No tools.")],
      options: { tools: [] },
    },

    "tools-subset": {
      about: "tools: [...] offers just these",
      replies: [reply("Two tools.")],
      options: { tools: ["Read", "Bash"] },
    },

    "model-option": {
      about: "the model option selects the model and its price",
      replies: [reply("Small model.")],
      options: { model: "claude-haiku-4-5" },
    },

    "image-in-prompt": {
      about: "a user message with an image block",
      replies: [reply("A tiny image.")],
      run: async (kit) => {
        const image = { type: "image", source: { type: "base64", media_type: "image/png", data: TINY_PNG } };
        await kit.converse([kit.user([text("what is this"), image])]);
      },
    },

    "replay-user-messages": {
      about: "with the flag replay-user-messages the prompt is echoed",
      keepEchoes: true,
      prompt: "echo this prompt",
      replies: [reply("Echoed.")],
      options: { extraArgs: { "replay-user-messages": null } },
    },
  };
}
