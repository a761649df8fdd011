import { formatClock, formatMillis, formatMoment, toVisible } from './format.ts'

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
        <tbody>
          {groupSteps(steps, now).flatMap((group, groupIndex) => {
            const start = Math.min(...group.map(({ startedAt }) => startedAt))
            const span = Math.max(...group.map((step) => endOf(step, now))) - start || 1
            return group.map((step, index) => (
              <tr key={`${groupIndex} ${index}`} class={step.error ? 'failed' : ''}>
                <td class="number" title={formatMoment(step.startedAt)}>
                  {formatClock(step.startedAt, now)}
                </td>
                <th scope="row">
                  {toVisible(step.name)}
                  {step.error && <span class="error">{toVisible(step.error)}</span>}
                </th>
                <td class="number">{typeof step.ms === 'number' ? formatMillis(step.ms) : 'goes on'}</td>
                <td class="bar-cell">
                  <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
                    <rect
                      x={((step.startedAt - start) / span) * (WIDTH - LEAST)}
                      width={Math.max(((endOf(step, now) - step.startedAt) / span) * WIDTH, LEAST)}
                      y="1"
                      height="8"
                    />
                  </svg>
                </td>
              </tr>
            ))
          })}
        </tbody>
      </table>
    </div>
  )
}

function endOf({ startedAt, ms }: Step, now: number): number {
  return startedAt + (ms ?? Math.max(0, now - startedAt))
}

/** Steps that were near each other in time. */
function groupSteps(steps: readonly Step[], now: number): readonly (readonly Step[])[] {
  const groups: Step[][] = []
  let end = -Infinity
  for (const step of steps) {
    const last = groups.at(-1)
    if (last === undefined || step.startedAt - end > GAP_MS) groups.push([step])
    else last.push(step)
    end = Math.max(end, endOf(step, now))
  }
  return groups
}
