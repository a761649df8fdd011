import type { ContainerStatus, Pod, PodIP } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ipAddress } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../../model/schema/validation/problem-list.ts'

const STATUS = FieldPath.root.child('status')

/** What a kubelet may not report: addresses that are none, and containers that run again although they never may. */
export function validatePodStatus(pod: Pod, before: Pod): readonly Violation[] {
  const problems = new ProblemList()
  const { podIP, podIPs, hostIP, hostIPs, containerStatuses = [] } = pod.status ?? {}
  validateAddresses(STATUS.child('podIPs'), podIP, podIPs, problems)
  validateAddresses(STATUS.child('hostIPs'), hostIP, hostIPs, problems)
  if (pod.spec?.restartPolicy === 'Always' || mayRestartAll(pod)) return problems.violations
  const old = new Map((before.status?.containerStatuses ?? []).map((status) => [status.name, status]))
  for (const [index, status] of containerStatuses.entries()) {
    if (!isOver(old.get(status.name), pod) || status.state?.terminated !== undefined) continue
    const path = STATUS.child('containerStatuses').index(index).child('state')
    problems.forbidden(path, 'a container that has ended and may not be restarted stays so')
  }
  return problems.violations
}

/** Whether the end of one container restarts all, whatever their own policy is. */
function mayRestartAll({ spec }: Pod): boolean {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  return containers.some((each) => each.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'))
}

function isOver(status: ContainerStatus | undefined, { spec }: Pod): boolean {
  const ended = status?.state?.terminated
  if (ended === undefined) return false
  const hasRules = spec?.containers.some(
    ({ name, restartPolicy }) => name === status?.name && restartPolicy !== undefined,
  )
  if (hasRules === true) return false
  return spec?.restartPolicy === 'Never' || ended.exitCode === 0
}

function validateAddresses(
  path: FieldPath,
  first: string | undefined,
  all: readonly PodIP[] | undefined,
  problems: ProblemList,
): void {
  for (const [index, { ip }] of (all ?? []).entries()) problems.name(path.index(index), ip, ipAddress)
  const [{ ip } = { ip: undefined }] = all ?? []
  if (ip && first && ip !== first)
    problems.invalid(path.index(0).child('ip'), ip, 'must be the same as the first address')
}
