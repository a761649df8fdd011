/** What is known of a probed container, by its id. */
interface ProbeNoteEntry {
  readonly started: boolean
  readonly ready: boolean
}

export type ProbeNote = ReadonlyMap<string, ProbeNoteEntry>

/** The note as text; the same note is always the same text. */
export function formatProbeNote(note: ProbeNote): string {
  const containers = [...note].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, entry]) => ({ id, ...entry }))
  return `${JSON.stringify({ version: 1, containers })}\n`
}

/** Reads a note; throws when the text is none. */
export function parseProbeNote(text: string): ProbeNote {
  const value: unknown = JSON.parse(text)
  const { version, containers } = (value ?? {}) as { readonly version?: unknown; readonly containers?: unknown }
  if (version !== 1 || !Array.isArray(containers)) {
    throw new Error('Cannot read a note about probes: expected version 1 and a list of containers')
  }
  return new Map(containers.map(parseEntry))
}

function parseEntry(value: unknown): [string, ProbeNoteEntry] {
  const { id, started, ready } = (value ?? {}) as Readonly<Record<'id' | 'started' | 'ready', unknown>>
  if (typeof id !== 'string' || typeof started !== 'boolean' || typeof ready !== 'boolean') {
    throw new Error('Cannot read a note about probes: expected id, started and ready of each container')
  }
  return [id, { started, ready }]
}
