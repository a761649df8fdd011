import type { KillCause } from '../decide/pod-actions.ts'

/** What the event about a stopped container says of it, after its name. */
export const KILL_TEXTS: Readonly<Record<KillCause, string>> = {
  changed: 'definition changed',
  liveness: 'failed liveness probe',
  resize: 'resize requires restart',
  startup: 'failed startup probe',
  surplus: 'runs twice, the older one is stopped',
  unknown: 'is in an unknown state',
}
