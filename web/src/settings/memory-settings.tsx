/** What earlier conversations said: looked through by words, and forgotten piece by piece. */
import type { AnswerTo } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useCallback, useEffect, useState } from "react";
import { useAnnounced } from "../kit/announce.tsx";
import { Button } from "../kit/button.tsx";
import { Link } from "../kit/link.tsx";
import { Ago } from "../kit/time.tsx";
import { faultOf, useAccess, useWorld } from "../live/world.ts";
import { RemoveDialog } from "../overview/change-dialogs.tsx";
import { words } from "../words.ts";

type Piece = AnswerTo<"memory">["found"][number];
const waitMs = 200;

export function MemorySettings(): ReactElement {
  const { client } = useWorld();
  const mayChange = useAccess() === "work";
  const [wanted, setWanted] = useState("");
  const [found, setFound] = useState<readonly Piece[]>();
  const [stats, setStats] = useState<AnswerTo<"memoryStats">>();
  const [forgetting, setForgetting] = useState<Piece>();
  const [outcome, setOutcome] = useState("");
  useAnnounced(outcome);
  const fail = useCallback((thrown: unknown): void => setOutcome(faultOf(thrown).message), []);
  const look = useCallback(
    (asked: string): Promise<void> =>
      client.memory.find(asked.trim() === "" ? {} : { words: asked }).then(async (answer) => {
        setFound(answer.found);
        setStats(await client.memory.stats());
      }, fail),
    [client, fail],
  );
  useEffect(() => {
    const timer = setTimeout(() => void look(wanted), wanted === "" ? 0 : waitMs);
    return () => clearTimeout(timer);
  }, [look, wanted]);
  const forget = async ({ id }: Piece): Promise<void> => {
    try {
      const { pieces, busy } = await client.memory.forget([id]);
      setOutcome(busy.length > 0 ? words.memory.busy : words.memory.forgotten(pieces));
      await look(wanted);
    } catch (thrown) {
      fail(thrown);
    }
  };
  return (
    <section>
      <h2>{words.memory.title}</h2>
      {stats && <p className="quiet">{words.memory.stats(stats)}</p>}
      <label className="field">
        <span className="label">{words.memory.find}</span>
        <input
          className="input"
          type="search"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
      </label>
      {outcome !== "" && <p role="status">{outcome}</p>}
      <ul className="rules memory">
        {found?.map((piece) => (
          <li key={piece.id}>
            <span className="about">
              <span className="quiet">
                {words.memory.by(piece.by)} · <Ago at={piece.at} /> ·{" "}
                <Link to={{ page: "session", session: piece.session }}>{words.memory.session}</Link>
              </span>
              <span className="said">{visible(piece.text)}</span>
            </span>
            {mayChange && (
              <Button look="plain" icon="trash" onClick={() => setForgetting(piece)}>
                {words.memory.forget}
              </Button>
            )}
          </li>
        ))}
        {found?.length === 0 && <li className="quiet">{words.memory.nothing(wanted.trim())}</li>}
      </ul>
      {forgetting && (
        <RemoveDialog
          title={words.memory.forgetTitle}
          about={words.memory.aboutForgetting}
          verb={words.memory.forget}
          onRemove={() => void forget(forgetting)}
          onClose={() => setForgetting(undefined)}
        />
      )}
    </section>
  );
}
