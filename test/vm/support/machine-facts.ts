/** How long to wait for what should happen soon: under emulation, on a busy machine. */
export const PATIENCE_SECONDS = 900
