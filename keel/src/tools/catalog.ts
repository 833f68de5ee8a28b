/** The built-in tools, sorted by name: their order is part of the cached prefix of every request. */
import type { Tool } from "../engine/tools/define.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";

export function builtInTools(): Tool[] {
  return [bashTool, editTool, readTool];
}
