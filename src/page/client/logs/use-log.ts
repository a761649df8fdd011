import { useEffect, useRef, useState } from 'preact/hooks'
import { errorText } from '../error-text.ts'
import { toVisible } from '../format.ts'
import { readLines } from '../read-lines.ts'
import { AnswerError, ask, SignedOutError } from '../session.ts'

/** So many lines are read at first, and so many are kept at most. */
export const FIRST_LINES = 2000
export const MOST_LINES = 20_000
const LONGEST_LINE = 4000
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [500, 10_000]
const NEW_INSTANCE = '――― the container was started again ―――'

export interface LogOptions {
  readonly container: string
  readonly previous: boolean
  readonly timestamps: boolean
  readonly follow: boolean
  readonly stream: 'All' | 'Stdout' | 'Stderr'
  /** How many lines of what was written before are read. */
  readonly tail: number
}

/** The query of a log, whole. */
export function toLogQuery({ container, previous, timestamps, stream }: LogOptions): Record<string, string> {
  return {
    container,
    ...(previous && { previous: 'true' }),
    ...(timestamps && { timestamps: 'true' }),
    ...(stream !== 'All' && { stream }),
  }
}

/**
 * The last lines of a log, and those that come; a connection that breaks is made again. A container that is started again is another instance: its lines come
 * after those of the one before.
 */
export function useLog(
  path: string,
  options: LogOptions,
  instance: string,
): { readonly lines: readonly string[]; readonly note: string } {
  const [lines, setLines] = useState<readonly string[]>([])
  const [note, setNote] = useState('')
  const { follow, previous, stream, tail: lineCount } = options
  const isFollowed = follow && !previous
  const shown = JSON.stringify([path, options])
  const last = useRef('')
  useEffect(() => {
    const stop = new AbortController()
    const isNewInstance = last.current === shown && isFollowed
    last.current = shown
    void followLog()
    return () => stop.abort()

    async function followLog(): Promise<void> {
      // The server takes no number of lines for one stream alone.
      const tail = stream === 'All' ? { tailLines: String(lineCount) } : undefined
      const query = new URLSearchParams({ ...toLogQuery(options), ...tail, ...(isFollowed && { follow: 'true' }) })
      for (let waitMs = FIRST_WAIT_MS; !stop.signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
        setNote('loading…')
        try {
          const { body } = await ask(`${path}?${query.toString()}`, { signal: stop.signal })
          setNote(isFollowed ? 'following' : '')
          // What was there before stays until there is something in its place.
          let isFirst = !isNewInstance
          if (isNewInstance) setLines((before) => (before.length === 0 ? [] : [...before, NEW_INSTANCE]))
          if (body !== null)
            for await (const batch of readLines(body)) {
              waitMs = FIRST_WAIT_MS
              const visible = batch.map((line) => toVisible(line.slice(0, LONGEST_LINE)))
              const isNew = isFirst
              isFirst = false
              setLines((before) => [...(isNew ? [] : before), ...visible].slice(-MOST_LINES))
            }
          if (isFirst) setLines([])
          // It ends by itself when the container does.
          return setNote(isFollowed ? 'the container has ended' : '')
        } catch (error) {
          if (stop.signal.aborted) return
          if (error instanceof AnswerError && !isNewInstance) setLines([])
          if (error instanceof SignedOutError || !(error instanceof TypeError)) return setNote(errorText(error))
          setNote('connection lost, trying again…')
          await new Promise((resolve) => void setTimeout(resolve, waitMs))
        }
      }
    }
  }, [shown, isFollowed ? instance : ''])
  return { lines, note }
}
