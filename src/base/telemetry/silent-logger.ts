import type { Logger } from './logger.ts'

/** For commands, and tests, whose log is not read. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silentLogger,
}
