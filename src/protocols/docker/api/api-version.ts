// What this client was written for, and the oldest that has all it needs: Docker Engine 20.10.
const NEWEST: ApiVersion = [1, 52]
const OLDEST: ApiVersion = [1, 41]

type ApiVersion = readonly [major: number, minor: number]

/** Docker speaks only versions of its API that are too old. */
class ApiVersionError extends Error {
  override readonly name = 'ApiVersionError'
}

/** The version to speak with a Docker whose newest version is this. */
export function chooseApiVersion(newestOfDocker: string): string {
  const theirs = parse(newestOfDocker)
  if (theirs === undefined)
    throw new ApiVersionError(`Cannot use Docker: it does not say which version of its API it has`)
  if (isOlder(theirs, OLDEST)) {
    throw new ApiVersionError(
      `Cannot use Docker: its API has version ${newestOfDocker}, expected at least ${OLDEST.join('.')} (Docker Engine 20.10)`,
    )
  }
  return (isOlder(theirs, NEWEST) ? theirs : NEWEST).join('.')
}

/** Is a version of the API at least this one? */
export function hasApi(version: string, least: string): boolean {
  const [theirs, ours] = [parse(version), parse(least)]
  return theirs !== undefined && ours !== undefined && !isOlder(theirs, ours)
}

/** True for an answer that says the version of the request is none that Docker speaks; it was replaced by another one. */
export function isVersionRefusal(status: number, message: string): boolean {
  return status === 400 && /client version [\d.]+ is too (old|new)/.test(message)
}

function parse(text: string): ApiVersion | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)$/.exec(text) ?? []
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)]
}

function isOlder([major, minor]: ApiVersion, [thanMajor, thanMinor]: ApiVersion): boolean {
  return major < thanMajor || (major === thanMajor && minor < thanMinor)
}
