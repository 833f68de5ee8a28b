/**
 * What a scenario gets to work with: fresh directories, the SDK under test,
 * and recording versions of the callbacks an SDK user writes.
 */
import fs from "node:fs";
import path from "node:path";

export class Kit {
  timeline = [];
  notes = {};
  messages = [];

  /** `requests`: those of the model, as they come. */
  constructor({ sdk, z, cwd, home, outside, fixtures, env, executable, requests }) {
    Object.assign(this, { sdk, z, cwd, home, outside, fixtures, env, executable, requests });
  }

  /** Options common to all scenarios, plus those of the scenario. */
  options(extra = {}) {
    return {
      cwd: this.cwd,
      env: this.env,
      model: "claude-sonnet-4-5",
      settingSources: [],
      permissionMode: "default",
      ...(this.executable ? { pathToClaudeCodeExecutable: this.executable } : {}),
      ...extra,
    };
  }

  query(prompt, extra) {
    return this.sdk.query({ prompt, options: this.options(extra) });
  }

  // --- files -------------------------------------------------------------

  resolve(name) {
    return path.resolve(this.cwd, name);
  }

  write(name, content) {
    const target = this.resolve(name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, content);
  }

  read(name) {
    return fs.readFileSync(this.resolve(name), "utf8");
  }

  exists(name) {
    return fs.existsSync(this.resolve(name));
  }

  // --- recording ---------------------------------------------------------

  /** Keeps a fact for comparison with the expected file. */
  note(name, value) {
    this.notes[name] = value;
  }

  callback(kind, data) {
    this.timeline.push({ kind: "callback", callback: kind, ...data });
  }

  /** A canUseTool callback that answers with `decide` and is recorded. */
  canUseTool(decide) {
    return async (tool, input, options) => {
      this.callback("canUseTool", {
        tool,
        input,
        toolUseId: options?.toolUseID,
        hasSignal: options?.signal instanceof AbortSignal,
      });
      return decide(tool, input, options);
    };
  }

  /** A hook callback that answers with `output` (a value or a function) and is recorded. */
  hook(output) {
    return async (input, toolUseId, options) => {
      this.callback("hook", { input, toolUseId, hasSignal: options?.signal instanceof AbortSignal });
      return typeof output === "function" ? output(input, toolUseId) : output;
    };
  }

  /** Calls a method of the query or of the SDK and records how it settles. */
  async call(name, operation) {
    try {
      const value = await withLimit(operation(), 8000);
      this.timeline.push({ kind: "call", name, value });
      return value;
    } catch (error) {
      this.timeline.push({ kind: "call", name, error: String(error?.message ?? error) });
      return undefined;
    }
  }

  /** Reads a query to its end and records every message and how the iteration ended. */
  async consume(query, onMessage = () => {}) {
    try {
      for await (const message of query) {
        this.messages.push(message);
        this.timeline.push({ kind: "message", message });
        await onMessage(message);
      }
      this.timeline.push({ kind: "end", how: "done" });
    } catch (error) {
      this.timeline.push({
        kind: "end",
        how: "threw",
        isAbort: this.sdk.AbortError ? error instanceof this.sdk.AbortError : false,
        error: String(error?.message ?? error),
      });
    }
  }

  // --- input -------------------------------------------------------------

  user(content, extra = {}) {
    return { type: "user", message: { role: "user", content }, parent_tool_use_id: null, ...extra };
  }

  /** An async iterable that is fed by hand. */
  input() {
    return new InputQueue();
  }

  /**
   * Streaming input, one turn after the other: the next entry is sent when the
   * result of the one before has arrived. An entry is a prompt, a full user
   * message, or a function that does something first and returns one of these.
   */
  async converse(turns, extra, onMessage = () => {}) {
    const input = this.input();
    const query = this.query(input, extra);
    const waiting = [...turns];
    const sendNext = async () => {
      const entry = waiting.shift();
      if (entry === undefined) return input.end();
      const value = typeof entry === "function" ? await entry(query) : entry;
      if (value === undefined) return sendNext();
      input.push(value.type === "user" ? value : this.user(value));
    };
    await sendNext();
    await this.consume(query, async (message) => {
      await onMessage(message, query, input);
      if (message.type === "result") await sendNext();
    });
  }

  sleep(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

class InputQueue {
  #items = [];
  #ended = false;
  #wake = () => {};

  push(item) {
    this.#items.push(item);
    this.#wake();
  }

  end() {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift();
      if (this.#ended) return;
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function withLimit(promise, ms) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
