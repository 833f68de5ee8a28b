/** What opens the rail where that is a sheet; the rail itself may come later than what it stands beside. */
import type { ReactElement } from "react";
import { IconButton } from "../kit/button.tsx";
import { words } from "../words.ts";

export const RailButton = ({ onOpen }: { readonly onOpen: () => void }): ReactElement => (
  <span className="only-narrow">
    <IconButton icon="menu" label={words.rail.openRail} onClick={onOpen} />
  </span>
);
