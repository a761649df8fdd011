import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toErrorText } from '../format.ts'
import { ContainerSelect } from '../pod/container-select.tsx'
import { useWindow } from '../node/use-window.ts'
import { FIRST_LINES, MOST_LINES, useLog, toLogParameters } from './use-log.ts'
import type { ContainerRun, LogViewOptions } from './use-log.ts'
import { ask } from '../session.ts'

const LINE_HEIGHT = 18
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container'

/** The log of a container as it grows, with a search over it. */
export function LogsView({ pod }: { readonly pod: Pod }) {
  const { namespace = '', name = '', annotations } = pod.metadata ?? {}
  const containers = [
    ...(pod.spec?.initContainers ?? []),
    ...(pod.spec?.containers ?? []),
    ...(pod.spec?.ephemeralContainers ?? []),
  ].map((each) => each.name)
  const usual = annotations?.[DEFAULT_CONTAINER] ?? pod.spec?.containers[0]?.name ?? ''
  const [options, setOptions] = useState<LogViewOptions>({
    container: usual,
    previous: false,
    timestamps: false,
    follow: true,
    stream: 'All',
    tail: FIRST_LINES,
  })
  const [search, setSearch] = useState('')
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log`
  const { lines, note } = useLog(path, options, findLogged(pod, options.container))
  const [saving, setSaving] = useState('')
  const wanted = search.toLowerCase()
  const shown = useMemo(
    () => (wanted === '' ? lines : lines.filter((line) => line.toLowerCase().includes(wanted))),
    [lines, wanted],
  )
  const change = (some: Partial<LogViewOptions>) => setOptions({ ...options, ...some })
  const box = useRef<HTMLDivElement>(null)
  const [first, end] = useWindow(box, shown.length, LINE_HEIGHT)
  const isAtEnd = useRef(true)
  const lastTop = useRef(0)
  const fromEnd = useRef<number>()
  useEffect(() => {
    const element = box.current
    if (element === null) return
    if (options.follow && isAtEnd.current) element.scrollTop = element.scrollHeight
    // Earlier lines have come above those that are read.
    else if (fromEnd.current !== undefined && lines.length > FIRST_LINES)
      element.scrollTop = element.scrollHeight - fromEnd.current
    if (lines.length > FIRST_LINES) fromEnd.current = undefined
  }, [shown, options.follow])
  // One stream alone is read from its beginning.
  const isCut = lines.length >= (options.stream === 'All' ? options.tail : MOST_LINES)
  const canReadMore = isCut && options.tail < MOST_LINES && options.stream === 'All'
  const readMore = () => {
    const { scrollHeight = 0, scrollTop = 0 } = box.current ?? {}
    fromEnd.current = scrollHeight - scrollTop
    change({ tail: MOST_LINES })
  }
  return (
    <section aria-label="Logs" class="logs">
      <div class="bar">
        <ContainerSelect names={containers} value={options.container} onChoose={(container) => change({ container })} />
        <label>
          <span class="hidden">Streams</span>
          <select
            value={options.stream}
            onChange={(event) => change({ stream: event.currentTarget.value as LogViewOptions['stream'] })}
          >
            <option value="All">stdout and stderr</option>
            <option value="Stdout">stdout</option>
            <option value="Stderr">stderr</option>
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
          onClick={() => {
            setSaving('downloading…')
            saveLog(path, `${name}-${options.container}.log`, options).then(
              () => setSaving(''),
              (error: unknown) => setSaving(toErrorText(error)),
            )
          }}
        >
          Download
        </button>
      </div>
      <div class="log-state">
        <span class="soft" role="status">
          {wanted !== '' && `${shown.length} of `}
          {isCut && 'the last '}
          {lines.length} {lines.length === 1 ? 'line' : 'lines'}
          {note !== '' && ` · ${note}`}
          {saving !== '' && ` · ${saving}`}
        </span>
        {canReadMore && (
          <button type="button" onClick={readMore}>
            Earlier lines
          </button>
        )}
      </div>
      <div
        ref={box}
        class="log-box"
        tabIndex={0}
        role="region"
        aria-label={`Log of ${options.container}`}
        onScroll={(event) => {
          const { scrollTop, clientHeight, scrollHeight } = event.currentTarget
          // More lines may have come since our own scrolling to the end: only one who scrolls up leaves it.
          if (scrollTop + clientHeight > scrollHeight - 2 * LINE_HEIGHT) isAtEnd.current = true
          else if (scrollTop < lastTop.current) isAtEnd.current = false
          lastTop.current = scrollTop
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

function findLogged({ status = {} }: Pod, container: string): ContainerRun {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  const { containerID: instance = '', state } = all.find(({ name }) => name === container) ?? {}
  if (state?.running !== undefined) return { instance, state: 'running' }
  return { instance, state: instance === '' ? 'not started' : 'ended' }
}

/** Saves all that the node has of a log, as it is: also what was rotated away, and more than the page shows. */
async function saveLog(path: string, name: string, options: LogViewOptions): Promise<void> {
  const answer = await ask(`${path}?${new URLSearchParams(toLogParameters(options)).toString()}`)
  const url = URL.createObjectURL(await answer.blob())
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
