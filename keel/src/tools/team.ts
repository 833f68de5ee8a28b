/** TeamCreate, TeamDelete and TeamShutdown for the leader of a team, ShutdownReply for its members. */
import * as z from "zod/mini";
import type { Agents, ShutdownOutcome } from "../ports/agents.ts";
import type { Tool } from "../ports/tool.ts";
import { builtInTool, failure, flagField, numberField, said, textField } from "./built-in.ts";

const second = 1_000;
const defaultSeconds = 60;
const maxSeconds = 3_600;

/** These change nothing but who works with whom, and twice is as good as once. */
const within = { traits: { readOnly: true, replay: "safe" }, claims: async () => [] } as const;

const createInput = z.object({
  team_name: textField("A short name for the team.", z.minLength(1), z.maxLength(60)),
  description: z.optional(textField("What the team is for.", z.maxLength(2_000))),
});

export const teamCreateTool = (agents: Agents): Tool<z.infer<typeof createInput>> =>
  builtInTool({
    name: "TeamCreate",
    description:
      "Forms a team that you lead: from then on each agent that you start with a name is a member. Members tell each other things with SendMessage, share your task list and rest between pieces of work. For work that several agents must coordinate; for independent pieces, Agent alone is enough.",
    deferred: true,
    searchHint: "team teammates swarm collaborate",
    input: createInput,
    ...within,
    run: async function* ({ team_name: name, description }) {
      const { ok, words } = await (await agents.team()).create({ name, description });
      return ok ? { ...said(words), data: { team_name: name } } : failure(words);
    },
  });

const nothing = z.object({});

export const teamDeleteTool = (agents: Agents): Tool<z.infer<typeof nothing>> =>
  builtInTool({
    name: "TeamDelete",
    description: "Ends your team. Refused while a member is at work: use TeamShutdown first.",
    deferred: true,
    searchHint: "team cleanup",
    input: nothing,
    ...within,
    run: async function* () {
      const { ok, words } = await (await agents.team()).end();
      return ok ? { ...said(words), data: { success: true } } : failure(words);
    },
  });

const shutdownInput = z.object({
  members: z.optional(z.array(z.string()).check(z.describe("Their names; default all."), z.maxLength(200))),
  reason: z.optional(textField("Why, for the members.", z.maxLength(2_000))),
  timeout: numberField(
    `Seconds to answer and to finish; default ${defaultSeconds}. Who is not done by then is stopped.`,
    z.gte(1),
    z.lte(maxSeconds),
  ),
  force: flagField("Stop them at once, without asking."),
});

export const teamShutdownTool = (agents: Agents): Tool<z.infer<typeof shutdownInput>> =>
  builtInTool({
    name: "TeamShutdown",
    description:
      "Asks members of your team to shut down and waits for it. Each approves and finishes, or objects with a reason and goes on. Who has shut down cannot be woken again.",
    deferred: true,
    searchHint: "team shutdown stop teammates requestShutdown",
    input: shutdownInput,
    ...within,
    run: async function* ({ members, reason, timeout = defaultSeconds, force = false }, context, signal) {
      const request = { members, reason, ms: timeout * second, force };
      const done = await (await agents.team()).shutdown(request, context, signal);
      if (!done.ok) return failure(done.words);
      const { outcomes } = done;
      return {
        ...said(outcomes.length === 0 ? "Nobody is in the team." : outcomes.map(sayOutcome).join("\n\n")),
        data: { outcomes: outcomes.map((outcome) => ({ ...outcome })) },
      };
    },
  });

const sayOutcome = ({ member, how, words }: ShutdownOutcome): string =>
  `${member}: ${how === "objected" ? "objects: " : ""}${words}`;

const replyInput = z.object({
  approve: z.boolean().check(z.describe("Whether you shut down.")),
  reason: z.optional(textField("Why not, if you object.", z.maxLength(2_000))),
});

export const shutdownReplyTool = (agents: Agents): Tool<z.infer<typeof replyInput>> =>
  builtInTool({
    name: "ShutdownReply",
    description: "Answers a request of your team's leader to shut down: approve, or object with a reason.",
    input: replyInput,
    ...within,
    run: async function* ({ approve, reason }) {
      const { ok, words } = await (await agents.team()).reply({ approve, reason });
      return ok ? { ...said(words), data: { approve } } : failure(words);
    },
  });
