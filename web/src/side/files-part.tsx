/** The files that the session changed, and the way back to any message. */
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Button } from "../kit/button.tsx";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

type FilesPartProps = {
  readonly view: SessionView;
  readonly isReadOnly: boolean;
  readonly onFile: (path: string) => void;
  readonly onRewind: () => void;
};

export function FilesPart({ view, isReadOnly, onFile, onRewind }: FilesPartProps): ReactElement | null {
  const files = Object.values(view.changes.files);
  const { checkpoints, undo } = view.changes;
  if (files.length === 0 && checkpoints.length === 0) return null;
  return (
    <SideSection name="files" title={words.side.files} figure={files.length}>
      <ul className="changed">
        {files.map(({ path, added, removed }) => (
          <li key={path}>
            <button type="button" title={visible(path)} onClick={() => onFile(path)}>
              <span className="one-line">{visible(lastName(path))}</span>
              <span className="figures">
                <span className="added">+{added}</span> <span className="removed">−{removed}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {!isReadOnly && (checkpoints.length > 0 || undo !== null) && (
        <Button look="plain" icon="undo" onClick={onRewind}>
          {words.rewind.open}
        </Button>
      )}
    </SideSection>
  );
}

const lastName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;
