const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** "12.3 MiB". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  const value = bytes / 1024 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`
}

/** "250m" or "1.50", as Kubernetes writes cores. */
export function formatCores(cores: number): string {
  return cores < 1 ? `${Math.round(cores * 1000)}m` : cores.toFixed(2)
}

/** "5d3h": the two largest units. */
export function formatAge(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000))
  if (!Number.isFinite(seconds)) return ''
  return formatSeconds(seconds)
}

function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes < 10 && seconds % 60 > 0 ? `${minutes}m${seconds % 60}s` : `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 > 0 ? `${hours}h${minutes % 60}m` : `${hours}h`
  const days = Math.floor(hours / 24)
  return hours % 24 > 0 && days < 8 ? `${days}d${hours % 24}h` : `${days}d`
}

/** "1.204 s", "35 ms". */
export function formatMillis(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 100_000 ? 2 : 0)} s`
}

const CLOCK: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }

/** The time of day, with the day where it is another one. */
export function formatClock(time: string | number, now: number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  const isToday = date.toDateString() === new Date(now).toDateString()
  return date.toLocaleString(undefined, isToday ? CLOCK : { ...CLOCK, month: 'short', day: 'numeric' })
}

/** With the zone, for those who point at a time. */
export function formatMoment(time: string | number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' })
}

/** The zone of all times: "Europe/Berlin (GMT+1)". */
export function formatZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' }).formatToParts(new Date())
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return offset === '' || offset === timeZone ? timeZone : `${timeZone} (${offset})`
}

// Colours and cursor movements of terminals: they mean nothing here.
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** Text of a container as it can be shown: nothing in it moves or hides what stands around it. */
export function toVisible(text: string): string {
  return text.replaceAll(ESCAPES, '').replaceAll(CONTROLS, '·')
}

const CRASH_LOOP =
  /^Waits: container ("[^"]*") CrashLoopBackOff: back-off \S+ restarting failed container=\S+ pod=\S+: /

/** The sentence of a pod for one line beside its status: of a crash loop what it is that crashes comes first. */
export function shortenWhy(sentence: string): string {
  return sentence.replace(CRASH_LOOP, '$1 ')
}

/** What went wrong, for people. A server repeats what it was sent, names of pods and all. */
export function toErrorText(error: unknown): string {
  return toVisible(error instanceof Error ? error.message || error.constructor.name : String(error))
}
