import { isRecord } from '../../../base/document/is-record.ts'
import { formatPortProblem } from '../../../controllers/network/ingress/compute-port-problems.ts'
import type { OpenedPorts, PortProblem } from '../../../controllers/network/ingress/ingress-ports.ts'
import { writeFileDurably } from '../../../system/files/state/durable-file.ts'
import { readTextIfPresent } from '../../../system/files/files-and-folders.ts'
import type { StandaloneDeps } from '../node-deps.ts'
import type { NodeLayout } from '../node-layout.ts'

/** Says which ports of the ingress cannot be listened on, here and for other commands; and when they can again. */
export function createPortReporter(
  { say }: Pick<StandaloneDeps, 'say'>,
  { ingressProblems }: Pick<NodeLayout, 'ingressProblems'>,
): (opened: OpenedPorts) => Promise<void> {
  let before: readonly PortProblem[] = []
  return async ({ problems }) => {
    for (const problem of problems) say(`warning: Ingresses: ${formatPortProblem(problem)}`)
    for (const { protocol, port } of before)
      if (!problems.some((each) => each.protocol === protocol))
        say(`Ingresses: ${protocol.toUpperCase()} on port ${port} is served now`)
    before = problems
    // What a full disk does not take was said at least.
    await writeFileDurably(ingressProblems, `${JSON.stringify(problems)}\n`).catch(() => {})
  }
}

/** What "deckhand up" wrote about the ports of the ingress; undefined before it has tried them. A damaged file is like none. */
export async function readPortProblems({
  ingressProblems,
}: Pick<NodeLayout, 'ingressProblems'>): Promise<readonly PortProblem[] | undefined> {
  try {
    const problems: unknown = JSON.parse((await readTextIfPresent(ingressProblems)) ?? '')
    return Array.isArray(problems)
      ? problems.filter((each): each is PortProblem => isRecord(each) && typeof each['port'] === 'number')
      : undefined
  } catch {
    return undefined
  }
}
