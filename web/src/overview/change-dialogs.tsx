/** Another name for something, and the question before something is gone. */
import "./overview.css";
import { type ReactElement, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { words } from "../words.ts";
import { TextField } from "./text-field.tsx";

type RenameDialogProps = {
  readonly title: string;
  readonly name: string;
  readonly onRename: (name: string) => void;
  readonly onClose: () => void;
};

export function RenameDialog({ title, name, onRename, onClose }: RenameDialogProps): ReactElement {
  const [text, setText] = useState(name);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="create"
        onSubmit={(event) => {
          event.preventDefault();
          onRename(text.trim());
          onClose();
        }}
      >
        <TextField label={words.change.name} value={text} isNeeded onChange={setText} />
        <div className="answers">
          <button type="submit" className="button main" disabled={text.trim() === ""}>
            {words.change.rename}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type RemoveDialogProps = {
  readonly title: string;
  /** What will be gone, and what stays. */
  readonly about: string;
  readonly verb: string;
  readonly onRemove: () => void;
  readonly onClose: () => void;
};

export const RemoveDialog = ({ title, about, verb, onRemove, onClose }: RemoveDialogProps): ReactElement => (
  <Dialog title={title} onClose={onClose}>
    <p>{about}</p>
    <div className="answers">
      <Button
        look="danger"
        onClick={() => {
          onRemove();
          onClose();
        }}
      >
        {verb}
      </Button>
      {/* What loses nothing is at hand. */}
      <Button look="plain" data-first onClick={onClose}>
        {words.cancel}
      </Button>
    </div>
  </Dialog>
);
