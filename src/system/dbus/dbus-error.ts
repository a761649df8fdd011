/** What the other side answered instead of a result: its name is the interface, its text is for people. */
export class DbusCallError extends Error {
  override readonly name = 'DbusCallError'
  /** Such as "org.freedesktop.DBus.Error.ServiceUnknown". */
  readonly errorName: string

  constructor(what: string, errorName: string, text: string) {
    super(`Cannot call ${what}: ${errorName}${text === '' ? '' : `: ${text}`}`)
    this.errorName = errorName
  }
}

/** The connection to the bus could not be made or is lost. */
export class DbusConnectionError extends Error {
  override readonly name = 'DbusConnectionError'
}

/** Bytes or values that are not what the protocol or their signature says. */
export class DbusFormatError extends Error {
  override readonly name = 'DbusFormatError'
}
