import type { NodeSample, NodeView, SessionView } from '../../messages/page-message.ts'
import { NodeActions } from '../actions/node-actions.tsx'
import { EventList } from '../event-list.tsx'
import { formatAge, formatBytes, formatCores, formatMoment, toVisible } from '../format.ts'
import { useNow } from '../hooks.ts'
import { Link } from '../link.tsx'
import type { LiveState } from '../live.ts'
import { podPath } from '../navigation.ts'
import { Plot } from '../plot.tsx'
import { PodsTable } from './pods-table.tsx'

/** The first screen: what the node uses, how it is, what runs on it. */
export function NodeScreen({ state, session }: { readonly state: LiveState; readonly session: SessionView }) {
  const now = useNow()
  return (
    <>
      <h1 class="hidden">Node</h1>
      <Usage samples={state.samples} />
      <Conditions node={state.node} now={now} />
      {!session.isReader && !session.isKubelet && (
        <div class="actions-place">
          <NodeActions session={session} node={state.node} />
        </div>
      )}
      <Refused state={state} />
      {/* From the top to the bottom as it comes, so that nothing moves that is there. */}
      {(state.node !== undefined || state.pods !== undefined || state.problems.api !== undefined) && (
        <PodsTable pods={state.pods} uses={state.uses} sentences={state.sentences} now={now} />
      )}
      {state.pods !== undefined && !session.isKubelet && (
        <section aria-labelledby="events-title">
          <h2 id="events-title">Events</h2>
          <EventList events={state.events} now={now} isLoaded={state.pods !== undefined} hasObject />
        </section>
      )}
    </>
  )
}

const percent = (value: number) => `${Math.round(value)}\u00A0%`

function Usage({ samples }: { readonly samples: readonly NodeSample[] }) {
  const last = samples.at(-1)
  const share = (used: number | undefined, all: number | undefined, format: (value: number) => string) =>
    used === undefined ? '–' : all === undefined ? format(used) : `${format(used)} of ${format(all)}`
  const isPressureKnown = [last?.cpuPressure, last?.memoryPressure, last?.ioPressure].some(
    (value) => value !== undefined,
  )
  return (
    <section class="plots" aria-label="What the node uses, over the last hour">
      <Plot
        title="CPU"
        value={last?.cpu === undefined ? '–' : `${formatCores(last.cpu)} cores`}
        samples={samples}
        lines={[{ of: (sample) => sample.cpu, name: 'CPU' }]}
        most={undefined}
        format={formatCores}
      />
      <Plot
        title="Memory"
        value={share(last?.memory, last?.memoryTotal, formatBytes)}
        samples={samples}
        lines={[{ of: (sample) => sample.memory, name: 'Memory' }]}
        most={last?.memoryTotal}
        format={formatBytes}
        isBinary
      />
      <Plot
        title="Disk"
        value={share(last?.disk, last?.diskTotal, formatBytes)}
        samples={samples}
        lines={[{ of: (sample) => sample.disk, name: 'Disk' }]}
        most={last?.diskTotal}
        format={formatBytes}
        isBinary
      />
      <Plot
        title="Processes"
        value={share(last?.processes, last?.processesMost, String)}
        samples={samples}
        lines={[{ of: (sample) => sample.processes, name: 'Processes' }]}
        most={undefined}
        format={(value) => String(Math.round(value))}
      />
      <Plot
        title="Pressure"
        value={last === undefined || isPressureKnown ? '' : 'not measured on this machine'}
        samples={samples}
        lines={[
          { of: (sample) => sample.cpuPressure, name: 'CPU' },
          { of: (sample) => sample.memoryPressure, name: 'memory' },
          { of: (sample) => sample.ioPressure, name: 'I/O' },
        ]}
        most={100}
        format={percent}
      />
    </section>
  )
}

function Conditions({ node, now }: { readonly node: NodeView | null | undefined; readonly now: number }) {
  if (node === undefined) return <p class="loading place">Loading the node…</p>
  if (node === null) return <p class="bad-note">The API has no object of this node.</p>
  return (
    <section aria-labelledby="conditions-title">
      <h2 id="conditions-title">Conditions</h2>
      <ul class="chips">
        {node.conditions.map(({ type, status, reason, message, since, isGood }) => (
          <li
            key={type}
            class={isGood ? 'chip good' : 'chip bad'}
            title={toVisible(`${reason}: ${message} (since ${formatMoment(since)})`)}
          >
            <span aria-hidden="true">{isGood ? '✓' : '✗'}</span> {type}: {status}
            {!isGood && ` – ${toVisible(message)}`} <span class="soft">{formatAge(since, now)}</span>
          </li>
        ))}
        {node.isUnschedulable && <li class="chip bad">cordoned: takes no new pods</li>}
        {node.taints.map((taint) => (
          <li key={taint} class="chip">
            taint {taint}
          </li>
        ))}
      </ul>
      <dl class="facts">
        {node.info.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {node.addresses.length > 0 && (
          <div>
            <dt>Addresses</dt>
            <dd>{node.addresses.join(', ')}</dd>
          </div>
        )}
        {node.allocatable['pods'] !== undefined && (
          <div>
            <dt>Pods</dt>
            <dd>at most {node.allocatable['pods']}</dd>
          </div>
        )}
      </dl>
    </section>
  )
}

const MOST_REFUSED = 20

/** What somebody asked for and does not get: files that are wrong, and pods that the node does not let in. */
function Refused({ state }: { readonly state: LiveState }) {
  const pods = [...(state.pods?.values() ?? [])].filter(({ isRejected }) => isRejected)
  if (state.refused.length + pods.length === 0) return null
  return (
    <section aria-labelledby="refused-title">
      <h2 id="refused-title">Refused</h2>
      <ul class="refused">
        {state.refused.map(({ file, line, object, reason, hasLastGood }) => (
          <li key={`${file} ${line} ${object}`}>
            <code>
              {toVisible(file)}
              {line !== undefined && `:${line}`}
            </code>{' '}
            {object !== undefined && `${toVisible(object)}: `}
            {toVisible(reason)}
            {hasLastGood === true && ' (its last good version goes on)'}
          </li>
        ))}
        {pods.slice(0, MOST_REFUSED).map((pod) => (
          <li key={pod.uid}>
            <Link to={podPath(pod)}>
              {pod.namespace}/{pod.name}
            </Link>{' '}
            {toVisible(pod.note)} ({toVisible(pod.status)})
          </li>
        ))}
        {pods.length > MOST_REFUSED && <li>and {pods.length - MOST_REFUSED} more pods</li>}
      </ul>
    </section>
  )
}
