import type { Pod } from '../../../model/generated/core-v1.ts'
import { listProbes } from '../../messages/compute-pod-details.ts'
import { formatAge, formatMillis, formatMoment, toVisible } from '../format.ts'
import { PlainTable } from '../plain-table.tsx'

/** As the agent's /why has it. */
export interface ReportedProbe {
  readonly container: string
  readonly type: string
  readonly result: 'success' | 'warning' | 'failure' | 'error'
  readonly output: string
  readonly at: number
  readonly ms: number
  readonly since: number
  readonly isCurrent: boolean
}

const WORDS = { success: 'well', warning: 'well, with a warning', failure: 'failed', error: 'could not be asked' }

/** The probes of a pod with what they answered last; undefined reports: no agent says it. */
export function ProbesTable({
  pod,
  reports,
  now,
}: {
  readonly pod: Pod
  readonly reports: readonly ReportedProbe[] | undefined
  readonly now: number
}) {
  const probes = listProbes(pod)
  if (probes.length === 0) return null
  return (
    <PlainTable title="Probes" columns={['Probe', 'Last answer', 'Asks', 'When']}>
      {probes.map(({ container, type, question, terms }) => (
        <tr key={`${container} ${type}`}>
          <th scope="row">
            {type} <span class="soft">{container}</span>
          </th>
          <td>
            {reports === undefined ? (
              <span class="soft">not known</span>
            ) : (
              describeReport(
                reports.find((each) => each.container === container && each.type === type),
                now,
              )
            )}
          </td>
          <td class="image">{toVisible(question)}</td>
          <td>{terms}</td>
        </tr>
      ))}
    </PlainTable>
  )
}

function describeReport(report: ReportedProbe | undefined, now: number) {
  if (report === undefined) return <span class="soft">not asked yet</span>
  const { result, output, at, ms, since, isCurrent } = report
  const isBad = result === 'failure' || result === 'error'
  return (
    <span title={`asked at ${formatMoment(at)}; so since ${formatMoment(since)}`}>
      <strong class={isBad ? 'bad-text' : ''}>{WORDS[result]}</strong>{' '}
      <span class="soft">
        {formatAge(new Date(at).toISOString(), now)} ago in {formatMillis(ms)}, so for{' '}
        {formatAge(new Date(since).toISOString(), now)}
        {!isCurrent && ', by an instance that has ended'}
      </span>
      {output !== '' && <span class="output">{toVisible(output)}</span>}
    </span>
  )
}
