/** Where the page is, as data, and as an address. Pure. */

export type SettingsPage = "permissions" | "models" | "servers" | "memory" | "devices" | "look";
export const settingsPages: readonly SettingsPage[] = [
  "permissions",
  "models",
  "servers",
  "memory",
  "devices",
  "look",
];

export type Route =
  | { readonly page: "overview" }
  | {
      readonly page: "worker";
      readonly workspace: string;
      readonly worker?: string | undefined;
      readonly row?: string | undefined;
    }
  /** A session by itself: an old one to read, or an agent's. */
  | { readonly page: "session"; readonly session: string; readonly row?: string | undefined }
  | { readonly page: "asks" }
  | { readonly page: "groups"; readonly group?: string | undefined }
  | { readonly page: "schedules"; readonly schedule?: string | undefined }
  | { readonly page: "settings"; readonly on: SettingsPage }
  /** Where a device without a secret gets one. */
  | { readonly page: "pair" }
  | { readonly page: "gallery"; readonly shelf?: string | undefined }
  | { readonly page: "lost"; readonly address: string };

export function routeOf(path: string, hash = ""): Route {
  const [first = "", second, third] = path.split("/").filter(Boolean).map(decoded);
  const row = hash.startsWith("#") && hash.length > 1 ? decoded(hash.slice(1)) : undefined;
  switch (first) {
    case "":
      return { page: "overview" };
    case "workspaces":
      if (second !== undefined) return { page: "worker", workspace: second, worker: third, row };
      break;
    case "sessions":
      if (second !== undefined) return { page: "session", session: second, row };
      break;
    case "asks":
      return { page: "asks" };
    case "groups":
      return { page: "groups", group: second };
    case "schedules":
      return { page: "schedules", schedule: second };
    case "pair":
      return { page: "pair" };
    case "devices":
      return { page: "settings", on: "devices" };
    case "settings":
      return { page: "settings", on: settingsPages.find((page) => page === second) ?? "permissions" };
    case "dev":
      if (second === "gallery") return { page: "gallery", shelf: third };
      break;
  }
  return { page: "lost", address: path };
}

export function pathOf(route: Route): string {
  switch (route.page) {
    case "overview":
      return "/";
    case "worker":
      return `${join("workspaces", route.workspace, route.worker)}${hashOf(route.row)}`;
    case "session":
      return `${join("sessions", route.session)}${hashOf(route.row)}`;
    case "asks":
      return "/asks";
    case "groups":
      return join("groups", route.group);
    case "schedules":
      return join("schedules", route.schedule);
    case "pair":
      return "/pair";
    case "settings":
      return join("settings", route.on);
    case "gallery":
      return join("dev", "gallery", route.shelf);
    case "lost":
      return route.address;
  }
}

const join = (...parts: readonly (string | undefined)[]): string =>
  `/${parts
    .filter((part) => part !== undefined)
    .map((part) => encodeURIComponent(part))
    .join("/")}`;

const hashOf = (row: string | undefined): string => (row === undefined ? "" : `#${encodeURIComponent(row)}`);

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
