/** Files of a session put back as they were, without the session being at work. */
import { sessionArtifacts } from "../../agents/tree.ts";
import { Session } from "../../engine/session.ts";
import type { Receipt } from "../../protocol/command.ts";
import type { HomeResources } from "../compose/home-resources.ts";
import { lateModel } from "../compose/model.ts";
import { composeSession } from "../compose/session-composition.ts";
import type { OpenOptions } from "../options.ts";

/** Takes back what a session changed in files. Needs no model: nothing is asked, nothing runs. */
export async function rewindFiles(
  options: Pick<OpenOptions, "version" | "cwd" | "env" | "home">,
  { session: id, checkpoint, preview }: { session: string; checkpoint: string; preview: boolean },
  home: HomeResources,
): Promise<Receipt> {
  const composition = await composeSession({ ...options, checkpoints: "on" }, home);
  const log = await composition.store.open(id);
  const session = await Session.open(
    {
      ...composition.parts,
      log,
      model: lateModel(),
      ...sessionArtifacts(composition.store, id),
    },
    // The log has its own start; this one is for a log that lost it.
    {
      start: {
        keel: options.version,
        cwd: composition.parts.workspace.cwd,
        settings: { model: "", permissionMode: "default", thinking: { kind: "off" } },
      },
      // A turn that a crash left open must not go on because its files are looked at.
      unfinished: "lost",
    },
  );
  try {
    return await session.submit({ type: "rewind", checkpoint, preview });
  } finally {
    await session.close("ended");
  }
}
