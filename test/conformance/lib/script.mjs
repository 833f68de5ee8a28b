/** Helpers for writing scenarios. `{{cwd}}`, `{{home}}` and `{{outside}}` in any string stand for the run's directories. */

export const text = (value) => ({ type: "text", text: value });

export const thinking = (value) => ({ type: "thinking", thinking: value });

export const toolUse = (name, input, id) => ({ type: "tool_use", name, input, ...(id ? { id } : {}) });

/** A model reply made of blocks; a plain string is a text block. */
export const reply = (...blocks) => ({
  blocks: blocks.map((block) => (typeof block === "string" ? text(block) : block)),
});

/** A reply with further properties, such as `stopReason` or `usage`. */
export const replyWith = (properties, ...blocks) => ({ ...reply(...blocks), ...properties });

export const httpError = (status, type, message, headers) => ({ error: { status, type, message, headers } });

/** canUseTool answers. */
export const allow = (tool, input) => ({ behavior: "allow", updatedInput: input });
export const deny = (message, more) => () => ({ behavior: "deny", message, ...more });

/** Hook outputs. */
export const hookOutput = (hookEventName, fields) => ({ hookSpecificOutput: { hookEventName, ...fields } });

/** The smallest valid PNG, base64. */
export const TINY_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
