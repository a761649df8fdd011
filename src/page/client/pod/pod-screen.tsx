import type { Event, Pod, Service } from '../../../model/generated/core-v1.ts'
import { computeEventRow } from '../../messages/compute-event-row.ts'
import { computeAgentUid } from '../../messages/compute-pod-row.ts'
import { useAccess } from '../actions/access.ts'
import { PodActionButtons } from '../actions/pod-action-buttons.tsx'
import { ContainersTable } from './containers-table.tsx'
import { EventList } from '../event-list.tsx'
import { formatAge, formatBytes, formatMoment, shortenWhy, toVisible } from '../format.ts'
import { useAnswer, useNow } from '../hooks.ts'
import type { Loaded } from '../hooks.ts'
import { Link } from '../link.tsx'
import type { LiveState } from '../live.ts'
import { LogsView } from '../logs/logs-view.tsx'
import { POD_PARTS, podPath } from '../navigation.ts'
import type { PodPart } from '../navigation.ts'
import type { SessionView, UsageView } from '../../messages/page-message.ts'
import { LastLines } from './last-lines.tsx'
import { PodUsage } from './pod-usage.tsx'
import { PortsList } from './ports-list.tsx'
import { ProbesTable } from './probes-table.tsx'
import type { ReportedProbe } from './probes-table.tsx'
import { VolumesTable } from './volumes-table.tsx'
import { judgePod } from '../node/sort-pods.ts'
import { StepsChart } from './steps-chart.tsx'
import type { Step } from './steps-chart.tsx'
import { TerminalView } from '../terminal/terminal-view.tsx'
import { YamlView } from './yaml-view.tsx'

interface PodScreenProps {
  readonly state: LiveState
  readonly session: SessionView
  readonly namespace: string
  readonly name: string
  readonly part: PodPart
}

const TITLES: Readonly<Record<PodPart, string>> = {
  overview: 'Overview',
  logs: 'Logs',
  terminal: 'Terminal',
  yaml: 'YAML',
}

/** One pod: what it is at, how it came there, what it says. */
export function PodScreen({ state, session, namespace, name, part }: PodScreenProps) {
  const row = [...(state.pods?.values() ?? [])].find((pod) => pod.namespace === namespace && pod.name === name)
  const pod = useAnswer<Pod>(`/api/v1/namespaces/${namespace}/pods/${name}`, row)
  const why = row === undefined ? undefined : (state.sentences.get(row.uid) ?? row.note)
  const [mayExec] = useAccess([{ verb: 'create', resource: 'pods', subresource: 'exec', namespace, name }])
  const isGone = state.pods !== undefined && row === undefined
  return (
    <article class="pod">
      <p class="crumbs">
        <Link to="/">All pods</Link>
      </p>
      <h1>
        <span class="soft">{namespace}/</span>
        {name}
      </h1>
      <p class="summary">
        {row === undefined ? (
          '\u00A0'
        ) : (
          <>
            <span class={`dot ${judgePod(row)}`} aria-hidden="true" /> <strong>{toVisible(row.status)}</strong>
            {why !== undefined && why !== '' && ` – ${shortenWhy(toVisible(why))}`}
          </>
        )}
      </p>
      {isGone && (
        <p class="bad-note">
          There is no such pod (any more).{pod.value !== undefined && ' Below is what was known of it last.'}
        </p>
      )}
      {pod.error !== undefined && !isGone && state.connection === 'open' && <p class="bad-note">{pod.error}</p>}
      {!session.isReader && !session.isKubelet && (
        <div class="actions-place">
          {pod.value !== undefined && <PodActionButtons pod={pod.value} state={state} isGone={isGone} />}
        </div>
      )}
      <nav class="parts" aria-label="Parts of the pod">
        {POD_PARTS.filter((each) => each !== 'terminal' || mayExec === true).map((each) => (
          <Link key={each} to={podPath({ namespace, name }, each)} isCurrent={each === part}>
            {TITLES[each]}
          </Link>
        ))}
      </nav>
      {part === 'overview' && (
        <Overview state={state} session={session} namespace={namespace} name={name} pod={pod.value} />
      )}
      {part === 'logs' && pod.value !== undefined && <LogsView pod={pod.value} />}
      {part === 'terminal' && pod.value !== undefined && mayExec === true && <TerminalView pod={pod.value} />}
      {part === 'yaml' && pod.value !== undefined && <YamlView value={pod.value} />}
    </article>
  )
}

/** As the agent's /why has it. */
interface Explained {
  readonly uid: string
  readonly steps: readonly Step[]
  readonly probes?: readonly ReportedProbe[]
  readonly volumes?: readonly { readonly name: string; readonly path: string }[]
}

