import type { Container, ContainerRestartRule } from '../generated/core-v1.ts'
import type { Pod } from './pod.ts'

type RestartRules = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>

const RESTART_ALL = 'RestartAllContainers'
const RESTARTING_ACTIONS: ReadonlySet<string> = new Set(['Restart', RESTART_ALL])
const KILLED = 137

/** The policy that holds for one container: its own, else the pod's. */
export function effectiveRestartPolicy(pod: Pod, container: Pick<Container, 'restartPolicy'>): string {
  return container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always'
}

/** Should a container that exited with this code start again? Its own rules come first, then its policy, then the pod's. */
export function mayRestart(pod: Pod, container: RestartRules, exitCode: number): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false
  if (matchingRule(container, exitCode) !== undefined) return true
  switch (effectiveRestartPolicy(pod, container)) {
    case 'Never':
      return false
    case 'OnFailure':
      return exitCode !== 0
    default:
      return true
  }
}

/** Does this end ask for a new start of all containers of the pod? */
export function asksToRestartAll(pod: Pod, container: RestartRules, exitCode: number): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false
  return matchingRule(container, exitCode)?.action === RESTART_ALL
}

/** True for a pod of which one container may ask for a new start of all. */
export function hasRestartAllRule({ spec }: Pod): boolean {
  return [...(spec.initContainers ?? []), ...spec.containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === RESTART_ALL),
  )
}

/** The code that counts for an init container: one that was killed for its memory has failed, whatever its first process says. */
export function initExitCode(end: { readonly exitCode: number; readonly reason?: string | undefined }): number {
  return end.exitCode === 0 && end.reason === 'OOMKilled' ? KILLED : end.exitCode
}

/** The first rule that knows this code; rules count only beside a policy of their container's own. */
function matchingRule(container: RestartRules, exitCode: number): ContainerRestartRule | undefined {
  if (container.restartPolicy === undefined) return undefined
  return container.restartPolicyRules?.find((rule) => asksForRestart(rule, exitCode))
}

/** What came after us, an operator or an action that is not known here, never restarts anything. */
function asksForRestart({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (exitCodes === undefined || !RESTARTING_ACTIONS.has(action)) return false
  const listed = exitCodes.values?.includes(exitCode) ?? false
  return (exitCodes.operator === 'In' && listed) || (exitCodes.operator === 'NotIn' && !listed)
}
