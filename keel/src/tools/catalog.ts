/** The built-in tools, sorted by name: their order is part of the cached prefix of every request. */
import type { Tool } from "../engine/tools/define.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { multiEditTool } from "./multi-edit.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { readTool } from "./read.ts";
import { taskOutputTool } from "./task-output.ts";
import { taskStopTool } from "./task-stop.ts";
import { writeTool } from "./write.ts";

export function builtInTools(): Tool[] {
  return [
    bashTool,
    editTool,
    globTool,
    grepTool,
    multiEditTool,
    notebookEditTool,
    readTool,
    taskOutputTool,
    taskStopTool,
    writeTool,
  ];
}
