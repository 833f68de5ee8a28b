/** Keel's own version, as the package says it. */
import manifest from "../../package.json" with { type: "json" };

export const { version } = manifest;

/** The version of the interface that this one stands in for: programs compare it with the least that they need. */
export const interfaceVersion = "2.1.325";
