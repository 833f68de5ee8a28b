/** What a kind of agent brings along: the texts of its skills, and MCP servers that are connected for it alone. */
import { boxOf } from "../../agents/rights.ts";
import type { AgentExtras, AgentPorts } from "../../agents/tree.ts";
import { defuse, note } from "../../core/context/blocks.ts";
import { enclose } from "../../core/context/enclose.ts";
import type { Rules } from "../../policy/decide.ts";
import { touches } from "../../policy/rules.ts";
import type { AgentProfile } from "../../ports/agent-definition.ts";
import type { Briefing } from "../../ports/briefing.ts";
import type { Library } from "../../ports/library.ts";
import type { Toolbox } from "../../ports/tool.ts";
import type { McpServerOptions } from "../../protocol/mcp.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import type { SessionMcp } from "./mcp.ts";
import { joinBoxes } from "./own-tools.ts";
import { allowedBox } from "./tool-set.ts";

export type AgentExtrasContext = {
  readonly library: Pick<Library, "readSkill">;
  readonly rules: Rules;
  /** The servers of the session. */
  readonly mcp: SessionMcp;
  /** Whether tools of servers are offered at all. */
  readonly foreign: "offered" | "refused";
  /** Others, for one agent. */
  serversOf(named: Readonly<Record<string, McpServerOptions>>): SessionMcp;
};

/** What all skills of one agent may take of its window together. */
const maxSkillCharacters = 100_000;

export const agentExtras =
  (context: AgentExtrasContext): NonNullable<AgentPorts["extras"]> =>
  async (definition, signal) => {
    const skills = await skillTexts(definition.skills ?? [], context, signal);
    const { wanted, problems } = serversFor(definition, context);
    const own = Object.keys(wanted).length > 0 ? context.serversOf(wanted) : undefined;
    own?.start();
    return {
      texts: skills.texts,
      problems: [...skills.problems, ...problems],
      join: (box) => joined(box, own && allowedBox(own.toolbox, context.rules), definition),
      close: async () => own?.close(),
    };
  };

/** Told before its task, in the order in which they are named. A skill that rules deny is not read. */
export async function skillTexts(
  names: readonly string[],
  { library, rules }: Pick<AgentExtrasContext, "library" | "rules">,
  signal: AbortSignal,
): Promise<Pick<AgentExtras, "texts" | "problems">> {
  const problems: string[] = [];
  const texts: InputBlock[] = [];
  let left = maxSkillCharacters;
  for (const name of names) {
    const read = isDenied(name, rules)
      ? { ok: false as const, why: `A rule denies the skill ${name}.` }
      : await library.readSkill({ name, args: "" }, signal);
    if (!read.ok) problems.push(read.why);
    else if (read.text.length > left)
      problems.push(`The skill ${name} is too long to be given beside the others.`);
    else {
      left -= read.text.length;
      texts.push(text(enclose("keel-skill", { name }, read.text)));
    }
  }
  return {
    texts: texts.length > 0 ? [note("Skills for this task; follow them where they fit:"), ...texts] : [],
    problems,
  };
}

const isDenied = (name: string, { deny }: Rules): boolean =>
  deny.some((rule) => touches(rule, "Skill", { action: "use", target: name }));

/** Those that the session has anyway are its agents' too. What is off is started for whom its owner lets decide. */
function serversFor(
  { name, mcpServers = [], servers = {}, from }: AgentProfile,
  { mcp, foreign }: AgentExtrasContext,
): { wanted: Record<string, McpServerOptions>; problems: string[] } {
  const problems: string[] = [];
  const wanted: Record<string, McpServerOptions> = {};
  if (foreign === "refused") return { wanted, problems };
  const isPersons = from === "program" || from === "user";
  for (const server of mcpServers) {
    const status = mcp.control.status().find((known) => known.name === server);
    if (status && status.status !== "disabled") continue;
    const known = mcp.servers.find((one) => one.name === server);
    const why = !known
      ? "there is no such server"
      : !known.isOff
        ? "it was switched off"
        : isPersons
          ? undefined
          : "your settings say that it is not to be started";
    if (why !== undefined || !known)
      problems.push(`The agent ${name} works without the MCP server ${JSON.stringify(server)}: ${why}.`);
    else wanted[server] = known.config;
  }
  return { wanted: { ...wanted, ...servers }, problems };
}

/** What it names itself it has, except for what it says it has not. */
function joined(
  box: Toolbox | undefined,
  own: Toolbox | undefined,
  { disallowedTools }: AgentProfile,
): Toolbox | undefined {
  if (!own) return box;
  const narrowed = boxOf({ disallowedTools }, own);
  return box ? joinBoxes([box, narrowed]) : narrowed;
}

/** A session that works as a kind of agent is told its skills as well, whenever its conversation begins. */
export function withSkills(
  briefing: Briefing,
  names: readonly string[],
  context: Pick<AgentExtrasContext, "library" | "rules">,
): Briefing {
  if (names.length === 0) return briefing;
  const told = withMore(briefing, async () => {
    const { texts, problems } = await skillTexts(names, context, new AbortController().signal);
    return [...texts, ...problems.map((words) => note(defuse(words)))];
  });
  // Its agents have skills of their own.
  return { ...told, forAgent: () => briefing.forAgent?.() ?? briefing };
}

/** At its start a conversation is told what `more` says as well. */
const withMore = (
  briefing: Briefing,
  more: () => Promise<readonly InputBlock[]> | readonly InputBlock[],
): Briefing => ({
  near: (seen, known) => briefing.near(seen, known),
  news: (tools, turn) => briefing.news?.(tools, turn) ?? [],
  forAgent: () => withMore(briefing.forAgent?.() ?? briefing, more),
  async start(tools) {
    const told = await briefing.start(tools);
    return { ...told, content: [...told.content, ...(await more())] };
  },
});
