/** The options of a session as plain JSON, for doors that take them in a line or a body: the runner's and the server's. */
import * as z from "zod/mini";
import { fault } from "../kernel/fault.ts";
import { asObject } from "../kernel/json.ts";
import { type McpServerSpec, mcpServerSchema } from "../protocol/mcp.ts";
import { fieldOf, fromPlain, type OptionRow } from "../protocol/option-row.ts";
import { rowsOf, type SessionOptions } from "../protocol/options.ts";

const fields = (): [string, keyof SessionOptions, OptionRow][] =>
  rowsOf().flatMap(([name, row]) => {
    const field = fieldOf(row);
    return field === undefined ? [] : [[field, name, row]];
  });

/** Names are those of the flags, in one word. */
export const plainOptionFields = (): Record<string, z.ZodMiniType> =>
  Object.fromEntries(fields().map(([field, , { form }]) => [field, z.optional(form.schema())]));

/** The fields under the names of the table; what is no field of it is left out. */
export function optionsFromPlain(line: Readonly<Record<string, unknown>>): SessionOptions {
  return Object.fromEntries(
    fields().flatMap(([field, name, { form }]) =>
      line[field] === undefined ? [] : [[name, fromPlain(form, line[field])]],
    ),
  );
}

/** As hosts write them: a server with a command is one of `stdio`, whether or not it says so. Throws `usage`. */
export function readServers(given: Readonly<Record<string, unknown>>): Record<string, McpServerSpec> {
  return Object.fromEntries(
    Object.entries(given).map(([name, server]) => {
      const plain = asObject(server);
      const type = plain["type"] ?? ("command" in plain ? "stdio" : "http");
      const parsed = mcpServerSchema.safeParse({ ...plain, type });
      if (parsed.success) return [name, parsed.data];
      const { path: at = [], message = "" } = parsed.error.issues[0] ?? {};
      const reason = `The MCP server ${JSON.stringify(name.slice(0, 80))} is wrong: ${at.join(".")} ${message}`;
      throw fault("usage", { reason: reason.slice(0, 300) });
    }),
  );
}
