/** The settings: what runs unasked, which models and servers there are, what is remembered, who may come in, and how the page looks. */
import "../overview/overview.css";
import "./settings.css";
import type { ReactElement } from "react";
import { Link } from "../kit/link.tsx";
import { RailButton } from "../overview/rail-button.tsx";
import { type SettingsPage as Page, settingsPages } from "../route.ts";
import { words } from "../words.ts";
import { DevicesSettings } from "./devices-settings.tsx";
import { LookSettings } from "./look-settings.tsx";
import { MemorySettings } from "./memory-settings.tsx";
import { ModelsSettings } from "./models-settings.tsx";
import { PermissionsSettings } from "./permissions-settings.tsx";
import { ServersSettings } from "./servers-settings.tsx";

const pages: Readonly<Record<Page, () => ReactElement>> = {
  permissions: PermissionsSettings,
  models: ModelsSettings,
  servers: ServersSettings,
  memory: MemorySettings,
  devices: DevicesSettings,
  look: LookSettings,
};

export function SettingsPage({
  on,
  onRail,
}: {
  readonly on: Page;
  readonly onRail: () => void;
}): ReactElement {
  const Shown = pages[on];
  return (
    <main className="settings" id="main">
      <header className="head">
        <RailButton onOpen={onRail} />
        <h1>{words.settings.title}</h1>
        <nav className="tabs" aria-label={words.settings.title}>
          {settingsPages.map((page) => (
            <Link
              key={page}
              to={{ page: "settings", on: page }}
              aria-current={page === on ? "page" : undefined}
            >
              {words.settings.pages[page]}
            </Link>
          ))}
        </nav>
      </header>
      <div className="sheet">
        <Shown />
      </div>
    </main>
  );
}
