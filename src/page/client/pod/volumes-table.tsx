import type { Pod } from '../../../model/generated/core-v1.ts'
import { listVolumes } from '../../messages/compute-pod-details.ts'
import type { VolumeUse } from '../../messages/page-message.ts'
import { formatBytes, toVisible } from '../format.ts'
import { PlainTable } from '../plain-table.tsx'

/** The volumes of a pod: what they are made of, where containers have them, where they are on the node, and what they take. */
export function VolumesTable({
  pod,
  uses,
  places,
}: {
  readonly pod: Pod
  readonly uses: readonly VolumeUse[]
  /** Undefined: no agent says it. */
  readonly places: readonly { readonly name: string; readonly path: string }[] | undefined
}) {
  const volumes = listVolumes(pod)
  if (volumes.length === 0) return null
  return (
    <PlainTable title="Volumes" columns={['Volume', 'Of', 'Mounted at', 'On the node', 'Used']}>
      {volumes.map(({ name, source, mounts }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td class="image">{toVisible(source)}</td>
          <td class="image">
            {mounts.length === 0 && <span class="soft">nowhere</span>}
            {mounts.map(({ container, path, note }) => (
              <div key={`${container} ${path}`}>
                <span class="soft">{container}</span> <code>{toVisible(path)}</code>
                {note !== '' && <span class="soft"> {toVisible(note)}</span>}
              </div>
            ))}
          </td>
          <td class="image">
            <code>{toVisible(places?.find((place) => place.name === name)?.path ?? '')}</code>
            {places !== undefined && !places.some((place) => place.name === name) && (
              <span class="soft">not there</span>
            )}
          </td>
          <td class="number">{describeUse(uses.find((use) => use.name === name))}</td>
        </tr>
      ))}
    </PlainTable>
  )
}

export function describeUse(use: VolumeUse | undefined): string {
  if (use?.usedBytes === undefined) return '–'
  return use.capacityBytes === undefined
    ? formatBytes(use.usedBytes)
    : `${formatBytes(use.usedBytes)} of ${formatBytes(use.capacityBytes)}`
}
