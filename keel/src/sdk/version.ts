/** Keel's own version, as the package says it. */
import manifest from "../../package.json" with { type: "json" };

export const { version } = manifest;
