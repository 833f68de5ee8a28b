/** Settings are those of a folder: they are asked of a session that works there, and the person says of which. */
import type { WorkerEntry } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, type ReactNode, useState } from "react";
import { useWorkspaces } from "../live/world.ts";
import { words } from "../words.ts";

type OfSessionProps = { readonly children: (session: string) => ReactNode };

const hasSession = (worker: WorkerEntry): worker is WorkerEntry & { session: string } =>
  worker.kind === "agent" && worker.session !== undefined;

export function OfSession({ children }: OfSessionProps): ReactElement {
  const { all } = useWorkspaces();
  const choices = all
    .filter(({ archived }) => !archived)
    .flatMap(({ title, workers }) =>
      workers.filter(hasSession).map(({ session, name }) => ({ title: `${title} · ${name}`, session })),
    );
  const [picked, setPicked] = useState<string>();
  const session = choices.find((choice) => choice.session === picked)?.session ?? choices[0]?.session;
  if (session === undefined) return <p className="quiet">{words.settings.noSession}</p>;
  return (
    <>
      <label className="field of-session">
        <span className="label">{words.settings.asSeenBy}</span>
        <select className="input" value={session} onChange={({ target }) => setPicked(target.value)}>
          {choices.map((choice) => (
            <option key={choice.session} value={choice.session}>
              {visible(choice.title)}
            </option>
          ))}
        </select>
      </label>
      {children(session)}
    </>
  );
}
