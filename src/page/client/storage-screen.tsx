import type { ClaimRow, DiskRow, ImageRow, StorageView, VolumeRow } from '../messages/compute-storage-view.ts'
import type { SessionView } from '../messages/page-message.ts'
import { formatAge, formatBytes, formatMoment, toVisible } from './format.ts'
import { useAnswer, useNow } from './hooks.ts'
import { Link } from './link.tsx'
import type { LiveState } from './live.ts'
import { PlainTable } from './plain-table.tsx'
import { podPath } from './navigation.ts'
import { describeUse } from './pod/volumes-table.tsx'

const MINUTE_MS = 60_000

/** Images, claims and volumes: what takes room, who uses it, and what could be freed. */
export function StorageScreen({ state, session }: { readonly state: LiveState; readonly session: SessionView }) {
  const now = useNow()
  const pods = [...(state.pods?.keys() ?? [])].join()
  const minute = Math.floor((state.samples.at(-1)?.at ?? 0) / MINUTE_MS)
  const { value, error } = useAnswer<StorageView>('/agent/storage', `${pods} ${minute} ${state.opens}`)
  const hasImages = !session.isKubelet || (value?.images.length ?? 0) > 0
  return (
    <>
      <h1>Images and storage</h1>
      {error !== undefined && state.connection === 'open' && <p class="bad-note">{error}</p>}
      {value === undefined && error === undefined && <p class="loading">Loading…</p>}
      {value !== undefined && (
        <>
          {value.problems.length > 0 && <p class="bad-note">Not everything can be read. {value.problems.join('; ')}</p>}
          <Disks view={value} hasImages={hasImages} />
          {hasImages ? (
            <Images view={value} now={now} />
          ) : (
            <p class="empty">This kubelet does not say which images it has.</p>
          )}
          {!session.isKubelet && <Claims claims={value.claims} />}
          {!session.isKubelet && <Volumes volumes={value.volumes} />}
        </>
      )}
    </>
  )
}

function Disks({
  view: { disks, imageBytes, reclaimableBytes },
  hasImages,
}: {
  readonly view: StorageView
  readonly hasImages: boolean
}) {
  return (
    <section aria-labelledby="disks-title">
      <h2 id="disks-title">Room</h2>
      <dl class="facts">
        {disks.map((disk) => (
          <div key={disk.name}>
            <dt>{disk.name}</dt>
            <dd>
              {formatBytes(disk.availableBytes)} free of {formatBytes(disk.capacityBytes)}
              <Meter disk={disk} />
            </dd>
          </div>
        ))}
        {hasImages && (
          <>
            <div>
              <dt>Images take</dt>
              <dd>{formatBytes(imageBytes)}</dd>
            </div>
            <div>
              <dt title="Layers that images share count for each of them, so it may be less.">
                Reclaimable: unused images
              </dt>
              <dd>at most {formatBytes(reclaimableBytes)}</dd>
            </div>
          </>
        )}
      </dl>
    </section>
  )
}

function Meter({ disk: { name, capacityBytes, availableBytes } }: { readonly disk: DiskRow }) {
  return (
    <meter
      min={0}
      max={capacityBytes}
      high={capacityBytes * 0.85}
      value={capacityBytes - availableBytes}
      aria-label={`How full: ${name}`}
    />
  )
}

function Images({ view: { images }, now }: { readonly view: StorageView; readonly now: number }) {
  return (
    <PlainTable
      title={`Images (${images.length})`}
      columns={['Image', 'Size', 'On the node for', 'Used by']}
      empty={images.length === 0 ? 'The node has no images.' : undefined}
    >
      {images.map((image) => (
        <tr key={image.id}>
          <th scope="row" class="image" title={[image.id, ...image.names].map(toVisible).join('\n')}>
            {toVisible(image.names[0] ?? image.id)}
            {image.names.slice(1).some((name) => !name.includes('@')) && (
              <span class="soft"> and {image.names.filter((name) => !name.includes('@')).length - 1} more names</span>
            )}
          </th>
          <td class="number">{formatBytes(image.sizeBytes)}</td>
          <td class="number">{describeAge(image, now)}</td>
          <td class="image">{describeUsers(image, now)}</td>
        </tr>
      ))}
    </PlainTable>
  )
}

