/** `keel admin`: the servers that share a database, for whoever looks after them. */
import { oneWord, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import {
  type DatabaseOfWorkers,
  drainWorker,
  listLeases,
  listWorkers,
} from "../../../app/workers/watch-workers.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";

type AdminValues = { readonly json?: boolean; readonly store?: string | undefined };

export const adminWorkers: CommandRun<AdminValues> = async ({ values }, context) =>
  withDatabase(values, context, async (remote) => {
    const workers = await listWorkers(remote);
    if (values.json) context.out.line(toLine(workers));
    else
      for (const { id, host, pid, version, state, leases } of workers)
        context.out.line(visible(`${id}  ${state}  ${host}:${pid}  Keel ${version}  ${leases} sessions`));
    if (workers.length === 0 && !values.json) context.err.line("No server has ever been on this database.");
    return exitCodes.ended;
  });

export const adminLeases: CommandRun<AdminValues> = async ({ values }, context) =>
  withDatabase(values, context, async (remote) => {
    const leases = await listLeases(remote);
    if (values.json) context.out.line(toLine(leases));
    else
      for (const { session, worker, fence, held } of leases)
        context.out.line(visible(`${session}  ${worker}  ${fence}${held ? "" : "  silent"}`));
    return exitCodes.ended;
  });

export const adminDrain: CommandRun<AdminValues> = async ({ values, positionals }, context) =>
  withDatabase(values, context, async (remote) => {
    const worker = oneWord(positionals, "Name one server: keel admin drain ID.");
    if (!(await drainWorker(remote, worker)))
      throw usage("There is no such server; `keel admin workers` lists them.");
    context.err.line(
      "It takes nothing new and gives its sessions away. `keel admin leases` shows what is left.",
    );
    return exitCodes.ended;
  });

async function withDatabase(
  { store }: AdminValues,
  context: Context,
  work: (remote: DatabaseOfWorkers) => Promise<number>,
): Promise<number> {
  const env = store === undefined ? context.env : { ...context.env, KEEL_STORE: store };
  await using home = openHome({ ...context, env });
  const remote = await home.remote();
  if (!remote)
    throw usage("Name the database: --store postgres://…, KEEL_STORE_URL or the setting `storeUrl`.");
  return work(remote);
}
