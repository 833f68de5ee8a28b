/** What can be done with a row that was read: quiet until it is pointed at or reached by keys. */
import type { Row } from "keel/view";
import type { ReactElement } from "react";
import { CopyButton } from "../kit/copy-button.tsx";
import { MenuButton } from "../kit/menu.tsx";
import { words } from "../words.ts";
import { useRowActions } from "./row-actions.ts";

export function RowMenu({ row, text }: { readonly row: Row; readonly text: string }): ReactElement {
  const { linkTo, rewindTo, forkAt, isReadOnly } = useRowActions();
  const isMessage = row.kind === "user" && row.from.kind === "person";
  const copy = (copied: string): void => void navigator.clipboard.writeText(copied).catch(() => undefined);
  return (
    <div className="row-menu">
      <CopyButton text={text} label={words.copyMarkdown} />
      <MenuButton
        icon="more"
        label={words.more}
        items={[
          { label: words.copyLink, icon: "link", onPick: () => copy(linkTo(row)) },
          ...(isMessage && !isReadOnly
            ? ([
                { label: words.rewindHere, icon: "undo", onPick: () => rewindTo(row.id) },
                { label: words.forkHere, icon: "branch", onPick: () => forkAt(row) },
              ] as const)
            : []),
        ]}
      />
    </div>
  );
}
