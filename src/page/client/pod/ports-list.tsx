import { useState } from 'preact/hooks'
import type { Pod, Service } from '../../../model/generated/core-v1.ts'
import { listPorts } from '../../messages/compute-pod-details.ts'
import type { PortWay } from '../../messages/compute-pod-details.ts'
import { PlainTable } from '../plain-table.tsx'
import { toVisible } from '../format.ts'

/** The ports of a pod with what leads to them, and the command that forwards one. */
export function PortsList({ pod, services }: { readonly pod: Pod; readonly services: readonly Service[] }) {
  const ports = listPorts(pod, services)
  if (ports.length === 0) return null
  const { namespace = 'default', name = '' } = pod.metadata ?? {}
  return (
    <PlainTable title="Ports" columns={['Port', 'Open', 'Forward it to this machine']}>
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
          <td>
            {way.protocol === 'TCP' && (
              <Command text={`kubectl port-forward -n ${namespace} pod/${name} ${way.port}:${way.port}`} />
            )}
          </td>
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
