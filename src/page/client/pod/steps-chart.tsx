import { formatClock, formatMillis, formatMoment, toVisible } from '../format.ts'

/** As the agent's /why has it. */
export interface Step {
  readonly name: string
  readonly startedAt: number
  readonly ms?: number | null
  readonly error?: string | null
}

const WIDTH = 1000
const LEAST = 3
/** So long without a step is drawn as a gap of its own: bars before and after it are drawn by themselves. */
const GAP_MS = 60_000

/** What was done for a pod, as a table with a bar for when each step was and how long it took. */
export function StepsChart({ steps, now }: { readonly steps: readonly Step[]; readonly now: number }) {
  if (steps.length === 0) return <p class="empty">No steps yet.</p>
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Steps">
      <table class="plain steps">
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Step</th>
            <th scope="col">Took</th>
            <th scope="col">
              <span class="hidden">When</span>
            </th>
          </tr>
        </thead>
        {groupSteps(countRestarts(steps), now).map((group, groupIndex) => {
          const start = Math.min(...group.map(({ startedAt }) => startedAt))
          const span = Math.max(...group.map((step) => endOf(step, now))) - start || 1
          return (
            <tbody key={groupIndex}>
              <tr class="group">
                <th colSpan={4} scope="rowgroup">
                  {formatMoment(start)}, {formatMillis(span)} from the first to the last
                </th>
              </tr>
              {group.map((step, index) => (
                <tr key={index} class={`step-${kindOf(step.name)}${step.error ? ' failed' : ''}`}>
                  <td class="number" title={formatMoment(step.startedAt)}>
                    {formatClock(step.startedAt, now)}
                  </td>
                  <th scope="row">
                    {toVisible(step.name)}
                    {step.restart > 0 && <span class="restart">restart {step.restart}</span>}
                    {step.error && <span class="error">{toVisible(step.error)}</span>}
                  </th>
                  <td class="number">{typeof step.ms === 'number' ? formatMillis(step.ms) : 'goes on'}</td>
                  <td class="bar-cell">
                    <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
                      <title>{describeTimes(step, now)}</title>
                      <rect
                        x={((step.startedAt - start) / span) * (WIDTH - LEAST)}
                        width={Math.max(((endOf(step, now) - step.startedAt) / span) * WIDTH, LEAST)}
                        y="1"
                        height="8"
                      />
                    </svg>
                  </td>
                </tr>
              ))}
            </tbody>
          )
        })}
      </table>
      <p class="kinds" aria-hidden="true">
        {KINDS.map(([kind, title]) => (
          <span key={kind} class={`kind-${kind}`}>
            {title}
          </span>
        ))}
      </p>
    </div>
  )
}

const KINDS = [
  ['image', 'images'],
  ['volume', 'volumes'],
  ['sandbox', 'sandbox'],
  ['create', 'create'],
  ['start', 'start'],
  ['probe', 'probes'],
  ['stop', 'stop'],
] as const
type Kind = (typeof KINDS)[number][0] | 'other'

/** By which part of its life a step of a pod is drawn. */
function kindOf(name: string): Kind {
  if (/ probe of container /.test(name)) return 'probe'
  if (name.startsWith('image of ')) return 'image'
  if (name.endsWith('sandbox')) return name.startsWith('create') ? 'sandbox' : 'stop'
  if (name.startsWith('create container')) return 'create'
  if (name.startsWith('start container')) return 'start'
  if (/volume|mount/.test(name)) return 'volume'
  return /^(?:stop|remove) container|will be restarted$/.test(name) ? 'stop' : 'other'
}

interface CountedStep extends Step {
  /** Of a start: how many there were of the same container before. */
  readonly restart: number
}

function countRestarts(steps: readonly Step[]): readonly CountedStep[] {
  const starts = new Map<string, number>()
  return steps.map((step) => {
    if (kindOf(step.name) !== 'start') return { ...step, restart: 0 }
    const before = starts.get(step.name) ?? 0
    starts.set(step.name, before + 1)
    return { ...step, restart: before }
  })
}

function describeTimes(step: Step, now: number): string {
  const end = typeof step.ms === 'number' ? formatMoment(endOf(step, now)) : 'goes on'
  return [`${formatMoment(step.startedAt)} – ${end}`, step.error ?? []].flat().join(': ')
}

function endOf({ startedAt, ms }: Step, now: number): number {
  return startedAt + (ms ?? Math.max(0, now - startedAt))
}

/** Steps that were near each other in time. */
function groupSteps<S extends Step>(steps: readonly S[], now: number): readonly (readonly S[])[] {
  const groups: S[][] = []
  let end = -Infinity
  for (const step of steps) {
    const last = groups.at(-1)
    if (last === undefined || step.startedAt - end > GAP_MS) groups.push([step])
    else last.push(step)
    end = Math.max(end, endOf(step, now))
  }
  return groups
}
