// Distorted behaviours of models and their servers, one row each. "told" stands in the next request; "ran" is what tools did.
import { call, callChunk, chunk, finish, usageChunk } from "../support/openai-wire.ts";
import {
  type Answer,
  chat,
  chatCall,
  chatText,
  chatThought,
  endless,
  gemini,
  itemDone,
  raw,
  refuses,
  responses,
  sse,
  type WireName,
} from "./wires.ts";

export type Behaviour = {
  readonly name: string;
  /** Chat completions unless another is named. */
  readonly wire?: WireName;
  /** The first answers; then the model answers as it should. `always`: it never does. */
  readonly answers: readonly Answer[];
  readonly always?: boolean;
  /** How the turn ends; `completed` unless another is named. */
  readonly ends?: string;
  /** What the model is told, in the request after it. */
  readonly told?: RegExp;
  /** The tools that ran, by their inputs. */
  readonly ran?: readonly string[];
  /** What the person is told. */
  readonly notice?: RegExp;
  readonly says?: "image" | "twice";
  /** The last reply holds no words. */
  readonly isSilent?: boolean;
};

const look = (args = '{"at":"a"}') => call({ index: 0, id: "c1", name: "Look", args });
const deep = `${'{"at":'.repeat(300)}1${"}".repeat(300)}`;
const notJson = /not valid JSON/;
const noTool = /no tool called/i;

