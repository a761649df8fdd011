import type { Event, Pod } from '../../model/generated/core-v1.ts'
import { computeEventRow } from '../messages/compute-event-row.ts'
import { computeAgentUid } from '../messages/compute-pod-row.ts'
import { ContainersTable } from './containers-table.tsx'
import { EventList } from './event-list.tsx'
import { formatAge, formatBytes, formatCores, formatMoment, toVisible } from './format.ts'
import { useAnswer, useNow } from './hooks.ts'
import { Link } from './link.tsx'
import type { LiveState } from './live.ts'
import { LogsView } from './logs-view.tsx'
import { POD_PARTS, podPath } from './navigation.ts'
import type { PodPart } from './navigation.ts'
import { judgePod } from './sort-pods.ts'
import { Sparkline } from './sparkline.tsx'
import { StepsChart } from './steps-chart.tsx'
import type { Step } from './steps-chart.tsx'
import { YamlView } from './yaml-view.tsx'

interface PodScreenProps {
  readonly state: LiveState
  readonly namespace: string
  readonly name: string
  readonly part: PodPart
}

const TITLES: Readonly<Record<PodPart, string>> = { overview: 'Overview', logs: 'Logs', yaml: 'YAML' }

/** One pod: what it is at, how it came there, what it says. */
export function PodScreen({ state, namespace, name, part }: PodScreenProps) {
  const row = [...(state.pods?.values() ?? [])].find((pod) => pod.namespace === namespace && pod.name === name)
  const pod = useAnswer<Pod>(`/api/v1/namespaces/${namespace}/pods/${name}`, row)
  const why = row === undefined ? undefined : (state.sentences.get(row.uid) ?? row.note)
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
      {row !== undefined && (
        <p class="summary">
          <span class={`dot ${judgePod(row)}`} aria-hidden="true" /> <strong>{row.status}</strong>
          {why !== undefined && why !== '' && ` – ${toVisible(why)}`}
        </p>
      )}
      {isGone && <p class="bad-note">There is no such pod (any more).</p>}
      {pod.error !== undefined && !isGone && <p class="bad-note">{pod.error}</p>}
      <nav class="parts" aria-label="Parts of the pod">
        {POD_PARTS.map((each) => (
          <Link key={each} to={podPath({ namespace, name }, each)} isCurrent={each === part}>
            {TITLES[each]}
          </Link>
        ))}
      </nav>
      {part === 'overview' && <Overview state={state} namespace={namespace} name={name} pod={pod.value} />}
      {part === 'logs' && pod.value !== undefined && <LogsView pod={pod.value} />}
      {part === 'yaml' && pod.value !== undefined && <YamlView value={pod.value} />}
    </article>
  )
}

interface OverviewProps extends Omit<PodScreenProps, 'part'> {
  readonly pod: Pod | undefined
}

function Overview({ state, namespace, name, pod }: OverviewProps) {
  const now = useNow()
  const uid = pod === undefined ? '' : computeAgentUid(pod)
  const sentence = state.sentences.get(uid)
  const steps = useAnswer<{ readonly pods: readonly { readonly uid: string; readonly steps: readonly Step[] }[] }>(
    `/agent/why?pod=${encodeURIComponent(`${namespace}/${name}`)}`,
    `${sentence} ${pod?.metadata?.resourceVersion}`,
  )
  const newest = state.events.find((event) => event.namespace === namespace && event.name === name)
  const selector = encodeURIComponent(`involvedObject.kind=Pod,involvedObject.name=${name}`)
  const events = useAnswer<{ readonly items: readonly Event[] }>(
    `/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`,
    newest,
  )
  const rows = (events.value?.items ?? []).map(computeEventRow).sort((a, b) => b.at.localeCompare(a.at))
  const uses = state.uses.get(uid) ?? []
  const [cpu, memory] = uses.at(-1) ?? [null, null]
  return (
    <>
      {pod !== undefined && (
        <dl class="facts">
          <Fact name="Node">{pod.spec?.nodeName || 'none yet'}</Fact>
          <Fact name="Address">{pod.status?.podIP || '–'}</Fact>
          <Fact name="Age">
            <span title={formatMoment(pod.metadata?.creationTimestamp ?? '')}>
              {formatAge(pod.metadata?.creationTimestamp ?? '', now)}
            </span>
          </Fact>
          <Fact name="QoS class">{pod.status?.qosClass ?? '–'}</Fact>
          <Fact name="Restart policy">{pod.spec?.restartPolicy ?? '–'}</Fact>
          <Fact name="CPU">
            {cpu === null ? '–' : formatCores(cpu)} <Sparkline values={uses.map(([value]) => value)} />
          </Fact>
          <Fact name="Memory">
            {memory === null ? '–' : formatBytes(memory)} <Sparkline values={uses.map(([, value]) => value)} />
          </Fact>
        </dl>
      )}
      {pod !== undefined && <ContainersTable pod={pod} now={now} />}
      <section aria-labelledby="steps-title">
        <h2 id="steps-title">Steps</h2>
        {steps.value === undefined ? (
          <p class="empty">{steps.error === undefined ? 'Loading…' : 'The agent knows no steps of this pod.'}</p>
        ) : (
          <StepsChart
            steps={steps.value.pods.find((each) => each.uid === uid)?.steps ?? steps.value.pods[0]?.steps ?? []}
            now={now}
          />
        )}
      </section>
      <section aria-labelledby="events-title">
        <h2 id="events-title">Events</h2>
        {events.error !== undefined && <p class="bad-note">{events.error}</p>}
        <EventList events={rows} now={now} isLoaded={events.value !== undefined} hasObject={false} />
      </section>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
