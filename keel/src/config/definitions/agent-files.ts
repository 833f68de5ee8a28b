/** Kinds of agents from folders: a Markdown file each, whose text is the agent's prompt and whose header its limits. */
import type { AgentProfile } from "../../ports/agent-definition.ts";
import { effortSchema, permissionModeSchema } from "../../protocol/settings.ts";
import {
  type DefinitionFile,
  type Definitions,
  isPlainName,
  nameIn,
  readDefinitions,
} from "./definition-files.ts";
import type { ConfigFolder } from "./folders.ts";
import { countField, flagField, listField, textField } from "./frontmatter.ts";

/** Takes the folders of the kind `agents`. Of two agents of one name the one of the stronger folder counts. */
export const readAgentFiles = (folders: readonly ConfigFolder[]): Promise<Definitions<AgentProfile>> =>
  readDefinitions(folders, "files", parseAgent);

/** Pure. Undefined, with a sentence, for a file that describes no agent. */
function parseAgent(file: DefinitionFile, tell: (problem: string) => void): AgentProfile | undefined {
  const { folder, front, trusted } = file;
  const name = nameIn(file);
  if (!isPlainName(name)) return void tell(`${JSON.stringify(name)} is no name for an agent`);
  const description = textField(front, "description");
  if (description === undefined) return void tell("an agent needs a description");
  const prompt = front.body.trim();
  if (prompt === "") return void tell("an agent needs a prompt below its header");
  const tools = listField(front, "tools");
  const effort = effortSchema.safeParse(textField(front, "effort"));
  const mode = permissionModeSchema.safeParse(textField(front, "permissionMode", "permission-mode"));
  const isolation = textField(front, "isolation");
  return {
    name,
    description,
    prompt,
    // One star means all, as if the line were not there.
    tools: tools?.includes("*") ? undefined : tools,
    disallowedTools: listField(front, "disallowedTools", "disallowed-tools"),
    model: textField(front, "model"),
    effort: effort.success ? effort.data : undefined,
    // A mode is a leave: that of a project counts with trust.
    permissionMode: mode.success && trusted ? mode.data : undefined,
    maxTurns: countField(front, "maxTurns", "max-turns"),
    background: flagField(front, "background"),
    isolation: isolation === "worktree" ? isolation : undefined,
    skills: listField(front, "skills"),
    mcpServers: trusted ? listField(front, "mcpServers", "mcp-servers") : undefined,
    from: folder.source === "managed" ? "user" : folder.source,
  };
}
