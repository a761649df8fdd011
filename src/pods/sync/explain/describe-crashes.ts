import type { ContainerStateTerminated, ContainerStatus } from '../../../model/generated/core-v1.ts'
import type { TimelineStep } from './timeline-step.ts'

// A container that has run this long is not in a crash loop: its back-off begins again.
const RECENT_MS = 600_000
const LONGEST_MESSAGE = 200
// The kernel's numbers; those that end processes now and then.
const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  31: 'SIGSYS',
}

/** How often a container was restarted and how it ended the last time; nothing for one that never did. */
export function describeCrashes(
  { name, restartCount, state, lastState }: ContainerStatus,
  steps: readonly TimelineStep[],
  now: number,
): readonly string[] {
  const last = state?.terminated ?? lastState?.terminated
  if (last === undefined) return []
  const ago = (now - Date.parse(last.finishedAt ?? '')) / 1000
  const when = Number.isFinite(ago) ? `, ${Math.max(0, ago).toFixed(0)} s ago` : ''
  const times = restartCount === 0 ? '' : `restarted ${restartCount} time${restartCount === 1 ? '' : 's'}, `
  const why = findKill(name, steps)
  const cause = why === undefined ? describeMessage(last) : `, because it ${why}`
  return [`${times}last ${describeTermination(last)}${when}${cause}`]
}

/** What the container, or a runtime that could not run it, said at its end; the first line is enough in a sentence. */
function describeMessage({ message = '' }: ContainerStateTerminated): string {
  const [line = ''] = message.trim().split('\n')
  if (line === '') return ''
  return `, with the message "${line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line}"`
}

/** Whether the container has ended so shortly ago that it may end again. */
export function isRecent({ lastState }: ContainerStatus, now: number): boolean {
  return now - Date.parse(lastState?.terminated?.finishedAt ?? '') < RECENT_MS
}

/** "exited with 137 (SIGKILL, OOMKilled)" */
export function describeTermination({ exitCode, signal = 0, reason }: ContainerStateTerminated): string {
  const number = signal || (exitCode > 128 ? exitCode - 128 : 0)
  // "Error" and "Completed" only repeat what the code says.
  const notes = [
    SIGNALS[number] ?? [],
    reason === undefined || /^(?:Error|Completed)$/.test(reason) ? [] : reason,
  ].flat()
  return `exited with ${exitCode}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}

/** What we ourselves ended it for, before its last start if it has started again. */
function findKill(name: string, steps: readonly TimelineStep[]): string | undefined {
  const start = `start container "${name}"`
  const own = steps
    .map((step) => step.name)
    .filter(
      (step) => step === start || step.startsWith(`Container ${name} `) || step.startsWith(`Init container ${name} `),
    )
  return /failed (?:liveness|startup) probe/.exec(own.at(own.at(-1) === start ? -2 : -1) ?? '')?.[0]
}
