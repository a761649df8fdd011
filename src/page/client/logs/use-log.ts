import { BackOff } from '../../../base/async/back-off.ts'
import { useEffect, useRef, useState } from 'preact/hooks'
import { toErrorText, toVisible } from '../format.ts'
import { readLines } from '../read-lines.ts'
import { AnswerError, ask, SignedOutError } from '../session.ts'
import { useShown } from '../hooks.ts'

/** So many lines are read at first, and so many are kept at most. */
export const FIRST_LINES = 2000
export const MOST_LINES = 20_000
const LONGEST_LINE = 4000
const WAITS = { firstMs: 500, longestMs: 10_000 }
const NEW_INSTANCE = '――― the container was started again ―――'

export interface LogViewOptions {
  readonly container: string
  readonly previous: boolean
  readonly timestamps: boolean
  readonly follow: boolean
  readonly stream: 'All' | 'Stdout' | 'Stderr'
  /** How many lines of what was written before are read. */
  readonly tail: number
}

/** The container as its pod's status has it. */
export interface ContainerRun {
  /** Which run of it the log is of: another one after each start. */
  readonly instance: string
  readonly state: 'not started' | 'running' | 'ended'
}

/** The query of a log, whole. */
export function toLogParameters({ container, previous, timestamps, stream }: LogViewOptions): Record<string, string> {
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
  options: LogViewOptions,
  { instance, state }: ContainerRun,
): { readonly lines: readonly string[]; readonly note: string } {
  const [lines, setLines] = useState<readonly string[]>([])
  const [note, setNote] = useState('')
  const { follow, previous, stream, tail: lineCount } = options
  const isFollowed = follow && !previous
  const shown = JSON.stringify([path, options])
  const last = useRef({ shown: '', instance: '' })
  const stateNow = useRef(state)
  stateNow.current = state
  // A page that is not seen holds no connection.
  const isPaused = !useShown() && isFollowed
  useEffect(() => {
    if (isPaused) return undefined
    const stop = new AbortController()
    const isNewInstance = last.current.shown === shown && last.current.instance !== instance && isFollowed
    last.current = { shown, instance }
    void followLog()
    return () => stop.abort()

    async function followLog(): Promise<void> {
      // The server takes no number of lines for one stream alone.
      const tail = stream === 'All' ? { tailLines: String(lineCount) } : undefined
      const query = new URLSearchParams({ ...toLogParameters(options), ...tail, ...(isFollowed && { follow: 'true' }) })
      const backOff = new BackOff(WAITS)
      while (!stop.signal.aborted) {
        setNote('loading…')
        try {
          const { body } = await ask(`${path}?${query.toString()}`, { signal: stop.signal })
          setNote(isFollowed ? 'following' : '')
          // What was there before stays until there is something in its place.
          let isFirst = !isNewInstance
          if (isNewInstance) setLines((before) => (before.length === 0 ? [] : [...before, NEW_INSTANCE]))
          if (body !== null)
            for await (const batch of readLines(body)) {
              backOff.reset()
              const visible = batch.map(toShort)
              const isNew = isFirst
              isFirst = false
              setLines((before) => [...(isNew ? [] : before), ...visible].slice(-MOST_LINES))
            }
          if (isFirst) setLines([])
          // It ends by itself when the container does, and with the agent.
          if (!isFollowed || stateNow.current !== 'running') return setNote(isFollowed ? ENDS[stateNow.current] : '')
          setNote('the log ended, trying again…')
          await new Promise((resolve) => void setTimeout(resolve, backOff.next()))
        } catch (error) {
          if (stop.signal.aborted) return
          // An agent that is away comes back.
          const isPassing = error instanceof TypeError || (error instanceof AnswerError && error.status >= 500)
          if (error instanceof AnswerError && !isPassing && !isNewInstance) setLines([])
          if (error instanceof SignedOutError || !isPassing) return setNote(toErrorText(error))
          setNote(
            error instanceof TypeError ? 'connection lost, trying again…' : `${toErrorText(error)}; trying again…`,
          )
          await new Promise((resolve) => void setTimeout(resolve, backOff.next()))
        }
      }
    }
  }, [shown, isFollowed ? instance : '', isPaused])
  return { lines, note }
}

const ENDS = {
  'not started': 'the container has not started',
  running: '',
  ended: 'the container has ended',
} as const

/** A very long line would hold up the page; what is left out is said, and is in the file that can be downloaded. */
function toShort(line: string): string {
  const more = line.length - LONGEST_LINE
  return more <= 0 ? toVisible(line) : `${toVisible(line.slice(0, LONGEST_LINE))} … ${more} more characters`
}
