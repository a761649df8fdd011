import { useEffect, useState } from 'preact/hooks'
import type { Pod, Service } from '../../../model/generated/core-v1.ts'
import { listPorts } from '../../messages/compute-pod-details.ts'
import type { PortWay } from '../../messages/compute-pod-details.ts'
import type { ForwardView } from '../../messages/page-message.ts'
import { useAccess } from '../actions/access.ts'
import { toErrorText, toVisible } from '../format.ts'
import { PlainTable } from '../plain-table.tsx'
import { askJson, change } from '../session.ts'

/** The ports of a pod with what leads to them; those who may can forward one to a port of the machine that serves the page. */
export function PortsList({
  pod,
  services,
  hasApi,
}: {
  readonly pod: Pod
  readonly services: readonly Service[]
  /** Whether kubectl can do it as well. */
  readonly hasApi: boolean
}) {
  const ports = listPorts(pod, services)
  const { namespace = 'default', name = '' } = pod.metadata ?? {}
  const [mayForward] = useAccess([{ verb: 'create', resource: 'pods', subresource: 'portforward', namespace, name }])
  const { forwards, error, act } = useForwards(mayForward === true, { namespace, pod: name })
  if (ports.length === 0) return null
  const columns = [
    'Port',
    'Open',
    ...(mayForward === true ? ['Forwarded'] : []),
    ...(mayForward === true && hasApi ? ['To another machine'] : []),
  ]
  return (
    <PlainTable title="Ports" columns={columns}>
      {ports.map((way) => (
        <tr key={`${way.container} ${way.port} ${way.protocol}`}>
          <th scope="row">
            {way.port}/{way.protocol} <span class="soft">{[way.name, way.container].filter(Boolean).join(', ')}</span>
          </th>
          <td class="image">
            {way.links.length === 0 && <span class="soft">nothing leads there from outside</span>}
            {way.links.map((link) => (
              <Way key={`${link.address} ${link.by}`} link={link} isWeb={way.protocol === 'TCP'} />
            ))}
          </td>
          {mayForward === true && (
            <td>
              {way.protocol === 'TCP' && (
                <Forward
                  port={way.port}
                  forward={forwards.find(({ port }) => port === way.port)}
                  act={(method) => act(method, way.port)}
                />
              )}
              {error?.port === way.port && <p class="bad-text">{error.text}</p>}
            </td>
          )}
          {mayForward === true && hasApi && (
            <td>
              {way.protocol === 'TCP' && (
                <Command text={`kubectl port-forward -n ${namespace} pod/${name} ${way.port}:${way.port}`} />
              )}
            </td>
          )}
        </tr>
      ))}
    </PlainTable>
  )
}

/** Opened in a page of its own, which learns nothing of this one. */
function Way({ link: { address, by }, isWeb }: { readonly link: PortWay['links'][number]; readonly isWeb: boolean }) {
  return (
    <div>
      {isWeb ? (
        <a href={`http://${address}/`} target="_blank" rel="noopener noreferrer">
          {address}
        </a>
      ) : (
        <code>{address}</code>
      )}{' '}
      <span class="soft">{toVisible(by)}</span>
    </div>
  )
}

const REFRESH_MS = 10_000

/** The forwarded ports of a pod, of this session: read again now and then, since a port without connections ends by itself. */
function useForwards(isOn: boolean, { namespace, pod }: { readonly namespace: string; readonly pod: string }) {
  const [forwards, setForwards] = useState<readonly ForwardView[]>([])
  const [error, setError] = useState<{ readonly port: number; readonly text: string }>()
  const [asked, setAsked] = useState(0)
  useEffect(() => {
    if (!isOn) return
    const stop = new AbortController()
    const load = () =>
      askJson<readonly ForwardView[]>('/forwards', stop.signal).then(
        (all) => setForwards(all.filter((each) => each.namespace === namespace && each.pod === pod)),
        // That the connection is lost is said elsewhere.
        () => {},
      )
    void load()
    const timer = forwards.length === 0 ? undefined : setInterval(() => void load(), REFRESH_MS)
    return () => {
      clearInterval(timer)
      stop.abort()
    }
  }, [isOn, namespace, pod, asked, forwards.length === 0])
  const act = (method: 'POST' | 'DELETE', port: number) =>
    change('/forwards', { method, body: { namespace, pod, port } }).then(
      () => {
        setError(undefined)
        setAsked(asked + 1)
      },
      (failure: unknown) => setError({ port, text: toErrorText(failure) }),
    )
  return { forwards, error, act }
}

function Forward({
  port,
  forward,
  act,
}: {
  readonly port: number
  readonly forward: ForwardView | undefined
  readonly act: (method: 'POST' | 'DELETE') => Promise<void>
}) {
  if (forward === undefined)
    return (
      <button
        type="button"
        title="Listens on the machine that serves this page, for everyone there, until it is stopped or was not used for 15 minutes"
        aria-label={`Forward port ${port}`}
        onClick={() => void act('POST')}
      >
        Forward
      </button>
    )
  return (
    <>
      <a href={`http://${forward.address}/`} target="_blank" rel="noopener noreferrer">
        {forward.address}
      </a>{' '}
      <button type="button" aria-label={`Stop forwarding port ${port}`} onClick={() => void act('DELETE')}>
        Stop
      </button>
      {forward.problem !== undefined && <p class="bad-text">{toVisible(forward.problem)}</p>}
    </>
  )
}

const DONE_MS = 2000

/** A command to copy. */
function Command({ text }: { readonly text: string }) {
  const [said, setSaid] = useState('Copy')
  const say = (word: string) => {
    setSaid(word)
    setTimeout(() => setSaid('Copy'), DONE_MS)
  }
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('Not allowed'),
    )
  return (
    <span class="command">
      <code>{text}</code>{' '}
      <button type="button" onClick={() => void copy()} aria-label={`Copy: ${text}`}>
        <span role="status">{said}</span>
      </button>
    </span>
  )
}
