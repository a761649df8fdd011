/** How many connections there may be. */
export interface ConnectionLimits {
  readonly all: number
  /**
   * Those in their handshake, and those that have not shown who they are. A newcomer drives out the oldest of them, so that no client can keep
   * others out by only sitting there.
   */
  readonly strangers: number
}
