import { useEffect, useRef, useState } from 'preact/hooks'
import type { ContainerStatus, Pod } from '../../../model/generated/core-v1.ts'
import { toErrorText, toVisible } from '../format.ts'
import { ask } from '../session.ts'

const LINES = 12

/** What containers wrote before they ended with an error. */
export function LastLines({ pod }: { readonly pod: Pod }) {
  const { status = {} } = pod
  const ended = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].flatMap(findEnd)
  if (ended.length === 0) return null
  const { namespace = 'default', name = '' } = pod.metadata ?? {}
  return (
    <section aria-labelledby="last-title">
      <h2 id="last-title">Last lines before the end</h2>
      {ended.map(({ container, isPrevious, exitCode, restarts }) => (
        <LastLinesOf
          // Another end has other lines.
          key={`${container} ${restarts} ${String(isPrevious)}`}
          path={`/api/v1/namespaces/${namespace}/pods/${name}/log`}
          container={container}
          isPrevious={isPrevious}
          exitCode={exitCode}
        />
      ))}
    </section>
  )
}

/** How it ended last, if that was with an error. */
function findEnd({ name, state, lastState, restartCount }: ContainerStatus) {
  const terminated = state?.terminated ?? lastState?.terminated
  if (terminated === undefined || terminated.exitCode === 0) return []
  const isPrevious = state?.terminated === undefined && state?.running !== undefined
  return [{ container: name, exitCode: terminated.exitCode, isPrevious, restarts: restartCount }]
}

function LastLinesOf({
  path,
  container,
  isPrevious,
  exitCode,
}: {
  readonly path: string
  readonly container: string
  readonly isPrevious: boolean
  readonly exitCode: number
}) {
  const [text, setText] = useState<string>()
  useEffect(() => {
    const stop = new AbortController()
    const query = new URLSearchParams({
      container,
      tailLines: String(LINES),
      ...(isPrevious && { previous: 'true' }),
    })
    ask(`${path}?${query.toString()}`, { signal: stop.signal })
      .then((response) => response.text())
      .then(
        (body) => setText(body.trimEnd() || '(it wrote nothing)'),
        (error: unknown) => {
          if (!stop.signal.aborted) setText(`The log cannot be read: ${toErrorText(error)}`)
        },
      )
    return () => stop.abort()
  }, [path, container, isPrevious])
  const lines = (text ?? '').split('\n')
  const box = useRef<HTMLPreElement>(null)
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [text])
  return (
    <figure class="last-lines">
      <figcaption>
        <strong>{container}</strong> <span class="bad-text">exit {exitCode}</span>
      </figcaption>
      <pre ref={box} class="code" tabIndex={0} aria-label={`Last lines of ${container}`}>
        {text === undefined ? 'Loading…' : lines.map(toVisible).join('\n')}
      </pre>
    </figure>
  )
}
