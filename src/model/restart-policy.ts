import type { Container, ContainerRestartRule } from './generated/core-v1.ts'
import type { Pod } from './pod.ts'

/** The policy that holds for one container: its own, else the pod's. */
export function effectiveRestartPolicy(pod: Pod, container: Pick<Container, 'restartPolicy'>): string {
  return container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always'
}

/** Should a container that exited with this code start again? Its own rules come first, then its policy, then the pod's. */
export function mayRestart(
  pod: Pod,
  container: Pick<Container, 'restartPolicy' | 'restartPolicyRules'>,
  exitCode: number,
): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false
  if (container.restartPolicy !== undefined) {
    if (container.restartPolicyRules?.some((rule) => asksForRestart(rule, exitCode)) === true) return true
  }
  switch (effectiveRestartPolicy(pod, container)) {
    case 'Never':
      return false
    case 'OnFailure':
      return exitCode !== 0
    default:
      return true
  }
}

const RESTARTING_ACTIONS: ReadonlySet<string> = new Set(['Restart', 'RestartAllContainers'])

/** What came after us, an operator or an action that is not known here, never restarts anything. */
function asksForRestart({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (exitCodes === undefined || !RESTARTING_ACTIONS.has(action)) return false
  const listed = exitCodes.values?.includes(exitCode) ?? false
  return (exitCodes.operator === 'In' && listed) || (exitCodes.operator === 'NotIn' && !listed)
}
