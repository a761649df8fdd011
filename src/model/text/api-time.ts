/** A moment as the API writes it: whole seconds. */
export function toApiTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** The same with microseconds, which leases have. */
export function toApiMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}
