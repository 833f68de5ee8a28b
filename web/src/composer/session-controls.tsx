/** The settings of a session that are at hand: how it asks, which model answers, how hard it thinks. */
import type { PermissionMode, SettingsPatch } from "keel/protocol";
import type { ReactElement } from "react";
import { Button } from "../kit/button.tsx";
import { MenuButton } from "../kit/menu.tsx";
import type { SessionView } from "../live/session-view.ts";
import { useInquiry } from "../live/use-inquiry.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";

/** What a person changes with a click; what runs everything unasked is chosen where a session begins. */
const modes: readonly PermissionMode[] = ["default", "acceptEdits", "plan", "auto", "dontAsk"];

export function SessionControls({
  session,
  view,
}: {
  readonly session: string;
  readonly view: SessionView;
}): ReactElement | null {
  const world = useWorld();
  const { settings } = view.standing;
  const offered = useInquiry(session, "offeredModels", view.told > 0 ? "told" : undefined);
  if (!settings) return null;
  const set = (patch: SettingsPatch): void =>
    void world.attempt(world.submit(session, { type: "set", patch }));
  const { model, permissionMode, effort } = settings;
  const now = offered?.find((one) => one.model.id === model || one.name === model);
  const efforts = now?.efforts ?? [];
  const isDoing = view.activity.doing.kind === "running-tools";
  return (
    <>
      <MenuButton
        label={words.composer.mode}
        items={[...new Set([...modes, permissionMode])].map((mode) => ({
          label: words.modes[mode],
          more: words.modeHints[mode],
          isChosen: mode === permissionMode,
          onPick: () => set({ permissionMode: mode }),
        }))}
      >
        <span className={`mode-${permissionMode}`}>{words.modes[permissionMode]}</span>
      </MenuButton>
      <MenuButton
        label={words.composer.model}
        isDisabled={!offered || offered.length === 0}
        items={(offered ?? []).map((one) => ({
          label: one.model.name,
          more: one.name,
          isChosen: one === now,
          onPick: () => set({ model: one.model.id }),
        }))}
      >
        <span className="one-line">{now?.model.name ?? model}</span>
      </MenuButton>
      {efforts.length > 0 && (
        <MenuButton
          label={words.composer.effort}
          items={efforts.map((level) => ({
            label: level,
            isChosen: level === effort,
            onPick: () => set({ effort: level }),
          }))}
        >
          <span>{effort ?? words.composer.noEffort}</span>
        </MenuButton>
      )}
      {isDoing && (
        <Button
          look="plain"
          onClick={() => void world.attempt(world.submit(session, { type: "background" }))}
        >
          {words.composer.background}
        </Button>
      )}
    </>
  );
}
