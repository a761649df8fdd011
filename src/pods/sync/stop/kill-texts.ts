import type { KillCause } from '../decide/pod-actions.ts'

const TEXTS: Readonly<Record<Exclude<KillCause, 'postStart' | 'unknown'>, string>> = {
  changed: 'definition changed',
  liveness: 'failed liveness probe',
  resize: 'resize requires restart',
  startup: 'failed startup probe',
  surplus: 'runs twice, the older one is stopped',
}

/** What the event about a stopped container says of it. */
export function killText({ what, name, restarts = false }: KilledContainer, cause: KillCause): string {
  if (cause === 'unknown') return `${what} is in "unknown" state, try killing it before restart`
  if (cause === 'postStart') return 'FailedPostStartHook'
  // A resize says itself that it needs a restart.
  const suffix = restarts && cause !== 'resize' ? ', will be restarted' : ''
  return `${what} ${name} ${TEXTS[cause]}${suffix}`
}

interface KilledContainer {
  readonly what: 'Container' | 'Init container'
  readonly name: string
  readonly restarts?: boolean
}
