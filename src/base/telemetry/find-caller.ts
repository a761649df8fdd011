// The logger itself, and whatever wraps it.
const DEPTH = 8

/** Finds the source that a line of a file comes from; undefined where the file is the source. */
export type FindSource = (path: string, line: number) => string | undefined

/** The source from which this one was called; empty when that is unknown. */
export function findCaller(own: string, findSource: FindSource = () => undefined): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = DEPTH
  const { stack = '' } = new Error('where are we?')
  Error.stackTraceLimit = limit
  const sources = [...stack.matchAll(/(?:file:\/\/|[ (])(\/[^\s)]+?):(\d+):\d+/g)].map(([, url = '', line]) => {
    const path = decodeURI(url)
    return findSource(path, Number(line)) ?? path
  })
  const place = sources.findLastIndex((source) => source.endsWith(own))
  return place === -1 ? '' : (sources[place + 1] ?? '')
}
