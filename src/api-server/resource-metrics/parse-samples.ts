/** One value of a metric. */
export interface ParsedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Milliseconds since the epoch; undefined when the sample does not say when it was taken. */
  readonly time: number | undefined
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(-?\d+))?\s*$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '\\': '\\', '"': '"' }

/** Reads the text form of Prometheus; lines that are none are passed over. */
export function parseSamples(text: string): readonly ParsedSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value, time] = line.startsWith('#') ? [] : (LINE.exec(line) ?? [])
    if (name === undefined || !Number.isFinite(Number(value))) return []
    return [
      { name, labels: parseLabels(labels), value: Number(value), time: time === undefined ? undefined : Number(time) },
    ]
  })
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character),
  ])
  return Object.fromEntries(pairs) as Record<string, string>
}