function describeAge({ firstSeenAt }: ImageRow, now: number) {
  if (firstSeenAt === undefined) return <span class="soft">not known</span>
  return (
    <span title={`${formatMoment(firstSeenAt)}, or before the agent was started`}>
      {formatAge(new Date(firstSeenAt).toISOString(), now)}
    </span>
  )
}

function describeUsers({ pods, isUsed, isPinned, lastUsedAt }: ImageRow, now: number) {
  if (pods.length > 0) return <PodLinks pods={pods} />
  if (isPinned) return <span class="soft">the node itself</span>
  if (isUsed) return <span class="soft">a container of no pod that the API has</span>
  return (
    <span>
      nothing
      {lastUsedAt !== undefined && <span class="soft"> for {formatAge(new Date(lastUsedAt).toISOString(), now)}</span>}
    </span>
  )
}

const MOST_LINKS = 5

function PodLinks({ pods }: { readonly pods: readonly string[] }) {
  return (
    <>
      {pods.slice(0, MOST_LINKS).map((pod) => {
        const [namespace = '', name = ''] = pod.split('/')
        return (
          <span key={pod} class="user-pod">
            <Link to={podPath({ namespace, name })}>{pod}</Link>{' '}
          </span>
        )
      })}
      {pods.length > MOST_LINKS && <span class="soft">and {pods.length - MOST_LINKS} more</span>}
    </>
  )
}

function Claims({ claims }: { readonly claims: readonly ClaimRow[] }) {
  return (
    <PlainTable
      title={`Claims (${claims.length})`}
      columns={['Claim', 'State', 'Class', 'Capacity', 'Used', 'Volume', 'Pods']}
      empty={claims.length === 0 ? 'There are no claims.' : undefined}
    >
      {claims.map(({ namespace, name, phase, className, requested, capacity, volume, use, pods }) => (
        <tr key={`${namespace}/${name}`}>
          <th scope="row" class="image">
            <span class="soft">{namespace}/</span>
            {name}
          </th>
          <td>
            <span class={`dot ${phase === 'Bound' ? 'good' : phase === 'Lost' ? 'bad' : 'busy'}`} aria-hidden="true" />{' '}
            {phase}
          </td>
          <td>{className || '–'}</td>
          <td class="number">{capacity || (requested === '' ? '–' : `${requested} requested`)}</td>
          <td class="number">{describeUse(use)}</td>
          <td class="image">{volume || '–'}</td>
          <td class="image">{pods.length === 0 ? <span class="soft">none</span> : <PodLinks pods={pods} />}</td>
        </tr>
      ))}
    </PlainTable>
  )
}

function Volumes({ volumes }: { readonly volumes: readonly VolumeRow[] }) {
  return (
    <PlainTable
      title={`Persistent volumes (${volumes.length})`}
      columns={['Volume', 'State', 'Class', 'Capacity', 'When given back', 'Claim', 'Where']}
      empty={volumes.length === 0 ? 'There are no persistent volumes.' : undefined}
    >
      {volumes.map(({ name, phase, className, capacity, reclaimPolicy, claim, source }) => (
        <tr key={name}>
          <th scope="row" class="image">
            {name}
          </th>
          <td>
            <span
              class={`dot ${phase === 'Failed' ? 'bad' : phase === 'Bound' ? 'good' : 'busy'}`}
              aria-hidden="true"
            />{' '}
            {phase}
          </td>
          <td>{className || '–'}</td>
          <td class="number">{capacity || '–'}</td>
          <td>{reclaimPolicy || '–'}</td>
          <td class="image">{claim || '–'}</td>
          <td class="image">
            <code>{toVisible(source)}</code>
          </td>
        </tr>
      ))}
    </PlainTable>
  )
}
