import type { Pod } from '../../model/generated/core-v1.ts'
import { parseLogTail } from '../../pods/logs/parse-log-tail.ts'
import { readEnd } from '../../system/files/read-end.ts'
import type { NodeLayout } from './node-layout.ts'

const SHOWN_LINES = 5
const READ_BYTES = 16_384
// Docker cuts a long line into entries.
const READ_ENTRIES = 100

/** What containers that crashed wrote last, each with a heading. */
export async function readLastLogLines({ podLogs }: Pick<NodeLayout, 'podLogs'>, pod: Pod): Promise<readonly string[]> {
  const { namespace, name, uid } = pod.metadata ?? {}
  const shown: string[] = []
  for (const { name: container, attempt } of listCrashed(pod)) {
    const text = await readEnd(`${podLogs}/${namespace}_${name}_${uid}/${container}/${attempt}.log`, READ_BYTES)
    const lines = parseLogLines(text ?? '')
    if (lines.length > 0)
      shown.push(`  last log lines of container "${container}":`, ...lines.map((line) => `    ${line}`))
  }
  return shown
}

/** The last lines that a container printed, from the end of its log as CRI runtimes and Docker write it. */
export function parseLogLines(text: string): readonly string[] {
  const printed = parseLogTail(Buffer.from(text), { entries: READ_ENTRIES, bytes: READ_BYTES }).trimEnd()
  return printed === '' ? [] : printed.split('\n').slice(-SHOWN_LINES)
}

/** Containers whose last end was a failure, and which of their runs that was. */
export function listCrashed({ status }: Pod): readonly { readonly name: string; readonly attempt: number }[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(
    ({ name, state, lastState, restartCount }) => {
      const ended = state?.terminated ?? lastState?.terminated
      if (ended === undefined || ended.exitCode === 0) return []
      // While the next one runs, that was the one before.
      return [{ name, attempt: state?.running === undefined ? restartCount : restartCount - 1 }]
    },
  )
}
