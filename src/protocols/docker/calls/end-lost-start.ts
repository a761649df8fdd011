import { ContainerState } from '../../cri/generated/runtime-v1.ts'
import { unlessMissing } from '../api/docker-error.ts'
import type { InspectedContainer, ListedContainer } from '../api/docker-types.ts'
import { BEGUN, formatDockerName, hasBegun, parseDockerName, SANDBOX_NAME } from '../create/docker-names.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { stateOf } from '../read/to-container.ts'

/** What ran, unknown until now, of a container that Docker shows as never started; before the program begins it is the OCI runtime. */
export type LostStart = 'nothing' | 'not begun' | 'begun'

// A process that the kernel does not end must not keep the pod for ever; it is tried again.
const END_MS = 5000
const PAUSE_MS = 20
// The name of a process of runc that waits for the word to become the program.
const WAITING = /^runc:\[/

/**
 * A Docker that dies while it starts a container shows it as never started when it is back, and never learns better. What it had started runs
 * on, unseen, beside the next instance. This ends it (docs/decisions/0030-docker.md). A container whose program had begun is marked by its
 * name: it is one that ran.
 */
export async function endLostStart(
  { api, files, clock, log }: DockerDeps,
  container: InspectedContainer,
  signal: AbortSignal,
): Promise<LostStart> {
  const { Id: id, Name: text } = container
  const isMarked = hasBegun(text)
  if (stateOf(container) !== ContainerState.CONTAINER_CREATED && !isMarked) return 'nothing'
  let processes = await files.listProcesses(id)
  if (processes.length === 0) return 'nothing'
  log.warn('ends what Docker started and lost', { container: text, id, processes: processes.map(({ name }) => name) })
  const begun = !isMarked && processes.some(({ name }) => !WAITING.test(name))
  const name = parseDockerName(text)
  if (begun && name !== undefined && name.container !== SANDBOX_NAME) {
    const query = { name: formatDockerName(name, BEGUN) }
    await unlessMissing(api.json({ method: 'POST', path: `/containers/${id}/rename`, query }, signal))
  }
  const end = clock.monotonic() + END_MS
  while (processes.length > 0) {
    if (clock.monotonic() > end)
      throw new Error(`Cannot end what Docker started of "${text}": it goes on after SIGKILL`)
    for (const { pid } of processes) await files.killInContainer(pid, id)
    await clock.sleep(PAUSE_MS, signal)
    processes = await files.listProcesses(id)
  }
  return begun ? 'begun' : 'not begun'
}

/** As endLostStart(), for all that a list shows as never started. */
export async function endLostStarts(
  deps: DockerDeps,
  listed: readonly ListedContainer[],
  signal: AbortSignal,
): Promise<void> {
  const created = listed.filter(({ State: state }) => state === 'created')
  await Promise.all(
    created.map(async ({ Id: id }) => {
      const request = { method: 'GET', path: `/containers/${id}/json` } as const
      const container = await unlessMissing(deps.api.json<InspectedContainer>(request, signal))
      if (container !== undefined) await endLostStart(deps, container, signal)
    }),
  )
}
