/** The revision of the Model Context Protocol that both of our ends of a wire speak. */
export const protocolVersion = "2025-11-25";
