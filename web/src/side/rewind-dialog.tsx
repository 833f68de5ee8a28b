/** Puts files back as they were before a message: what would change first, then the change, then the way back. */
import "../asks/asks.css";
import "./side.css";
import type { Receipt } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Ago } from "../kit/time.tsx";
import type { SessionView } from "../live/session-view.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { words } from "../words.ts";

type Rewound = Extract<Receipt, { type: "rewound" }>;

type RewindDialogProps = {
  readonly session: string;
  readonly view: SessionView;
  /** The message to begin with. */
  readonly checkpoint?: string | undefined;
  readonly onClose: () => void;
};

export function RewindDialog({ session, view, checkpoint, onClose }: RewindDialogProps): ReactElement {
  const world = useWorld();
  const [chosen, setChosen] = useState(checkpoint);
  const [preview, setPreview] = useState<Rewound>();
  const [done, setDone] = useState<Rewound>();
  const [problem, setProblem] = useState("");
  const { checkpoints, undo } = view.changes;
  const rewind = async (to: string, isPreview: boolean): Promise<void> => {
    try {
      const receipt = await world.submit(session, {
        type: "rewind",
        checkpoint: to,
        ...(isPreview ? { preview: true } : {}),
      });
      if (receipt.type !== "rewound") return;
      setProblem("");
      if (isPreview) setPreview(receipt);
      else setDone(receipt);
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked when another message is chosen, and not otherwise
  useEffect(() => {
    setPreview(undefined);
    if (chosen !== undefined) void rewind(chosen, true);
  }, [chosen]);
  return (
    <Dialog title={words.rewind.title} onClose={onClose}>
      {done ? (
        <>
          <p>{words.rewind.done(done.files.length)}</p>
          <Changes of={done} />
          <div className="answers">
            {done.undo !== undefined && (
              <Button icon="undo" onClick={() => void rewind(done.undo ?? "", false).then(onClose)}>
                {words.rewind.undo}
              </Button>
            )}
            <Button look="main" onClick={onClose}>
              {words.close}
            </Button>
          </div>
        </>
      ) : (
        <>
          <p className="quiet">{words.rewind.about}</p>
          <ul className="checkpoints">
            {checkpoints.toReversed().map(({ id, at, words: said, paths }) => (
              <li key={id}>
                <label className="option">
                  <input
                    type="radio"
                    name="checkpoint"
                    checked={chosen === id}
                    onChange={() => setChosen(id)}
                  />
                  <span>
                    <span className="label">{visible(said)}</span>{" "}
                    <span className="quiet">
                      <Ago at={at} /> · {words.rewind.files(paths.length)}
                    </span>
                  </span>
                </label>
              </li>
            ))}
          </ul>
          {checkpoints.length === 0 && <p>{words.rewind.none}</p>}
          {preview && <Changes of={preview} />}
          {problem !== "" && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
          <div className="answers">
            <Button
              look="main"
              disabled={!preview || preview.files.length === 0}
              onClick={() => chosen !== undefined && void rewind(chosen, false)}
            >
              {words.rewind.rewind}
            </Button>
            {undo !== null && (
              <Button icon="undo" onClick={() => void rewind(undo, false)}>
                {words.rewind.undoLast}
              </Button>
            )}
          </div>
        </>
      )}
    </Dialog>
  );
}

const Changes = ({ of: { files, skipped, lost } }: { readonly of: Rewound }): ReactElement => (
  <ul className="changed">
    {files.length === 0 && <li className="quiet">{words.rewind.nothing}</li>}
    {files.map(({ path, insertions, deletions }) => (
      <li key={path}>
        <span className="one-line">{visible(path)}</span>
        <span className="figures">
          <span className="added">+{insertions}</span> <span className="removed">−{deletions}</span>
        </span>
      </li>
    ))}
    {skipped.map(({ path, why }) => (
      <li key={path} className="quiet">
        {visible(path)}: {visible(why)}
      </li>
    ))}
    {lost.map((path) => (
      <li key={path} className="quiet">
        {words.rewind.lost(visible(path))}
      </li>
    ))}
  </ul>
);
