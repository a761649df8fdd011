import type { Logger } from '../../src/base/telemetry/logger.ts'

/** A logger for tests that do not look at the log. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silentLogger,
}
