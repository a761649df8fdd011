/** What one rotation does in the directory of a log, by file names, in this order. */
export interface LogRotation {
  readonly remove: readonly string[]
  readonly compress: readonly string[]
  /** What the current log is called afterwards. */
  readonly rotated: string
}

export interface LogRotationInput {
  /** The current log, such as 0.log. */
  readonly logName: string
  /** All that is in its directory. */
  readonly names: readonly string[]
  /** The current one and the one rotated last are plain; what this leaves is kept compressed. */
  readonly maxFiles: number
  readonly now: number
}

export const TEMPORARY_SUFFIX = '.tmp'
export const COMPRESSED_SUFFIX = '.gz'
const ROTATED = /^\.\d{8}-\d{6}(?:\.gz)?(?:\.tmp)?$/

/** Decides from the names alone: they carry the time of their rotation, and so the order. */
export function computeLogRotation({ logName, names, maxFiles, now }: LogRotationInput): LogRotation {
  const family = names.filter((name) => isRotatedName(logName, name)).sort()
  const [leftovers, rotated] = partition(family, (name) => isLeftover(name, names))
  const excess = Math.max(0, rotated.length - Math.max(0, maxFiles - 2))
  return {
    remove: [...leftovers, ...rotated.slice(0, excess)],
    compress: rotated.slice(excess).filter((name) => !name.endsWith(COMPRESSED_SUFFIX)),
    rotated: chooseName(logName, names, now),
  }
}

/** True for the name of a rotated file of this log, in whatever state of being compressed. */
export function isRotatedName(logName: string, name: string): boolean {
  return name.startsWith(logName) && ROTATED.test(name.slice(logName.length))
}

/** Left by an agent that died while it compressed: half a file, or the plain one whose compressed form is complete. */
function isLeftover(name: string, names: readonly string[]): boolean {
  return name.endsWith(TEMPORARY_SUFFIX) || names.includes(`${name}${COMPRESSED_SUFFIX}`)
}

/** Local time, as the Go kubelet writes it. Where the clock went back, the next free second, so that no log is overwritten. */
function chooseName(logName: string, names: readonly string[], now: number): string {
  for (let time = now; ; time += 1000) {
    const name = `${logName}.${formatTime(new Date(time))}`
    if (!names.includes(name) && !names.includes(`${name}${COMPRESSED_SUFFIX}`)) return name
  }
}

function formatTime(time: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const date = `${String(time.getFullYear()).padStart(4, '0')}${two(time.getMonth() + 1)}${two(time.getDate())}`
  return `${date}-${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`
}

function partition(names: readonly string[], test: (name: string) => boolean): [string[], string[]] {
  return [names.filter((name) => test(name)), names.filter((name) => !test(name))]
}
