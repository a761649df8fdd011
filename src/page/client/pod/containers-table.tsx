import type { Container, ContainerState, ContainerStatus, Pod } from '../../../model/generated/core-v1.ts'
import { formatAge, formatMoment, toVisible } from '../format.ts'

interface Line {
  readonly kind: string
  readonly container: Pick<Container, 'name' | 'image' | 'resources'>
  readonly status: ContainerStatus | undefined
}

/** The containers of a pod with their state, and how they ended last. */
export function ContainersTable({ pod, now }: { readonly pod: Pod; readonly now: number }) {
  return (
    <section aria-labelledby="containers-title">
      <h2 id="containers-title">Containers</h2>
      <div class="wide" tabIndex={0} role="region" aria-label="Containers">
        <table class="plain">
          <thead>
            <tr>
              {['Container', 'State', 'Ready', 'Restarts', 'Last end', 'Requests', 'Limits', 'Image'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {listContainers(pod).map(({ kind, container, status }) => (
              <tr key={container.name}>
                <th scope="row">
                  {container.name}
                  {kind !== '' && <span class="soft"> {kind}</span>}
                </th>
                <td>{describeState(status?.state, now)}</td>
                <td>{status?.ready === true ? 'yes' : 'no'}</td>
                <td class="number">{status?.restartCount ?? 0}</td>
                <td>{describeState(status?.lastState, now)}</td>
                <td>{describeResources(container.resources?.requests)}</td>
                <td>{describeResources(container.resources?.limits)}</td>
                <td class="image">{toVisible(container.image ?? '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function listContainers({ spec, status = {} }: Pod): readonly Line[] {
  const find = (name: string, statuses: readonly ContainerStatus[] = []) => statuses.find((each) => each.name === name)
  const inits = (spec?.initContainers ?? []).map((container) => ({
    kind: container.restartPolicy === 'Always' ? 'sidecar' : 'init',
    container,
    status: find(container.name, status.initContainerStatuses),
  }))
  const own = (spec?.containers ?? []).map((container) => ({
    kind: '',
    container,
    status: find(container.name, status.containerStatuses),
  }))
  const ephemeral = (spec?.ephemeralContainers ?? []).map((container) => ({
    kind: 'ephemeral',
    container,
    status: find(container.name, status.ephemeralContainerStatuses),
  }))
  return [...inits, ...own, ...ephemeral]
}

function describeState({ running, waiting, terminated }: ContainerState = {}, now: number) {
  if (running !== undefined)
    return <span title={formatMoment(running.startedAt ?? '')}>runs, {formatAge(running.startedAt ?? '', now)}</span>
  if (waiting !== undefined)
    return (
      <>
        <strong>{toVisible(waiting.reason ?? 'waits')}</strong>{' '}
        <span class="soft">{toVisible(waiting.message ?? '')}</span>
      </>
    )
  if (terminated === undefined) return <span class="soft">–</span>
  const { exitCode, reason, message, finishedAt = '' } = terminated
  return (
    <span title={formatMoment(finishedAt)}>
      <strong class={exitCode === 0 ? '' : 'bad-text'}>exit {exitCode}</strong> {toVisible(reason ?? '')}
      {finishedAt !== '' && `, ${formatAge(finishedAt, now)} ago`}
      {message !== undefined && message !== '' && <span class="soft"> {toVisible(message)}</span>}
    </span>
  )
}

function describeResources(resources: Readonly<Record<string, unknown>> = {}): string {
  return (
    Object.entries(resources)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ') || '–'
  )
}
