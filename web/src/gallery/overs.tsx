/** What can lie over a page: each dialog by itself. */
import type { ReactElement } from "react";
import type { SessionView } from "../live/session-view.ts";
import { useSession } from "../live/world.ts";
import { RemoveDialog, RenameDialog } from "../overview/change-dialogs.tsx";
import { NewAgent } from "../overview/new-agent.tsx";
import { NewWorkspace } from "../overview/new-workspace.tsx";
import { Palette } from "../palette/palette.tsx";
import { RewindDialog } from "../side/rewind-dialog.tsx";
import { words } from "../words.ts";
import { workspaces } from "./scenes.ts";

const nothing = (): void => undefined;
const [firstWorkspace] = workspaces;

export const overs = {
  create: () => <NewWorkspace onClose={nothing} />,
  agent: () => firstWorkspace && <NewAgent workspace={firstWorkspace} onClose={nothing} />,
  rename: () => (
    <RenameDialog
      title={words.change.renameTitle("Mend the login")}
      name="Mend the login"
      onRename={nothing}
      onClose={nothing}
    />
  ),
  remove: () => (
    <RemoveDialog
      title={words.change.removeTitle("Mend the login")}
      about={words.change.aboutWorkspace}
      verb={words.change.remove}
      onRemove={nothing}
      onClose={nothing}
    />
  ),
  rewind: () => <Rewinding />,
  palette: () => <Palette onClose={nothing} onCreate={nothing} />,
} as const;

const began = Date.UTC(2026, 10, 16, 9, 30);
const checkpoints: SessionView["changes"]["checkpoints"] = [
  { id: "1", at: began, words: "The login test fails since the merge.", paths: ["src/login.ts"] },
  { id: "2", at: began + 60_000, words: "Yes, and publish a preview of it.", paths: ["a", "b"] },
];

function Rewinding(): ReactElement {
  const { state } = useSession("login");
  const changes = { ...state.view.changes, checkpoints };
  return <RewindDialog session="login" view={{ ...state.view, changes }} onClose={nothing} />;
}
