import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Pod } from '../../model/generated/core-v1.ts'
import { errorText } from './error-text.ts'
import { toVisible } from './format.ts'
import { readLines } from './read-lines.ts'
import { ask, SignedOutError } from './session.ts'
import { useWindow } from './use-window.ts'

const LINE_HEIGHT = 18
const FIRST_LINES = 2000
const MOST_LINES = 20_000
const LONGEST_LINE = 4000
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [500, 10_000]

interface LogOptions {
  readonly container: string
  readonly previous: boolean
  readonly timestamps: boolean
  readonly follow: boolean
}

/** The log of a container as it grows, with a search over it. */
export function LogsView({ pod }: { readonly pod: Pod }) {
  const { namespace = '', name = '', annotations } = pod.metadata ?? {}
  const containers = [
    ...(pod.spec?.initContainers ?? []),
    ...(pod.spec?.containers ?? []),
    ...(pod.spec?.ephemeralContainers ?? []),
  ].map((each) => each.name)
  const usual = annotations?.['kubectl.kubernetes.io/default-container'] ?? pod.spec?.containers[0]?.name ?? ''
  const [options, setOptions] = useState<LogOptions>({
    container: usual,
    previous: false,
    timestamps: false,
    follow: true,
  })
  const [search, setSearch] = useState('')
  const { lines, note } = useLog(`/api/v1/namespaces/${namespace}/pods/${name}/log`, options)
  const wanted = search.toLowerCase()
  const shown = useMemo(
    () => (wanted === '' ? lines : lines.filter((line) => line.toLowerCase().includes(wanted))),
    [lines, wanted],
  )
  const change = (some: Partial<LogOptions>) => setOptions({ ...options, ...some })
  const box = useRef<HTMLDivElement>(null)
  const [first, end] = useWindow(box, shown.length, LINE_HEIGHT)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = box.current
    if (element !== null && options.follow && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [shown, options.follow])
  return (
    <section aria-label="Logs" class="logs">
      <div class="bar">
        <label>
          Container{' '}
          <select value={options.container} onChange={(event) => change({ container: event.currentTarget.value })}>
            {containers.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <Check name="Follow" isOn={options.follow} set={(follow) => change({ follow })} />
        <Check name="Previous instance" isOn={options.previous} set={(previous) => change({ previous })} />
        <Check name="Timestamps" isOn={options.timestamps} set={(timestamps) => change({ timestamps })} />
        <label class="filter">
          <span class="hidden">Search in the log</span>
          <input
            type="search"
            placeholder="Search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <button
          type="button"
          onClick={() => save(`${name}-${options.container}.log`, lines)}
          disabled={lines.length === 0}
        >
          Download
        </button>
        <span class="soft" role="status">
          {wanted === '' ? `${shown.length} lines` : `${shown.length} of ${lines.length} lines`}
          {note !== '' && ` · ${note}`}
        </span>
      </div>
      <div
        ref={box}
        class="log-box"
        tabIndex={0}
        role="region"
        aria-label={`Log of ${options.container}`}
        onScroll={(event) => {
          const { scrollTop, clientHeight, scrollHeight } = event.currentTarget
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - 2 * LINE_HEIGHT
        }}
      >
        <div style={{ height: `${first * LINE_HEIGHT}px` }} />
        {shown.slice(first, end).map((line, index) => (
          <div key={first + index} class="log-line">
            {mark(line, wanted)}
          </div>
        ))}
        <div style={{ height: `${(shown.length - end) * LINE_HEIGHT}px` }} />
      </div>
    </section>
  )
}

function Check({
  name,
  isOn,
  set,
}: {
  readonly name: string
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
}) {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={(event) => set(event.currentTarget.checked)} /> {name}
    </label>
  )
}

function mark(line: string, wanted: string) {
  const at = wanted === '' ? -1 : line.toLowerCase().indexOf(wanted)
  if (at < 0) return line || '\u00A0'
  const end = at + wanted.length
  return (
    <>
      {line.slice(0, at)}
      <mark>{line.slice(at, end)}</mark>
      {line.slice(end)}
    </>
  )
}

/** The last lines of a log, and those that come; a connection that breaks is made again. */
function useLog(path: string, options: LogOptions): { readonly lines: readonly string[]; readonly note: string } {
  const [lines, setLines] = useState<readonly string[]>([])
  const [note, setNote] = useState('')
  const { container, previous, timestamps, follow } = options
  useEffect(() => {
    const stop = new AbortController()
    void followLog()
    return () => stop.abort()

    async function followLog(): Promise<void> {
      const query = new URLSearchParams({
        container,
        tailLines: String(FIRST_LINES),
        ...(previous && { previous: 'true' }),
        ...(timestamps && { timestamps: 'true' }),
        ...(follow && !previous && { follow: 'true' }),
      })
      for (let waitMs = FIRST_WAIT_MS; !stop.signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
        setLines([])
        setNote('loading…')
        try {
          const { body } = await ask(`${path}?${query.toString()}`, { signal: stop.signal })
          setNote(follow && !previous ? 'following' : '')
          if (body !== null)
            for await (const batch of readLines(body)) {
              waitMs = FIRST_WAIT_MS
              const visible = batch.map((line) => toVisible(line.slice(0, LONGEST_LINE)))
              setLines((before) => [...before, ...visible].slice(-MOST_LINES))
            }
          // It ends by itself when the container does.
          return setNote(follow && !previous ? 'the container has ended' : '')
        } catch (error) {
          if (stop.signal.aborted) return
          if (error instanceof SignedOutError || !(error instanceof TypeError)) return setNote(errorText(error))
          setNote('connection lost, trying again…')
          await new Promise((resolve) => void setTimeout(resolve, waitMs))
        }
      }
    }
  }, [path, container, previous, timestamps, follow])
  return { lines, note }
}

function save(name: string, lines: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/plain' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