export const behaviours: readonly Behaviour[] = [
  // Wrong names.
  {
    name: "a tool that does not exist",
    answers: [chatCall("{}", { name: "Teleport" })],
    told: noTool,
    ran: [],
  },
  {
    name: "a name in the wrong case",
    answers: [chatCall('{"at":"a"}', { name: "LOOK" })],
    told: noTool,
    ran: [],
  },
  {
    name: "a name with the prefix of a template",
    answers: [chatCall('{"at":"a"}', { name: "functions.Look" })],
    told: noTool,
    ran: [],
  },
  {
    name: "a name with a blank",
    answers: [chatCall('{"at":"a"}', { name: "Look now" })],
    told: noTool,
    ran: [],
  },
  {
    name: "a name of 300 characters",
    answers: [chatCall("{}", { name: "L".repeat(300) })],
    told: noTool,
    ran: [],
  },
  { name: "a call without a name", answers: [chatCall('{"at":"a"}', { name: "" })], ran: [] },

  // Inputs that are not quite JSON, or not at all.
  { name: "half JSON", answers: [chatCall('{"at": nowhere')], told: notJson, ran: [] },
  { name: "a text that breaks off", answers: [chatCall('{"at":"a')], told: notJson, ran: [] },
  { name: "a comma too many", answers: [chatCall('{"at":"a",}')], ran: ["a"] },
  { name: "a bracket that is missing", answers: [chatCall('{"at":"a"')], ran: ["a"] },
  { name: "a code fence around it", answers: [chatCall('```json\n{"at":"a"}\n```')], ran: ["a"] },
  { name: "a closing tag behind it", answers: [chatCall('{"at":"a"}</tool_call>')], ran: ["a"] },
  { name: "JSON written as a text", answers: [chatCall(JSON.stringify('{"at":"a"}'))], ran: ["a"] },
  { name: "an object in place of a text", answers: [chatCall({ at: "a" })], ran: ["a"] },
  { name: "raw line ends inside a text", answers: [chatCall('{"at":"a\nb"}')], ran: ["a\nb"] },
  { name: "a list", answers: [chatCall("[1,2]")], told: notJson, ran: [] },
  { name: "a bare text", answers: [chatCall('"a"')], told: notJson, ran: [] },
  { name: "null", answers: [chatCall("null")], told: notJson, ran: [] },
  { name: "single quotes", answers: [chatCall("{'at':'a'}")], told: notJson, ran: [] },
  { name: "two objects", answers: [chatCall('{"at":"a"}{"at":"b"}')], told: notJson, ran: [] },
  { name: "nothing at all", answers: [chatCall("")], ran: ["undefined"] },
  { name: "a wrong type in a field", answers: [chatCall('{"at":7}')], told: /at/, ran: [] },
  { name: "300 levels deep", answers: [chatCall(deep)], told: notJson, ran: [] },
  {
    name: "a field that would change every object",
    answers: [chatCall('{"__proto__":{"x":1},"at":"a"}')],
    ran: ["a"],
  },
  {
    name: "cut off by the limit in the middle of a call",
    answers: [sse(callChunk(look('{"at":"a')), finish("length"))],
    ran: [],
  },

  // Calls in prose.
  {
    name: "a call in tags, and nothing else",
    answers: [chatText('<tool_call>\n{"name":"Look","arguments":{"at":"a"}}\n</tool_call>')],
    ran: ["a"],
  },
  {
    name: "a call in tags without the last one",
    answers: [chatText('<tool_call>{"name":"Look","arguments":{"at":"a"}}')],
    ran: ["a"],
  },
  {
    name: "two calls in tags",
    answers: [
      chatText(
        '<tool_call>{"name":"Look","arguments":{"at":"a"}}</tool_call>\n<tool_call>{"name":"Look","arguments":{"at":"b"}}</tool_call>',
      ),
    ],
    ran: ["a", "b"],
  },
  {
    name: "a call by the name in the tag",
    answers: [chatText('<function=Look>{"at":"a"}</function>')],
    ran: ["a"],
  },
  {
    name: "a list behind a mark",
    answers: [chatText('[TOOL_CALLS] [{"name":"Look","arguments":{"at":"a"}}]')],
    ran: ["a"],
  },
  {
    name: "a call behind the mark of a language",
    answers: [chatText('<|python_tag|>{"name":"Look","parameters":{"at":"a"}}')],
    ran: ["a"],
  },
  {
    name: "thinking in tags, then a call in tags",
    answers: [
      chatText('<think>I look.</think>\n<tool_call>{"name":"Look","arguments":{"at":"a"}}</tool_call>'),
    ],
    ran: ["a"],
  },
  {
    name: "words and then a call in tags",
    answers: [chatText('I will look now.\n<tool_call>{"name":"Look","arguments":{"at":"a"}}</tool_call>')],
    told: notJson,
    ran: [],
  },
  {
    name: "words and then a call in a fence",
    answers: [chatText('Let me look:\n```json\n{"name": "Look", "arguments": {"at": "a"}}\n```')],
    told: notJson,
    ran: [],
  },
  {
    name: "an object that looks like a call",
    answers: [chatText('{"name": "Look", "arguments": {"at": "a"}}')],
    told: notJson,
    ran: [],
  },
  {
    name: "half a call in tags",
    answers: [chatText('<tool_call>{"name":"Look","arguments":{"at":</tool_call>')],
    told: notJson,
    ran: [],
  },
  {
    name: "a call in tags to a tool that does not exist",
    answers: [chatText('<tool_call>{"name":"Teleport","arguments":{}}</tool_call>')],
    ran: [],
  },
  {
    name: "a call that is only quoted, with words behind it",
    answers: [
      chatText('The file says <tool_call>{"name":"Change","arguments":{"at":"a"}}</tool_call> and no more.'),
    ],
    ran: [],
  },

  // Thinking where none is expected.
  { name: "thinking in tags", answers: [chatText("<think>Hm", "m.</th", "ink>\n\nfine")], ran: [] },
  { name: "thinking in other tags", answers: [chatText("\n<thinking>Hm.</thinking>fine")], ran: [] },
  {
    name: "thinking that is never closed",
    answers: [chatText("<think>and so on")],
    told: /reply was empty/,
    ran: [],
  },
  { name: "a closing tag alone", answers: [chatText("so it is.</think>fine")], ran: [] },
  { name: "nothing but thoughts", answers: [chat(chatThought("hm"))], told: /reply was empty/, ran: [] },
  { name: "endless thinking", answers: [endless(chatThought("x".repeat(500_000)))], ran: [] },
  { name: "endless text", answers: [endless(chunk({ content: "y".repeat(500_000) }))], ran: [] },
  {
    name: "endless calls",
    answers: [endless(callChunk(call({ name: "Look", args: "z".repeat(500_000) })))],
    ran: [],
  },

  // Nothing, or the same again and again.
  { name: "an empty reply", answers: [chat()], told: /reply was empty/, ran: [] },
  { name: "blanks", answers: [chatText("\n \n")], told: /reply was empty/, ran: [] },
  {
    name: "an empty reply, always",
    answers: [chat(chunk({ content: null }))],
    always: true,
    ends: "empty_reply",
  },
  { name: "the same call, always", answers: [chatCall('{"at":"a"}')], always: true, ends: "stuck" },
  { name: "half JSON, always", answers: [chatCall('{"at": nowhere')], always: true, ends: "stuck" },
  {
    name: "a tool that does not exist, always",
    answers: [chatCall("{}", { name: "Teleport" })],
    always: true,
    ends: "stuck",
  },
  {
    name: "a call in prose, always",
    answers: [chatText('{"name": "Look", "arguments": {"at": "a"}}')],
    always: true,
    ends: "stuck",
  },
  { name: "a refusal, always", answers: [chat(chunk({ refusal: "No." }))], always: true, ends: "refusal" },
  { name: "rubbish, always", answers: [raw("data: {not JSON\n\n")], always: true, ends: "model_error" },
  {
    name: "a cut stream, always",
    answers: [raw(`data: ${JSON.stringify(chunk({ content: "ha" }))}\n\n`)],
    always: true,
    ends: "model_error",
  },

  // Ids, numbers and roles that make no sense.
  {
    name: "two calls with one id",
    answers: [
      chat(
        callChunk(call({ index: 0, id: "c", name: "Look", args: '{"at":"a"}' })),
        callChunk(call({ index: 1, id: "c", name: "Look", args: '{"at":"b"}' })),
      ),
    ],
    ran: ["a", "b"],
  },
  {
    name: "all calls with the number 0",
    answers: [
      chat(
        callChunk(call({ index: 0, id: "c", name: "Look", args: '{"at":"a"}' })),
        callChunk(call({ index: 0, id: "d", name: "Look", args: '{"at":"b"}' })),
      ),
    ],
    ran: ["a", "b"],
  },
  {
    name: "a call without an id and a number",
    answers: [chat(callChunk(call({ name: "Look", args: '{"at":"a"}' })))],
    ran: ["a"],
  },
  { name: "an id of 300 characters", answers: [chatCall('{"at":"a"}', { id: "i".repeat(300) })], ran: ["a"] },
  {
    name: "the id of an earlier reply",
    answers: [chatCall('{"at":"a"}'), chatCall('{"at":"b"}')],
    ran: ["a", "b"],
  },
  {
    name: "a result that nobody asked for",
    answers: [sse(chunk({ role: "tool", tool_call_id: "c9", content: "saw a" }), finish())],
    ran: [],
  },
  {
    name: "a call of the wire's first version",
    answers: [chat(chunk({ function_call: { name: "Look", arguments: '{"at":"a"}' } }))],
    ran: ["a"],
  },
  {
    name: "200 calls at once",
    answers: [
      chat(
        ...Array.from({ length: 200 }, (_, at) =>
          callChunk(call({ index: at, id: `c${at}`, name: "Look", args: `{"at":"${at}"}` })),
        ),
      ),
    ],
    told: /128/,
    ran: Array.from({ length: 128 }, (_, at) => String(at)),
  },
  {
    name: "a second choice",
    answers: [
      sse({ choices: [{ index: 1, delta: { content: "other" } }] }, chunk({ content: "fine" }), finish()),
    ],
    ran: [],
  },
  {
    name: "a reason to end that nobody knows",
    answers: [sse(chunk({ content: "fine" }), finish("eos_token"))],
    ran: [],
  },
  {
    name: "no reason to end",
    answers: [raw(`data: ${JSON.stringify(chunk({ content: "fine" }))}\n\ndata: [DONE]\n\n`)],
    ran: [],
  },
  {
    name: "counts that cannot be",
    answers: [
      sse(chunk({ content: "fine" }), finish(), usageChunk({ prompt_tokens: -5, completion_tokens: 1e12 })),
    ],
    notice: /counts/,
    ran: [],
  },
  {
    name: "an error in place of a piece",
    answers: [sse(chunk({ content: "ha" }), { error: { message: "overloaded", code: 503 } })],
    ran: [],
  },
  { name: "a page in place of a reply", answers: [raw("<html>", { "content-type": "text/html" })], ran: [] },
  {
    name: "a silence in the middle",
    answers: [
      (response) =>
        void response.writeHead(200, { "content-type": "text/event-stream" }).write("data: {}\n\n"),
    ],
    ran: [],
  },

  // What a model cannot do.
  {
    name: "it takes no tools",
    answers: [refuses(400, "registry.ollama.ai/library/gemma does not support tools")],
    notice: /takes no tools/,
    ran: [],
  },
  {
    name: "it takes no images",
    answers: [refuses(400, "This model does not support image input")],
    says: "image",
    notice: /takes no images/,
    ran: [],
  },
  {
    name: "it knows only one call at a time",
    answers: [
      chat(
        callChunk(
          call({ index: 0, id: "c", name: "Look", args: '{"at":"a"}' }),
          call({ index: 1, id: "d", name: "Look", args: '{"at":"b"}' }),
        ),
      ),
      refuses(400, "This model only supports single tool-calls at once!"),
    ],
    ran: ["a", "b"],
  },
  {
    name: "its window is small",
    answers: [
      chatText("one"),
      refuses(400, "the prompt exceeds the maximum context length of 4096 tokens"),
      chatText("NOTES"),
    ],
    says: "twice",
    ran: [],
  },

  // The other wires.
  {
    name: "thoughts and nothing else",
    wire: "responses",
    answers: [responses(itemDone({ id: "rs", type: "reasoning", summary: [], encrypted_content: "x" }))],
    told: /reply was empty/,
    ran: [],
  },
  {
    name: "half a call that is called whole",
    wire: "responses",
    answers: [
      responses(itemDone({ type: "function_call", call_id: "c", name: "Look", arguments: '{"at": no' })),
    ],
    told: notJson,
    ran: [],
  },
  {
    name: "pieces of a call that never began",
    wire: "responses",
    answers: [responses({ type: "response.function_call_arguments.delta", output_index: 4, delta: "{" })],
    ran: [],
  },
  {
    name: "a refusal",
    wire: "responses",
    answers: [responses(itemDone({ type: "message", content: [{ type: "refusal", refusal: "No." }] }))],
    always: true,
    ends: "refusal",
  },
  {
    name: "a call that Google cannot read",
    wire: "gemini",
    answers: [gemini([], "MALFORMED_FUNCTION_CALL")],
    ran: [],
  },
  { name: "a safety stop", wire: "gemini", answers: [gemini([], "SAFETY")], always: true, ends: "refusal" },
  {
    name: "a prompt that is blocked",
    wire: "gemini",
    answers: [sse({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })],
    always: true,
    ends: "refusal",
  },
  {
    name: "arguments as a text",
    wire: "gemini",
    answers: [gemini([{ functionCall: { name: "Look", args: "at a" } }])],
    told: notJson,
    ran: [],
  },
  {
    name: "a call without a name",
    wire: "gemini",
    answers: [gemini([{ functionCall: { args: {} } }])],
    ran: [],
  },
  {
    name: "a result that nobody asked for",
    wire: "messages",
    answers: [
      sse(
        { type: "message_start", message: { id: "m", model: "x", content: [], usage: {} } },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_result", tool_use_id: "t", content: "x" },
        },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
        { type: "message_stop" },
      ),
    ],
    ran: [],
    isSilent: true,
  },
];