const MINUTE_MS = 60_000

interface OverviewProps extends Omit<PodScreenProps, 'part'> {
  readonly pod: Pod | undefined
}

function Overview({ state, session, namespace, name, pod }: OverviewProps) {
  const now = useNow()
  const uid = pod === undefined ? '' : computeAgentUid(pod)
  const sentence = state.sentences.get(uid)
  // Probes answer all the time, and pods change rarely: the answers are read again with each sample.
  const sampledAt = state.samples.at(-1)?.at ?? 0
  const isMute = state.problems.missing !== undefined
  const steps = useAnswer<{ readonly pods: readonly Explained[] }>(
    // A kubelet that explains nothing is not asked again and again.
    isMute ? undefined : `/agent/why?pod=${encodeURIComponent(`${namespace}/${name}`)}`,
    `${sentence} ${pod?.metadata?.resourceVersion} ${sampledAt}`,
  )
  const own = steps.value?.pods.find((each) => each.uid === uid) ?? steps.value?.pods[0]
  const isExplained = isMute || isSettled(steps)
  const usage = useAnswer<UsageView>(
    uid === '' ? undefined : `/agent/usage?uid=${encodeURIComponent(uid)}`,
    `${Math.floor(sampledAt / MINUTE_MS)} ${state.opens}`,
  )
  const services = useAnswer<{ readonly items: readonly Service[] }>(
    session.isKubelet ? undefined : `/api/v1/namespaces/${namespace}/services`,
    `${pod?.metadata?.uid} ${state.opens}`,
  )
  const newest = state.events.find((event) => event.namespace === namespace && event.name === name)
  const selector = encodeURIComponent(`involvedObject.kind=Pod,involvedObject.name=${name}`)
  const events = useAnswer<{ readonly items: readonly Event[] }>(
    session.isKubelet ? undefined : `/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`,
    `${newest?.uid} ${newest?.count} ${newest?.at} ${state.opens}`,
  )
  const rows = (events.value?.items ?? []).map(computeEventRow).sort((a, b) => b.at.localeCompare(a.at))
  const created = pod?.metadata?.creationTimestamp ?? pod?.status?.startTime ?? ''
  return (
    <>
      {pod !== undefined && (
        <dl class="facts">
          <Fact name="Node">{pod.spec?.nodeName || 'none yet'}</Fact>
          <Fact name="Address">{pod.status?.podIP || '–'}</Fact>
          <Fact name="Age">
            <span title={formatMoment(created)}>{formatAge(created, now)}</span>
          </Fact>
          <Fact name="QoS class">{pod.status?.qosClass ?? '–'}</Fact>
          <Fact name="Restart policy">{pod.spec?.restartPolicy ?? '–'}</Fact>
          <Fact name="Writes to the disk">
            {usage.value?.ephemeralBytes === undefined ? '–' : formatBytes(usage.value.ephemeralBytes)}
          </Fact>
        </dl>
      )}
      {pod !== undefined && <PodUsage pod={pod} uid={uid} state={state} usage={usage.value} />}
      {pod !== undefined && <ContainersTable pod={pod} now={now} />}
      {pod !== undefined && <LastLines pod={pod} />}
      {pod !== undefined && (
        <section aria-labelledby="steps-title">
          <h2 id="steps-title">Steps</h2>
          {own === undefined ? (
            <p class="empty">{isExplained ? 'The agent knows no steps of this pod.' : 'Loading…'}</p>
          ) : (
            <StepsChart steps={own.steps} now={now} />
          )}
        </section>
      )}
      {/* From the top to the bottom as it comes, so that nothing moves that is there. */}
      {pod !== undefined && isExplained && (
        <>
          <ProbesTable pod={pod} reports={own?.probes} now={now} />
          <VolumesTable pod={pod} uses={usage.value?.volumes ?? []} places={own?.volumes} />
          <PortsList pod={pod} services={services.value?.items ?? []} hasApi={!session.isKubelet} />
        </>
      )}
      {pod !== undefined && isExplained && isSettled(services) && (
        <section aria-labelledby="events-title">
          <h2 id="events-title">Events</h2>
          {events.error !== undefined && state.connection === 'open' && <p class="bad-note">{events.error}</p>}
          <EventList events={rows} now={now} isLoaded={events.value !== undefined} hasObject={false} />
        </section>
      )}
    </>
  )
}

function isSettled({ value, error }: Loaded<unknown>): boolean {
  return value !== undefined || error !== undefined
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
