/** `keel mcp serve`: standard input and output belong to the protocol; everything else is said on standard error. */

import { Writable } from "node:stream";
import { oneOf } from "../../../app/flags/arguments.ts";
import { serveMcp } from "../../../app/maintenance/mcp-serve.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { CommandRun } from "../command.ts";

const modes = ["default", "acceptEdits", "plan", "dontAsk"] as const;

type McpServeValues = { readonly model: string | undefined; readonly "permission-mode": string | undefined };

export const serve: CommandRun<McpServeValues> = async ({ values }, context) => {
  const { version, env, cwd, out, input } = context;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      out.write(chunk.toString("utf8"));
      done();
    },
  });
  const release = context.signals.take(() => input.destroy());
  try {
    const permissionMode = oneOf("permission-mode", values["permission-mode"], modes);
    const options = { version, env, cwd, model: values.model, permissionMode, asks: "answered" as const };
    await serveMcp({ options, input, output });
    return exitCodes.ended;
  } finally {
    release();
  }
};
