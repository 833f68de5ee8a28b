/** Where the page begins: the way to the server that it came from, what the browser keeps, and the page over both. */
import "./styles/tokens.css";
import "./styles/base.css";
import "./kit/kit.css";
import "./styles/layout.css";
import "./displays/displays.css";
import "./rows/rows.css";
import "./conversation/conversation.css";
import { connectBySocket } from "keel/client";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { browserPorts } from "./live/browser-ports.ts";
import { openKeptEvents } from "./live/kept-events.ts";
import { NavigationContext, openNavigation } from "./live/navigation.ts";
import { World, WorldContext } from "./live/world.ts";
import { routeOf } from "./route.ts";
import { startTheme } from "./theme.ts";

async function start(place: HTMLElement): Promise<void> {
  startTheme(localStorage);
  const root = createRoot(place);
  const navigation = openNavigation();
  const route = routeOf(location.pathname);
  if (route.page === "gallery") {
    const { Gallery } = await import("./gallery/gallery.tsx");
    return root.render(<Gallery shelf={route.shelf} />);
  }
  if (route.page === "pair") {
    const { PairPage } = await import("./login/pair-page.tsx");
    return root.render(<PairPage />);
  }
  // The page opens without the server too; where the browser has no such thing, it does not.
  void navigator.serviceWorker?.register("/sw.js").catch(() => undefined);
  const kept = await openKeptEvents();
  const client = connectBySocket({ url: location.origin, name: "console" });
  const world = new World({ client, kept, notes: localStorage, ...browserPorts() });
  window.addEventListener("pagehide", () => world.remember());
  root.render(
    <NavigationContext value={navigation}>
      <WorldContext value={world}>
        <App />
      </WorldContext>
    </NavigationContext>,
  );
}

const place = document.getElementById("page");
if (place) void start(place);
